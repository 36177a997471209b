"""A call of any value: who answers depends on what is called."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, Instance
from analyzers.domain.values import BoundBuiltin, Builtin, Const, Func, Method, Native, Partial, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.library_names import call_library
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.record import PyRaise


def call(m: Machine, func: Value, args: Args) -> Value:
    from analyzers.machine.interpreter.calls import call_function
    from analyzers.machine.libraries.torch.custom_functions import call_of_forward
    from analyzers.machine.libraries.torch.modules import MARKED, marked
    from analyzers.machine.objects.attributes import call_bound
    from analyzers.machine.objects.construction import instantiate
    from analyzers.machine.objects.instances import call_instance

    match func:
        case Func(node_name="forward"):
            return call_of_forward(m, func, lambda: call_function(m, func, args))
        case Func():
            return call_function(m, func, args)
        case Method(receiver=receiver, func=inner):
            result = call_function(m, inner, args.prepend(receiver))
            return marked(m, inner, result, args) if inner.node_name in MARKED and not m.frame.library else result
        case Builtin(name=name):
            return call_library(m, name, args)
        case BoundBuiltin(receiver=receiver, name=name):
            return call_bound(m, receiver, name, args)
        case Partial(func=inner_func, args=first, kwargs=named):
            return call(m, inner_func, Args([*first, *args.pos], {**dict(named), **args.kw}, args.open))
        case Native(call=native):
            return native(m, args)
        case Ref():
            found = m.obj(func)
            if isinstance(found, ClassObj):
                return instantiate(m, func, found, args)
            if isinstance(found, Instance):
                return call_instance(m, func, found, args)
        case Const(value=value) if value is not None:
            raise PyRaise("TypeError", f"'{type(value).__name__}' object is not callable")
    return unknown_call(m, func, args)


def unknown_call(m: Machine, func: Value, args: Args) -> Value:
    """A call of something unknown: what it was handed may have changed, and the result may be any of it."""
    from analyzers.machine.entries.likely_values import made_outside

    made = made_outside(m, func, args)
    if made is not None:
        return made
    m.doubts += 1
    values = [func, *args.all()]
    seen: set[int] = set()
    for value in args.all() if m.presumes else values:
        havoc_value(m, value, seen)
    lineage = m.trail("?", m.parents(values))
    return Unknown(None, m.fresh(), lineage, reach_of(*values))
