"""Python's operators on numbers, strings, containers and instances; other kinds have their own models."""

from __future__ import annotations

from analyzers.domain.join import NUMBERS, one_of, reach_of
from analyzers.domain.objects import DictObj, Instance, ListObj, SetObj
from analyzers.domain.values import Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import used_unseen
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_written
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.missing import none_used
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import OF_INSTANCES, model_of, stronger
from analyzers.machine.core.signals import Kept, tell
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.counting import LIKELY, is_part, suppose
from analyzers.machine.objects.folding import TooExpensiveError, fold
from analyzers.machine.objects.iteration import stream_of

DUNDER = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}


def type_name(value: Value) -> str | None:
    match value:
        case Const(value=v):
            return type(v).__name__
        case Unknown(type=t):
            return t
    return None


def unary(m: Machine, op: str, value: Value) -> Value:
    match value:
        case Const(value=v) if isinstance(v, int | float | complex):
            if op == "-":
                return Const(-v, value.lineage)
            if op == "+":
                return Const(+v, value.lineage)
            return Const(~v) if isinstance(v, int) else Unknown()
        case Unknown():
            return Unknown(value.type, None, value.lineage, value.reach)
        case Ref():
            found = m.obj(value)
            if isinstance(found, Instance):
                return method(m, value, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op], []) or Unknown()
            result = None if found is None else model_of(found).unary(m, op, value, found)
            return result if result is not None else Unknown()
    return Unknown()


def binary(m: Machine, op: str, left: Value, right: Value) -> Value:
    refuse_none_gradient(m, left, right)
    if m.config.presumes:
        left, right = _likely(m, left, right), _likely(m, right, left)
    used_unseen(m, left, f"__{DUNDER[op]}__")
    used_unseen(m, right, f"__r{DUNDER[op]}__")
    model = stronger(m, left, right)
    if model.rank > OF_INSTANCES:
        result = model.binary(m, op, left, right)
        if result is not None:
            return result
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants(m, op, left, right)
    special = _containers(m, op, left, right)
    if special is not None:
        return special
    found = m.obj(left)
    if isinstance(found, Instance):
        result = method(m, left, f"__{DUNDER[op]}__", [right])
        if result is not None:
            return result
    other = m.obj(right)
    if isinstance(other, Instance):
        result = method(m, right, f"__r{DUNDER[op]}__", [left])
        if result is not None:
            return result
    for model in (model_of(found), model_of(other)):
        if 0 < model.rank < OF_INSTANCES and (result := model.binary(m, op, left, right)) is not None:
            return result
    return _unknown_number(m, op, left, right)


def _likely(m: Machine, value: Value, other: Value) -> Value:
    """A tensor for an unknown value that was one before, or stands beside one."""
    is_beside = isinstance(value, Unknown) and model_of(m.obj(other)).rank > OF_INSTANCES
    likely = PORTS.likely.tensor(m, value, keeps=False) if is_beside and isinstance(value, Unknown) else None
    return likely or PORTS.likely.stand_in(m, value) or value


