"""Python's operators on values: numbers and strings here, tensors by torch, objects by their methods."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from analyzers.domain.join import NUMBERS
from analyzers.domain.objects import Array, DictObj, Instance, ListObj, SetObj, Tensor
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Builtin,
    Const,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.core import Machine, PyRaise

BINARY: dict[str, Callable[[Any, Any], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}

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

COMPARE: dict[str, Callable[[Any, Any], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**", "@"})

COMPARE_DUNDER = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _is_tensor(m: Machine, value: Value) -> bool:
    return isinstance(value, Ref) and isinstance(m.obj(value), Tensor)


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
            return Unknown(value.type, None, value.lineage)
        case Ref():
            found = m.obj(value)
            if isinstance(found, Tensor):
                from analyzers.machine.torch_calls import call_torch

                name = {"-": "Tensor.__neg__", "+": "Tensor.__pos__", "~": "Tensor.__invert__"}[op]
                return call_torch(m, name, [value], {})
            if isinstance(found, Instance):
                return _method(m, value, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op], []) or Unknown()
            if isinstance(found, Array):
                return array_of(m, [value])
    return Unknown()


def array_of(m: Machine, sources: list[Value], *, solid: bool = False) -> Value:
    """A new numpy array computed from `sources`."""
    from analyzers.domain.objects import Storage

    storage = m.fresh()
    m.st.put(storage, Storage())
    return m.new(Array(storage, lineage=m.trail("numpy", m.parents(sources)), solid=solid))


def is_solid(m: Machine, value: Value) -> bool:
    """Whether a value is an array with a dimension."""
    found = m.obj(value)
    return isinstance(found, Array) and found.solid


def stays_solid(m: Machine, values: Sequence[Value]) -> bool:
    """Whether numpy gives an array with a dimension of these: what may be a tensor may make one of all."""
    plain = all(
        isinstance(v, Const) or isinstance(m.obj(v), Array) or (isinstance(v, Unknown) and v.type in NUMBERS)
        for v in values
    )
    return plain and any(is_solid(m, value) for value in values)


def _refuse_array(m: Machine, op: str, left: Value, right: Value) -> None:
    """`tensor - array`: numpy answers, and asks the tensor for an array, which one with a graph refuses."""
    from analyzers.machine.numpy_calls import check_convertible

    if op in ARITHMETIC and is_solid(m, right):
        check_convertible(m, left, other=right)
    elif op == "/" and is_solid(m, left):
        check_convertible(m, right, other=left)


def binary(m: Machine, op: str, left: Value, right: Value) -> Value:
    _refuse_none_gradient(m, left, right)
    if _is_tensor(m, left) or _is_tensor(m, right):
        _refuse_saved(m, op, left, right)
        _refuse_array(m, op, left, right)
        return _tensor_binary(m, op, left, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants(m, op, left, right)
    special = _containers(m, op, left, right)
    if special is not None:
        return special
    found = m.obj(left)
    if isinstance(found, Instance):
        result = _method(m, left, f"__{DUNDER[op]}__", [right])
        if result is not None:
            return result
    other = m.obj(right)
    if isinstance(other, Instance):
        result = _method(m, right, f"__r{DUNDER[op]}__", [left])
        if result is not None:
            return result
    if isinstance(found, Array) or isinstance(other, Array):
        return array_of(m, [left, right], solid=op != "@" and stays_solid(m, [left, right]))
    return _unknown_number(m, op, left, right)


def _refuse_saved(m: Machine, op: str, left: Value, right: Value) -> None:
    """`grad * ctx.saved_tensors`, which is a tuple."""
    from analyzers.machine.custom import misused

    for value in (left, right):
        words = "only integer tensors of a single element" if op == "*" else "unsupported operand type(s)"
        misused(m, value, "TypeError", words)


def _refuse_none_gradient(m: Machine, left: Value, right: Value) -> None:
    """`lr * w.grad` where the gradient is None."""
    from analyzers.machine.grads import none_used

    for value, other in ((left, right), (right, left)):
        if isinstance(value, Const) and value.value is None and value.lineage is not None:
            if _is_tensor(m, other) or type_name(other) in NUMBERS:
                raise none_used(m, value, "TypeError", "unsupported operand type(s)")


def _arithmetic_type(kinds: set[str | None], op: str) -> str:
    """The type of a result computed from numbers of these types."""
    if kinds <= {"int", "bool"} and op != "/":
        return "int"
    if "complex" in kinds:
        return "complex"
    return "float" if "float" in kinds or op == "/" else "number"


def _unknown_number(m: Machine, op: str, left: Value, right: Value) -> Unknown:
    m.doubts += 1
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
    from analyzers.domain.join import reach_of

    return Unknown(kind, symbol, lineage, reach_of(left, right) if kind is None else ())


def _constants(m: Machine, op: str, left: Const, right: Const) -> Value:
    a, b = left.value, right.value
    trail = m.parents([left, right])
    lineage = m.trail(op, trail) if trail else None
    if op in {"**", "<<"} and isinstance(a, int) and isinstance(b, int) and (abs(a) > 1 and b > 64):
        return Unknown("int", None, lineage)
    if op == "*" and (
        (isinstance(a, str | bytes) and isinstance(b, int) and b * len(a) > 10_000)
        or (isinstance(b, str | bytes) and isinstance(a, int) and a * len(b) > 10_000)
    ):
        return Unknown("str")
    try:
        return Const(BINARY[op](a, b), lineage)
    except KeyError:
        return Unknown()
    except ZeroDivisionError:
        raise PyRaise("ZeroDivisionError") from None
    except (TypeError, ValueError, OverflowError, MemoryError):
        return Unknown()


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


def concatenated(x: ListObj, y: ListObj) -> ListObj:
    if x.rest is None:
        return ListObj((*x.items, *y.items), y.rest, x.kind)
    from analyzers.domain.join import one_of

    tail = one_of(x.rest, *y.items, *((y.rest,) if y.rest is not None else ()))
    return ListObj(x.items, tail, x.kind)


def _tensor_binary(m: Machine, op: str, left: Value, right: Value) -> Value:
    from analyzers.machine.torch_calls import call_torch

    if _is_tensor(m, left):
        found = m.obj(right)
        if isinstance(found, Instance) and not isinstance(found.cls, str):
            result = _method(m, right, f"__r{DUNDER[op]}__", [left])
            if result is not None:
                return result
        return call_torch(m, f"Tensor.__{DUNDER[op]}__", [left, right], {})
    found = m.obj(left)
    if isinstance(found, Instance):
        result = _method(m, left, f"__{DUNDER[op]}__", [right])
        if result is not None:
            return result
    if op == "/":
        from analyzers.machine.calls import Args, call_method

        return call_method(m, right, "__rtruediv__", Args([left]))
    return call_torch(m, f"Tensor.__r{DUNDER[op]}__", [right, left], {})


def _method(m: Machine, receiver: Value, name: str, args: list[Value]) -> Value | None:
    """What a method of a program's own class gives; None if it has none."""
    from analyzers.machine.attributes import find_in_class
    from analyzers.machine.calls import Args, call_method

    found = m.obj(receiver)
    if not isinstance(found, Instance) or find_in_class(m, found.cls, name) is None:
        return None
    return call_method(m, receiver, name, Args(args, {}))


