"""Calls, dispatched on the type or the name of the callee."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj
from analyzers.domain.values import (
    ABSENT,
    NONE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Native,
    Partial,
    Ref,
    Unknown,
    Value,
    is_absent,
)
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_places, havoc_target, havoc_value
from analyzers.machine.core.machine import Machine, lose_modes
from analyzers.machine.core.places import Frame
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import (
    ANSWERS,
    CALLS,
    CLASSES,
    FALLBACKS,
    NAMED_FUNCTIONS,
    NAMED_METHODS,
    model_of,
)
from analyzers.machine.core.signals import CalledUnseen, tell


def call(m: Machine, func: Value, args: Args) -> Value:
    match func:
        case Func(node_name=name):
            run = CALLS[Func]
            looks_on = NAMED_FUNCTIONS.get(name)
            return run(m, func, args) if looks_on is None else looks_on(m, func, lambda: run(m, func, args))
        case Method(receiver=receiver, func=inner):
            result = CALLS[Func](m, inner, args.prepend(receiver))
            mark = NAMED_METHODS.get(inner.node_name)
            return result if mark is None or m.frame.library else mark(m, inner, result, args)
        case Builtin(name=name):
            return call_library(m, name, args)
        case Partial(func=inner_func, args=first, kwargs=named):
            return call(m, inner_func, Args([*first, *args.pos], {**dict(named), **args.kw}, args.open))
        case Native(call=native):
            return native(m, args)
        case Ref():
            found = m.st.get(func.id)
            made = model_of(found).call(m, func, found, args)
            return made if made is not None else unknown_call(m, func, args)
        case Const(value=value) if value is not None:
            raise PyRaise("TypeError", f"'{type(value).__name__}' object is not callable")
    handler = CALLS.get(type(func))
    return unknown_call(m, func, args) if handler is None else handler(m, func, args)


def call_library(m: Machine, name: str, args: Args) -> Value:
    """A call to a dotted name from outside the program."""
    args.called = name
    answer = ANSWERS.get(name)
    if answer is not None:
        return answer(m, args)
    top, _, rest = name.partition(".")
    fallback = FALLBACKS.get(top)
    if fallback is not None:
        return fallback(m, rest, args)
    m.record.imprecisions += 1
    return unknown_call(m, Builtin(name), args)


def unknown_call(m: Machine, func: Value, args: Args) -> Value:
    """A call to something unknown: its arguments may have changed, and the result may be or contain any of them."""
    if is_absent(func):
        values = [func, *args.all()]  # what is to be there may keep their graphs
        return Unknown(None, (ABSENT, m.fresh()), m.trail("?", m.parents(values)), reach_of(*values))
    if isinstance(func, Unknown) and isinstance(func.symbol, tuple) and func.symbol[-1] == "__init__" and not args.pos:
        args = args.prepend(own_object(m, m.frame))  # it may be of `super()`
    if m.config.presumes:
        for ident in reach_of(func):
            PORTS.python.methods_may_have_run(m, ident)
    args = PORTS.likely.handed_over(m, args)
    made = PORTS.likely.called(m, func, args)
    if made is not None:
        return made
    m.record.imprecisions += 1
    values = [func, *args.all()]
    used_unseen(m, func)
    if m.st.switches_out and isinstance(func, Unknown):
        lose_modes(m)
    seen: set[int] = set()
    hooks = m.st.packing or ()
    for value in (*hooks, *(args.all() if m.config.presumes else values)):
        havoc_value(m, value, seen)
    if m.st.writes_out or _may_mark_dirty(m, func, values):
        havoc_places(m, seen)
    if "out" in args.kw:
        havoc_target(m, args.kw["out"])
    PORTS.python.run_callbacks(m)
    result = Unknown(None, m.fresh(), m.trail("?", m.parents(values)), reach_of(*values))
    if m.config.presumes and m.st.grad is False and (m.st.inference or args.pos or args.kw):
        m.indexes.unrecorded[result.symbol] = m.st.inference is True
    _note_passed(m, func, args, result)
    if result.reach:
        m.indexes.passed[result.symbol] = (*args.pos, *args.kw.values())
    functions = [found for value in values for found in _functions_in(m, value)]
    if functions:
        m.indexes.held[result.symbol] = tuple(functions)
    return result


def own_object(m: Machine, frame: Frame) -> Value:
    """The object whose method is run, None in a function."""
    func = frame.func
    first = next(iter((*func.node.args.posonly, *func.node.args.args)), None) if func is not None else None
    if func is None or func.owner is None or first is None:
        return NONE
    return m.env(frame.env).vars.get(first.name, NONE)


def _note_passed(m: Machine, func: Value, args: Args, result: Unknown) -> None:
    """An unknown object perhaps returns later what its methods are passed: `queue.put(t)`, `queue.get()`.

    Only presumed runs need to know. In others unknown code may have done anything with what it was passed.
    """
    if not m.config.presumes or not isinstance(func, Unknown):
        return
    before = m.given_to(origin_of(func.symbol))
    note_given(m, func, *args.all())
    if before:
        m.st.given = m.st.given.set(result.symbol, before)


def note_given(m: Machine, owner: Value, *values: Value) -> None:
    """An unknown object was given these, as arguments, items or attributes."""
    symbol = origin_of(owner.symbol) if isinstance(owner, Unknown) and m.config.presumes else None
    if symbol is None:
        return
    before, now = m.given_to(symbol), reach_of(*values)
    if not set(now) <= set(before):
        m.st.given = m.st.given.set(symbol, tuple(dict.fromkeys((*before, *now))))


def note_part(m: Machine, owner: Value, value: Value) -> None:
    """An unknown object was given this as an attribute or item of its own."""
    note_given(m, owner, value)
    PORTS.likely.part_set(m, owner, value)
    if isinstance(owner, Unknown) and owner.symbol is not None and isinstance(value, Ref) and m.config.presumes:
        symbol = ("parts", origin_of(owner.symbol))
        before = m.given_to(symbol)
        if value.id not in before:
            m.st.given = m.st.given.set(symbol, (*before, value.id))


def parts_given(m: Machine, owner: Unknown) -> tuple[int, ...]:
    """What was set as attributes and items of an unknown object, or of its parts."""
    return m.given_to(("parts", origin_of(owner.symbol)))


def origin_of(symbol: object) -> object:
    """The symbol of the unknown value of which this one is an attribute or item, or the result of a method."""
    while isinstance(symbol, tuple) and not isinstance(symbol[0], str):
        symbol = symbol[0]
    return symbol


def _may_mark_dirty(m: Machine, func: Value, values: Sequence[Value]) -> bool:
    """Whether this is what a class inherits from a base that nobody knows: one of custom functions, perhaps, whose
    `forward` may say that it writes its inputs. Or whether unknown code has such a class of the program."""
    match func:
        case Unknown(symbol=(int(owner), "apply")) if isinstance(m.st.find(owner), ClassObj):
            return True
    for ident in reach_of(*values):
        held = m.st.find(ident)
        if isinstance(held, ClassObj) and any(_marks_written(base) for base in held.ancestry):
            return not m.config.presumes
    return False


def _marks_written(base: int | str) -> bool:
    model = CLASSES.get(base) if isinstance(base, str) else None
    return model is not None and model.marks_written


def used_unseen(m: Machine, value: Value, *methods: str) -> None:
    """An unknown value is called, or used in a way that runs one of these methods if it has them."""
    if isinstance(value, Unknown) and value.type is None and not is_absent(value):
        functions = () if methods else m.held_by(value.symbol)
        if value.reach or functions:
            tell(m, CalledUnseen(value.reach, functions, methods))


def _functions_in(m: Machine, value: Value) -> tuple[Func, ...]:
    """The functions of the program that a value is, may be, or runs."""
    match value:
        case Func():
            return (value,)
        case Method(func=func):
            return (func,)
        case Partial(func=func):
            return _functions_in(m, func)
        case BoundBuiltin(name="backward"):
            return tuple(m.indexes.runs_again)
        case Unknown(symbol=symbol):
            return m.held_by(symbol)
    return ()