def refuse_none_gradient(m: Machine, left: Value, right: Value) -> None:
    """Raise for `lr * w.grad` where the gradient is None."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Const) and value.value is None and value.lineage is not None:
            if model_of(m.obj(other)).rank > OF_INSTANCES or type_name(other) in NUMBERS:
                raise none_used(m, value, "TypeError", "unsupported operand type(s)")


def _arithmetic_type(kinds: set[str | None], op: str) -> str:
    """The type of a result computed from numbers of these types."""
    if kinds <= {"int", "bool"} and op != "/":
        return "int"
    if "complex" in kinds:
        return "complex"
    return "float" if "float" in kinds or op == "/" else "number"


def _unknown_number(m: Machine, op: str, left: Value, right: Value) -> Unknown:
    m.record.imprecisions += 1
    a, b = type_name(left), type_name(right)
    kind: str | None = None
    if a in NUMBERS and b in NUMBERS:
        kind = _arithmetic_type({a, b}, op)
        if op == "**" and kind == "int" and not isinstance(right, Const):
            kind = "number"
    elif a == "str" and (op == "%" or b == "str"):
        kind = "str"
    trail = m.parents([left, right])
    symbol = None
    if isinstance(left, Unknown) and left.symbol is not None and isinstance(right, Const):
        symbol = (op, left.symbol, right)
    lineage = m.trail(op, trail) if trail else None
    return Unknown(kind, symbol, lineage, reach_of(left, right) if kind is None else ())


def _constants(m: Machine, op: str, left: Const, right: Const) -> Value:
    a, b = left.value, right.value
    trail = m.parents([left, right])
    lineage = m.trail(op, trail) if trail else None
    try:
        return Const(fold(op, a, b), lineage)
    except TooExpensiveError:
        return Unknown(_result_type(op, a, b), None, lineage)
    except ZeroDivisionError:
        raise PyRaise("ZeroDivisionError") from None
    except (TypeError, ValueError, OverflowError):
        return Unknown()


def _result_type(op: str, a: object, b: object) -> str | None:
    for kind in (str, bytes):
        if isinstance(a, kind) or isinstance(b, kind):
            return kind.__name__
    if isinstance(a, int) and isinstance(b, int) and (op != "**" or b >= 0):
        return _arithmetic_type({"int"}, op)
    return None


def _containers(m: Machine, op: str, left: Value, right: Value) -> Value | None:
    match left, right:
        case Tup(items=a), Tup(items=b) if op == "+":
            return Tup((*a, *b))
        case Tup(items=a), Const(value=int() as k) if op == "*" and len(a) * k <= 256:
            return Tup(a * k)
        case Const(value=int() as k), Tup(items=a) if op == "*" and len(a) * k <= 256:
            return Tup(a * k)
    x, y = m.obj(left), m.obj(right)
    if op == "+" and isinstance(x, ListObj) and isinstance(y, ListObj):
        return m.new(concatenated(x, y))
    if op == "*":
        for found, count in ((x, right), (y, left)):
            if isinstance(found, ListObj):
                if isinstance(count, Const) and isinstance(count.value, int) and found.rest is None:
                    if len(found.items) * count.value <= 256:
                        return m.new(ListObj(found.items * count.value))
                elif isinstance(count, Unknown) and m.config.presumes and _are_parts(m, found):
                    suppose(m)
                    return m.new(ListObj(found.items * LIKELY))
                first = found.items[0] if found.items else found.rest
                return m.new(ListObj((), first if first is not None else Unknown()))
    if op == "|" and isinstance(x, DictObj) and isinstance(y, DictObj):
        items = x.items.update(y.items)
        return m.new(DictObj(items, tuple(dict.fromkeys((*x.order, *y.order))), x.rest or y.rest))
    if isinstance(x, SetObj) and isinstance(y, SetObj):
        if op == "|":
            return m.new(SetObj(tuple(dict.fromkeys((*x.items, *y.items))), x.rest or y.rest))
        if x.rest is None and y.rest is None and op in {"&", "-"}:
            keep = [i for i in x.items if (i in y.items) == (op == "&")]
            return m.new(SetObj(tuple(keep)))
        return m.new(SetObj((), Unknown()))
    return None


def _are_parts(m: Machine, found: ListObj) -> bool:
    return found.rest is None and bool(found.items) and all(is_part(m, item, alone=False) for item in found.items)


def concatenated(x: ListObj, y: ListObj) -> ListObj:
    if x.rest is None:
        return ListObj((*x.items, *y.items), y.rest, x.kind)
    tail = one_of(x.rest, *y.items, *((y.rest,) if y.rest is not None else ()))
    return ListObj(x.items, tail, x.kind)


def method(m: Machine, receiver: Value, name: str, args: list[Value]) -> Value | None:
    """The result of calling a method defined by a class of the program; None if it has no such method."""
    found = m.obj(receiver)
    if not isinstance(found, Instance) or find_in_class(m, found.cls, name) is None:
        return None
    return call_method(m, receiver, name, Args(args, {}))


def augmented(m: Machine, op: str, old: Value, value: Value) -> Value:
    """`old op= value`: in place if the object supports it."""
    old = PORTS.likely.stand_in(m, old) or old
    found = m.obj(old)
    if isinstance(found, ListObj) and op == "+" and isinstance(old, Ref):
        more = stream_of(m, value).drained(m)
        tell(m, Kept(subject_name(m), found.items, more.items, old.id))
        m.st.put(old.id, concatenated(found, ListObj(more.items, more.rest)))
        return old
    if isinstance(found, DictObj) and op == "|" and isinstance(old, Ref):
        other = m.obj(value)
        if isinstance(other, DictObj):
            order = tuple(dict.fromkeys((*found.order, *other.order)))
            m.st.put(
                old.id,
                DictObj(found.items.update(other.items), order, found.rest or other.rest, found.kind, found.factory),
            )
        return old
    if isinstance(found, Instance):
        result = method(m, old, f"__i{DUNDER[op]}__", [value])
        if result is not None:
            return result
    if found is not None and isinstance(old, Ref):
        result = model_of(found).augmented(m, op, old, found, value)
        if result is not None:
            return result
    if found is None and isinstance(old, Unknown) and old.type is None:
        m.record.unresolved.data = True
        havoc_written(m, old)
        made = binary(m, op, old, value)
        return model_of(m.obj(made)).written_or_made(m, old, made)
    return binary(m, op, old, value)