def augmented(m: Machine, op: str, old: Value, value: Value) -> Value:
    """`old op= value`: in place where the object can."""
    found = m.obj(old)
    if isinstance(found, Tensor):
        from analyzers.machine.torch_calls import call_torch

        _refuse_none_gradient(m, old, value)
        _refuse_array(m, op, old, value)
        return call_torch(m, f"Tensor.__i{DUNDER[op]}__", [old, value], {})
    if isinstance(found, ListObj) and op == "+" and isinstance(old, Ref):
        from analyzers.machine.growth import note_kept
        from analyzers.machine.iteration import stream_of
        from analyzers.machine.tensors import subject_name

        more = stream_of(m, value).drained(m)
        note_kept(m, subject_name(m), found.items, more.items)
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
        result = _method(m, old, f"__i{DUNDER[op]}__", [value])
        if result is not None:
            return result
    if isinstance(found, Array) and isinstance(old, Ref):
        from analyzers.machine.tensors import write_hidden

        write_hidden(m, found.storage, f"{op}=")
        return old
    if found is None and isinstance(old, Unknown) and old.type is None:
        from analyzers.machine.havoc import havoc_value

        havoc_value(m, old)
    return binary(m, op, old, value)


# --- comparisons ------------------------------------------------------------------------------------------------


def _bool(value: bool) -> Const:
    return TRUE if value else FALSE


