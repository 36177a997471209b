"""Instances of classes: attributes, methods, and calls of them."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from analyzers.domain.objects import ClassObj, DictObj, Instance, by_name
from analyzers.domain.values import NONE, BoundBuiltin, Builtin, Const, Func, Method, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import bind, find_in_class, is_a


def super_attribute(m: Machine, cls: int, receiver: Value, name: str) -> Value:
    found = m.obj(receiver)
    own = receiver if isinstance(found, ClassObj) and isinstance(receiver, Ref) else None
    start: int | str | None = own.id if own is not None else found.cls if isinstance(found, Instance) else None
    value = find_in_class(m, start, name, after=cls) if start is not None else None
    if value is not None:
        holder = own or (Ref(found.cls) if isinstance(found, Instance) and isinstance(found.cls, int) else None)
        if own is not None and isinstance(value, Func) and value.kind == "function":
            return value
        return bind(m, value, receiver, holder)
    if name in {"__init__", "__init_subclass__", "__post_init__", "__setattr__", "__enter__", "__exit__", "__del__"}:
        return BoundBuiltin(receiver, "object." + name)
    base = m.st.get(cls)
    if isinstance(base, ClassObj) and base.known and name.startswith("__"):
        return BoundBuiltin(receiver, "object." + name)
    return Unknown(None, None, None, (receiver.id,) if isinstance(receiver, Ref) else ())


def class_attribute(m: Machine, owner: Ref, found: ClassObj, name: str) -> Value:
    if name in {"__name__", "__qualname__"}:
        return Const(found.name)
    if name == "__mro__" or name == "__bases__":
        return Unknown()
    value = find_in_class(m, owner.id, name)
    if value is not None:
        if isinstance(value, Func) and value.kind == "classmethod":
            return Method(owner, value)
        if found.kind == "enum" and not isinstance(value, Func):
            return m.new(Instance(owner.id, Map({"value": value, "name": Const(name)})))
        return value
    if "torch.autograd.Function" in found.ancestry and name == "apply":
        return BoundBuiltin(owner, "Function.apply")
    if name == "__init__":
        return BoundBuiltin(owner, "object.__init__")
    return Unknown()


def instance_attribute(m: Machine, owner: Ref, found: Instance, name: str) -> Value:
    from analyzers.machine.interpreter.calls import call_function
    from analyzers.machine.libraries.torch.function_context import context_attribute
    from analyzers.machine.libraries.torch.modules import parametrization

    in_class = find_in_class(m, found.cls, name)
    if isinstance(in_class, Func) and in_class.kind == "property":
        return bind(m, in_class, owner, None)
    own = found.attrs.get(name)
    if own is not None:
        return own
    parametrized = parametrization(m, found, name)
    if parametrized is not None:
        return call(m, parametrized, Args())
    for table in ("_parameters", "_buffers", "_modules"):
        holder = found.attrs.get(table)
        if holder is not None:
            registered = m.obj(holder)
            if isinstance(registered, DictObj):
                value = registered.items.get(Const(name))
                if value is not None:
                    return value
    if in_class is not None:
        value = bind(m, in_class, owner, Ref(found.cls) if isinstance(found.cls, int) else None)
        now = m.st.get(owner.id)
        if isinstance(in_class, Func) and in_class.kind == "cached_property" and isinstance(now, Instance):
            m.st.put(owner.id, replace(now, attrs=now.attrs.set(name, value)))
        return value
    if name == "__class__":
        return Ref(found.cls) if isinstance(found.cls, int) else Builtin(found.cls)
    if name == "__dict__":
        items = {Const(k): v for k, v in by_name(found.attrs)}
        return m.new(DictObj(Map(items), tuple(items), Unknown() if found.open else None))
    getter = find_in_class(m, found.cls, "__getattr__")
    if isinstance(getter, Func):
        return call_function(m, getter, Args([owner, Const(name)]))
    if isinstance(found.cls, str):
        if found.cls == "torch.autograd.FunctionCtx":
            return context_attribute(m, owner, found, name)
        return BoundBuiltin(owner, name)
    m.doubts += 1
    return Unknown(None, (owner.id, name), None, (owner.id,))


def delete_attribute(m: Machine, owner: Value, name: str) -> None:
    found = m.obj(owner)
    if not isinstance(found, Instance) or not isinstance(owner, Ref):
        return
    if name in found.attrs:
        m.st.put(owner.id, Instance(found.cls, found.attrs.delete(name), found.open))
        return
    for table in ("_parameters", "_buffers", "_modules"):
        holder = found.attrs.get(table)
        registered = m.obj(holder) if holder is not None else None
        if isinstance(registered, DictObj) and isinstance(holder, Ref) and Const(name) in registered.items:
            order = tuple(k for k in registered.order if k != Const(name))
            m.st.put(holder.id, replace(registered, items=registered.items.delete(Const(name)), order=order))


def object_method(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    from analyzers.machine.libraries.torch.modules import store_attribute

    found = m.obj(receiver)
    if name == "__setattr__" and isinstance(found, Instance) and isinstance(receiver, Ref):
        key, value = args.get(0, "name"), args.get(1, "value")
        if isinstance(key, Const) and isinstance(key.value, str):
            store_attribute(m, receiver, found, key.value, value)
        return NONE
    if name == "__getattribute__":
        return Unknown()
    return NONE


def call_instance(m: Machine, func: Ref, found: Instance, args: Args) -> Value:
    from analyzers.machine.interpreter.decorators import decorate
    from analyzers.machine.libraries.torch.grad_modes import mode_of
    from analyzers.machine.libraries.torch.modules import is_layer, watched

    if isinstance(found.cls, str):
        if mode_of(m, func) is not None or found.cls == "transparent":
            return decorate(m, func, args.get(0, "func"))
        return unknown_call(m, func, args)
    called = find_in_class(m, found.cls, "__call__")
    if called is None:
        if is_a(m, found.cls, "torch.autograd.Function"):
            raise m.throw(
                "RuntimeError",
                "Legacy autograd function with non-static forward method is deprecated.",
                Plain("custom"),
            )
        return unknown_call(m, func, args)
    # A module without hooks: what `Module.__call__` of the prelude does.
    is_plain = isinstance(called, Func) and called.qualname == "Module.__call__" and called.module.startswith("<")
    name = "forward" if is_plain and found.attrs.get("_hooked") == Const(False) else "__call__"
    if is_plain and isinstance(found.attrs.get("_hooked"), Unknown) and is_layer(m, found):
        # It may have been hooked out of sight: whatever its own `forward` says, something else may come out.
        return unknown_call(m, func, args)
    if m.frame.library or "_modules" not in found.attrs:
        return call_method(m, func, name, args)
    return watched(m, lambda: call_method(m, func, name, args))
