"""`==`, `<`, `is` and `in`."""

from __future__ import annotations

from analyzers.domain.objects import ClassObj, DictObj, HeapObject, Instance, ListObj, SetObj
from analyzers.domain.values import FALSE, NONE, TRUE, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.calling import used_unseen
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import OF_INSTANCES, model_of, stronger
from analyzers.machine.objects.beginnings import known_start
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.construction import PLAIN_BASES
from analyzers.machine.objects.enums import MIXED, as_compared
from analyzers.machine.objects.folding import fold
from analyzers.machine.objects.operators import method
from analyzers.machine.objects.subscripts import is_exact_key, is_key

COMPARE_DUNDER = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


IDENTITY = "id"
"""The first part of the symbol of what `id` returns; the second is the object's id on the heap."""


def _bool(value: bool) -> Const:
    return TRUE if value else FALSE


def compare(m: Machine, op: str, left: Value, right: Value) -> Value:
    if op in {"is", "is not"}:
        same = identical(m, left, right)
        if same is None:
            return _unknown_outcome("is", left, right, negated=op == "is not")
        return _bool(same == (op == "is"))
    left, right = as_compared(m, left), as_compared(m, right)
    if op in COMPARE_DUNDER:
        used_unseen(m, left, f"__{COMPARE_DUNDER[op]}__")
        used_unseen(m, right, f"__{COMPARE_DUNDER[SWAPPED[op]]}__")
    if op in {"in", "not in"}:
        found = contains(m, right, left)
        if found is None:
            symbol = _membership(m, left, right)
            return Unknown("bool", ("not", symbol) if op == "not in" and symbol is not None else symbol)
        return _bool(found == (op == "in"))
    model = stronger(m, left, right)
    if model.rank > OF_INSTANCES and (result := model.compare(m, op, left, right)) is not None:
        return result
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return _bool(bool(fold(op, left.value, right.value)))
        except TypeError:
            return Unknown("bool")
    for receiver, other, name in ((left, right, COMPARE_DUNDER[op]), (right, left, COMPARE_DUNDER[SWAPPED[op]])):
        if isinstance(m.obj(receiver), Instance):
            answer = method(m, receiver, f"__{name}__", [other])
            if answer is not None:
                return answer
    for side in (left, right):
        model = model_of(m.obj(side))
        if 0 < model.rank < OF_INSTANCES and (result := model.compare(m, op, left, right)) is not None:
            return result
    if op in {"==", "!="}:
        same = equal(m, left, right)
        if same is not None:
            return _bool(same == (op == "=="))
    return _unknown_outcome("==" if op == "!=" else op, left, right, negated=op == "!=")


def _unknown_outcome(op: str, left: Value, right: Value, *, negated: bool) -> Unknown:
    """The unknown outcome of a comparison; its symbol makes it come out the same way each time."""
    if isinstance(left, Const):
        op, left, right = SWAPPED.get(op, op), right, left
    kind = None if op != "is" and (_may_be_array(left, right) or _may_be_array(right, left)) else "bool"
    if not isinstance(left, Unknown) or left.symbol is None or not isinstance(right, Const):
        return Unknown(kind)
    symbol = (op, left.symbol, right)
    return Unknown(kind, ("not", symbol) if negated else symbol)


def _membership(m: Machine, item: Value, container: Value) -> object:
    """The symbol of whether something unknown is one of some constants; None where these are not known."""
    found = m.obj(container)
    items = found.items if isinstance(found, ListObj | SetObj) and found.rest is None else ()
    items = container.items if isinstance(container, Tup) else items
    if not isinstance(item, Unknown) or item.symbol is None or not items:
        return None
    return ("in", item.symbol, frozenset(items)) if all(isinstance(one, Const) for one in items) else None


def where_filled(symbol: object) -> bool | None:
    """How a comparison of a length with a number, by its symbol, comes out for all that is not empty; None if that
    depends on the length, or nothing is counted."""
    match symbol:
        case ("not", of):
            known = where_filled(of)
            return None if known is None else not known
        case (str(op), ("len", _), Const(value=int(bound))) if op in COMPARE_DUNDER:
            outcomes = {bool(fold(op, length, bound)) for length in (1, max(bound, 1), max(bound, 1) + 1)}
            return outcomes.pop() if len(outcomes) == 1 else None
    return None


def _may_be_array(value: Value, other: Value) -> bool:
    """Whether a value is perhaps an array or a tensor, which is compared element by element."""
    return isinstance(value, Unknown) and value.type is None and not _is_plain(other)


def _is_plain(value: Value) -> bool:
    """Whether nobody compares an array with a value: text, None."""
    return isinstance(value, Const) and not isinstance(value.value, bool | int | float | complex)


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
        return False if here is None or there is None else model_of(here).identical(here, there)
    return False if type(a) is not type(b) else a == b


def equal(m: Machine, a: Value, b: Value) -> bool | None:
    match a, b:
        case Unknown(symbol=(str(of), int(one))), Unknown(symbol=(str(to), int(other))) if of == to == IDENTITY:
            return identical(m, Ref(one), Ref(other))
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
            if a == b or type(p) is not type(q):
                return a == b
            return False if _is_itself_alone(m, p) and _is_itself_alone(m, q) else None
        case (Ref() as ref, Const() | Tup()) | (Const() | Tup(), Ref() as ref):
            found = m.obj(ref)
            return False if isinstance(found, ListObj | DictObj | SetObj) or _is_itself_alone(m, found) else None
        case (Ref(), _) | (_, Ref()):
            return None
    return a == b


def _is_itself_alone(m: Machine, found: HeapObject | None) -> bool:
    """Whether an object is equal to no other: its class is known, and defines no `__eq__`."""
    if not isinstance(found, Instance) or not isinstance(found.cls, int):
        return False
    cls = m.st.get(found.cls)
    return (
        isinstance(cls, ClassObj)
        and cls.known
        and cls.kind in {"class", "enum"}
        and all(isinstance(ancestor, int) or ancestor in PLAIN_BASES for ancestor in cls.ancestry)
        and MIXED.isdisjoint(cls.ancestry)
        and find_in_class(m, found.cls, "__eq__") is None
    )


def contains(m: Machine, container: Value, item: Value) -> bool | None:
    found = m.obj(container)
    if isinstance(found, Instance):
        result = method(m, container, "__contains__", [item])
        return bool(result.value) if isinstance(result, Const) else None
    if isinstance(container, Const) and isinstance(item, Const):
        try:
            return item.value in container.value  # type: ignore[operator]
        except TypeError:
            return None
    if isinstance(item, Const) and isinstance(item.value, str) and item.value in known_start(container):
        return True
    if isinstance(found, DictObj):
        if item in found.items:
            return True
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