def compare(m: Machine, op: str, left: Value, right: Value) -> Value:
    if op in {"is", "is not"}:
        same = identical(m, left, right)
        if same is None:
            return _unknown_outcome("is", left, right, negated=op == "is not")
        return _bool(same == (op == "is"))
    if op in {"in", "not in"}:
        found = contains(m, right, left)
        if found is None:
            return Unknown("bool")
        return _bool(found == (op == "in"))
    if _is_tensor(m, left) or _is_tensor(m, right):
        from analyzers.machine.torch_calls import call_torch

        if left is NONE or right is NONE or type_name(left) == "str" or type_name(right) == "str":
            return _bool(op == "!=")
        if _is_tensor(m, left):
            return call_torch(m, f"Tensor.__{COMPARE_DUNDER[op]}__", [left, right], {})
        return call_torch(m, f"Tensor.__{COMPARE_DUNDER[SWAPPED[op]]}__", [right, left], {})
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return _bool(bool(COMPARE[op](left.value, right.value)))
        except TypeError:
            return Unknown("bool")
    for receiver, other, name in ((left, right, COMPARE_DUNDER[op]), (right, left, COMPARE_DUNDER[SWAPPED[op]])):
        if isinstance(m.obj(receiver), Instance):
            result = _method(m, receiver, f"__{name}__", [other])
            if result is not None:
                return result
    if isinstance(m.obj(left), Array) or isinstance(m.obj(right), Array):
        return array_of(m, [])
    if op in {"==", "!="}:
        same = equal(m, left, right)
        if same is not None:
            return _bool(same == (op == "=="))
    return _unknown_outcome("==" if op == "!=" else op, left, right, negated=op == "!=")


def _unknown_outcome(op: str, left: Value, right: Value, *, negated: bool) -> Unknown:
    """What nobody knows of a comparison, but that it comes out the same each time."""
    if not isinstance(left, Unknown) or left.symbol is None or not isinstance(right, Const):
        return Unknown("bool")
    symbol = (op, left.symbol, right)
    return Unknown("bool", ("not", symbol) if negated else symbol)


def identical(m: Machine, a: Value, b: Value) -> bool | None:
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Unknown) and x.type is not None and y is NONE:
                return x.type == "NoneType"
        return None
    if isinstance(a, Const) and isinstance(b, Const):
        if a.value is None or b.value is None or isinstance(a.value, bool) or isinstance(b.value, bool):
            return a.value is b.value
        return None if a == b else False
    if isinstance(a, Ref) and isinstance(b, Ref):
        if a.id == b.id:
            return True
        here, there = m.obj(a), m.obj(b)
        if isinstance(here, Tensor) and isinstance(there, Tensor):
            return None if (here.aliases or there.aliases) else False
        return False
    return False if type(a) is not type(b) else a == b


def equal(m: Machine, a: Value, b: Value) -> bool | None:
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    match a, b:
        case Tup(items=x), Tup(items=y):
            if len(x) != len(y):
                return False
            verdicts = [equal(m, p, q) for p, q in zip(x, y, strict=True)]
            if any(v is False for v in verdicts):
                return False
            return True if all(verdicts) else None
        case Const(), Const():
            return a.value == b.value
        case Builtin(), Builtin():
            return a.name == b.name
        case Ref(), Ref():
            p, q = m.obj(a), m.obj(b)
            if isinstance(p, ListObj) and isinstance(q, ListObj) and p.rest is None and q.rest is None:
                return equal(m, Tup(p.items), Tup(q.items))
            return True if a == b else None if type(p) is type(q) else False
        case (Ref() as ref, Const() | Tup()) | (Const() | Tup(), Ref() as ref):
            return False if isinstance(m.obj(ref), ListObj | DictObj | SetObj) else None
        case (Ref(), _) | (_, Ref()):
            return None
    return a == b


def contains(m: Machine, container: Value, item: Value) -> bool | None:
    found = m.obj(container)
    if isinstance(found, Instance):
        result = _method(m, container, "__contains__", [item])
        return bool(result.value) if isinstance(result, Const) else None
    if isinstance(container, Const) and isinstance(item, Const):
        try:
            return item.value in container.value  # type: ignore[operator]
        except TypeError:
            return None
    if isinstance(found, DictObj):
        if item in found.items:
            return True
        from analyzers.machine.expressions import is_exact_key, is_key

        if found.rest is not None or not is_key(m, item):
            return None
        exact = is_exact_key(item) and all(is_exact_key(k) for k in found.order)
        return False if exact or not found.order else None
    items: tuple[Value, ...] | None = None
    rest: Value | None = None
    if isinstance(container, Tup):
        items = container.items
    elif isinstance(found, ListObj | SetObj):
        items, rest = found.items, found.rest
    if items is None:
        return None
    verdicts = [equal(m, item, x) for x in items]
    if any(v is True for v in verdicts):
        return True
    return False if rest is None and all(v is False for v in verdicts) else None
