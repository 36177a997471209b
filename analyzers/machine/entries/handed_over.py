"""Training functions that the program hands to code nobody sees, to be called there.

    mp.spawn(train, args=(options,), nprocs=2)    # calls train(rank, options)
    root.after(100, train)                        # calls train()

In a presumed run such a function is called where it is handed over, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from analyzers.domain.objects import ClassObj, DictObj, Instance, ListObj
from analyzers.domain.values import NONE, BoundBuiltin, Const, Func, Method, Partial, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.entries.likely_identity import is_optimizer
from analyzers.machine.interpreter.closures import calls_backward, reached_from


def run_handed_over(m: Machine, args: Args) -> Args:
    """Call the training functions among the arguments that were not handed over before. Returns the arguments without
    them, as the unknown code has done its work with these."""
    ran = [value for value in (*args.pos, *args.kw.values()) if _trains(m, value)]
    if not m.config.presumes:
        m.record.trains, m.record.unresolved.data = m.record.trains or bool(ran), m.record.unresolved.data or bool(ran)
        return args
    for value in ran:
        m.presume("a function that is handed over is called, once")
        # Of the state and not of the run: each pass through a statement has to come by the same calls.
        func = _inner(value)
        if func is not None and not func.module.startswith("<"):
            m.st.assumed = m.st.assumed.set(_handed(func), True)
        with suppress(PyRaise):  # whoever called it may have caught that
            call(m, value, _arguments_for(m, value, args))
    if not ran:
        return args
    pos = [Unknown() if value in ran else value for value in args.pos]
    kw = {name: Unknown() if value in ran else value for name, value in args.kw.items()}
    return Args(pos, kw, args.open, args.more, args.called, args.rest, args.starred)


def _inner(value: Value) -> Func | None:
    """The function of the program that a value calls."""
    match value:
        case Func():
            return value
        case Method(func=func):
            return func
        case Partial(func=func):
            return _inner(func)
    return None


def _handed(func: Func) -> object:
    """What a state remembers of a function that was handed over on its way."""
    return "handed", func.module, func.chunk, func.qualname, func.node.start


def _trains(m: Machine, value: Value) -> bool:
    """Whether a value is a `backward`, what an optimizer does, or a function of the program that runs a backward and is
    not running; none that was handed over before on this way."""
    func = _inner(value)
    match value:
        case BoundBuiltin(receiver=receiver, name="backward"):
            return m.tensor(receiver) is not None
        case Method(receiver=receiver) if is_optimizer(m, receiver):
            return _required(value) == 0
    if func is None or func.module.startswith("<") or _handed(func) in m.st.assumed:
        return False
    if any(frame.func == func for frame in m.extent.frames):
        return False
    callees, objects = reached_from(m, func)
    receivers = [m.obj(value.receiver)] if isinstance(value, Method) else []
    for found in (*receivers, *(m.obj(ref) for ref in objects)):
        if isinstance(found, Instance):
            callees += _methods(m, found)
    return any(calls_backward(m, callee) for callee in callees)


def _methods(m: Machine, found: Instance) -> Iterator[Func]:
    cls = m.st.find(found.cls) if isinstance(found.cls, int) else None
    for ident in cls.ancestry if isinstance(cls, ClassObj) else ():
        held = m.st.find(ident) if isinstance(ident, int) else None
        if isinstance(held, ClassObj) and not held.module.startswith("<"):
            yield from (part for _, part in sorted(held.attrs.items()) if isinstance(part, Func))


def _arguments_for(m: Machine, value: Value, args: Args) -> Args:
    """What a function is called with: `args=` and `kwargs=` say it, or all that comes after the function if that fits.
    The first parameters are unknown where there are more of them."""
    given, named = _said(m, value, args)
    first = _required(value) - len(given) - len(named)
    return Args([*(Unknown() for _ in range(first)), *given], named)


def _said(m: Machine, value: Value, args: Args) -> tuple[list[Value], dict[str, Value]]:
    keywords = m.obj(args.kw.get("kwargs", NONE))
    named: dict[str, Value] = {}
    if isinstance(keywords, DictObj):
        named = {
            key.value: item for key, item in keywords.entries if isinstance(key, Const) and isinstance(key.value, str)
        }
    if "args" in args.kw:
        return _items(m, args.kw["args"]), named
    after = args.pos[args.pos.index(value) + 1 :] if value in args.pos else []
    if len(after) == 1 and isinstance(after[0], Tup):
        return list(after[0].items), named
    # A single number may be how often the function is called.
    fits = bool(after) and len(after) == _required(value) and (len(after) > 1 or isinstance(after[0], Ref))
    return (after if fits else []), named


def _items(m: Machine, value: Value) -> list[Value]:
    found = m.obj(value)
    if isinstance(value, Tup):
        return list(value.items)
    return list(found.items) if isinstance(found, ListObj) else []


def _required(value: Value) -> int:
    """How many positional arguments a function cannot do without."""
    match value:
        case Func(node=node, defaults=defaults):
            parameters = (*node.args.posonly, *node.args.args)
            return len([one for one in parameters if one.name not in dict(defaults)])
        case Method(func=func):
            return _required(func) - 1
        case Partial(func=func, args=first, kwargs=named):
            return _required(func) - len(first) - len(named)
    return 0
