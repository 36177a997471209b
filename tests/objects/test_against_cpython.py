"""What Python's objects answer, asked directly: each answer is CPython's own."""

from __future__ import annotations

import operator
from typing import Any

import pytest

from analyzers.domain.objects import DictObj, Instance, ListObj, SetObj
from analyzers.domain.values import NONE, Const, RangeValue, Ref, SliceValue, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects import attributes, containers, instances, strings, unknown_values
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.comparisons import compare
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.operators import binary, unary
from analyzers.machine.objects.subscripts import get_item
from analyzers.machine.objects.truth import truth_of
from analyzers.maps import Map
from tests.support.alone import machine

TABLES_OF = (attributes, containers, instances, strings, unknown_values)

VALUES: list[Any] = [0, 3, -7, 2.5, True, None, "", "ab", (), (1, "a"), [], [1, 2], {}, {"k": 1}, {1, 2}, range(2)]

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip

COMPARING = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def lifted(m: Machine, value: Any) -> Value:
    match value:
        case range():
            return RangeValue(Const(value.start), Const(value.stop), Const(value.step))
        case slice():
            return SliceValue(Const(value.start), Const(value.stop), Const(value.step))
        case tuple():
            return Tup(tuple(lifted(m, item) for item in value))
        case list():
            return m.new(ListObj(tuple(lifted(m, item) for item in value)))
        case set():
            return m.new(SetObj(tuple(lifted(m, item) for item in value)))
        case dict():
            items = {lifted(m, key): lifted(m, item) for key, item in value.items()}
            return m.new(DictObj(Map(items), tuple(items)))
    return Const(value)


def lowered(m: Machine, value: Value) -> Any:
    """Back again; an `Unknown` stays what it is."""
    found = m.obj(value)
    match value, found:
        case Const(value=plain), _:
            return plain
        case Tup(items=items), _:
            return tuple(lowered(m, item) for item in items)
        case RangeValue(), _:
            return range(*(lowered(m, part) for part in (value.start, value.stop, value.step)))
        case Ref(), ListObj(items=items, rest=None):
            return [lowered(m, item) for item in items]
        case Ref(), SetObj(items=items, rest=None):
            return {lowered(m, item) for item in items}
        case Ref(), DictObj(entries=entries, rest=None):
            return {lowered(m, key): lowered(m, item) for key, item in entries}
    return Unknown()


def agrees(m: Machine, found: Value, wanted: Any) -> bool:
    """Whether what is known is so, down to its type."""
    got = lowered(m, found)
    return isinstance(got, Unknown) or (type(got) is type(wanted) and got == wanted)


@pytest.mark.parametrize("op", BINARY)
def test_operators(op: str) -> None:
    for left in VALUES:
        for right in VALUES:
            m = machine()
            try:
                wanted = BINARY[op](left, right)
            except (TypeError, ZeroDivisionError):
                continue
            assert agrees(m, binary(m, op, lifted(m, left), lifted(m, right)), wanted), (left, right)


@pytest.mark.parametrize("op", COMPARING)
def test_comparisons(op: str) -> None:
    for left in VALUES:
        for right in VALUES:
            m = machine()
            try:
                wanted = COMPARING[op](left, right)
            except TypeError:
                continue
            assert agrees(m, compare(m, op, lifted(m, left), lifted(m, right)), wanted), (left, right)


@pytest.mark.parametrize("op", ["in", "not in"])
def test_containing(op: str) -> None:
    for item in (1, "a", "k", 99):
        for held in ((1, "a"), [1, 2], {"k": 1}, {1, 2}):
            m = machine()
            wanted = (item in held) == (op == "in")
            assert lowered(m, compare(m, op, lifted(m, item), lifted(m, held))) is wanted


def test_numbers_are_computed() -> None:
    m = machine()
    for left in (7, -7, 2.5, True):
        for right in (2, -3, 0.5):
            for op in ("+", "-", "*", "/", "//", "%"):
                assert lowered(m, binary(m, op, Const(left), Const(right))) == BINARY[op](left, right)
    assert [lowered(m, unary(m, op, Const(5))) for op in ("-", "+", "~")] == [-5, 5, ~5]


def test_division_by_zero() -> None:
    for op in ("/", "//", "%"):
        with pytest.raises(PyRaise) as raised:
            binary(machine(), op, Const(1), Const(0))
        assert raised.value.name == "ZeroDivisionError"


def test_truth() -> None:
    for value in VALUES:
        m = machine()
        assert truth_of(m, lifted(m, value))[0] is bool(value)
    m = machine()
    assert truth_of(m, m.new(ListObj((), Unknown())))[0] is None
    assert truth_of(m, Unknown(symbol="s")) == (None, "s")


@pytest.mark.parametrize("index", [0, -1, 1, slice(1, None), slice(None, None, -1), slice(-2, 5)])
def test_items(index: int | slice) -> None:
    for held in ((1, "a", 2), [1, 2, 3], "abc", range(3, 9, 2)):
        m = machine()
        assert agrees(m, get_item(m, lifted(m, held), lifted(m, index)), held[index]), held


def test_items_that_are_not_there() -> None:
    for held, index, wanted in (((1,), 5, "IndexError"), ([1], -2, "IndexError"), ({"k": 1}, "q", "KeyError")):
        m = machine()
        with pytest.raises(PyRaise) as raised:
            get_item(m, lifted(m, held), lifted(m, index))
        assert raised.value.name == wanted


def test_iteration() -> None:
    for held in ((1, 2), [1, 2], {"a": 1, "b": 2}, "ab", range(3)):
        m = machine()
        stream = stream_of(m, lifted(m, held))
        assert [lowered(m, item) for item in stream.items] == list(held)
        assert stream.rest is None


METHODS: list[tuple[Any, str, tuple[Any, ...]]] = [
    ([3, 1], "append", (2,)), ([3, 1], "extend", ([4, 5],)), ([3, 1], "insert", (0, 9)), ([3, 1], "pop", ()),
    ([3, 1], "pop", (0,)), ([3, 1, 3], "count", (3,)), ([3, 1], "index", (1,)), ([3, 1], "remove", (3,)),
    ([3, 1], "reverse", ()), ([3, 1], "clear", ()), ([3, 1], "sort", ()), ([3, 1], "copy", ()),
    ({"k": 1}, "get", ("k",)), ({"k": 1}, "get", ("q", 5)), ({"k": 1}, "pop", ("k",)),
    ({"k": 1}, "update", ({"l": 2},)),
    ({"k": 1}, "setdefault", ("l", 3)), ({"k": 1}, "setdefault", ("k", 3)),
    ({"k": 1}, "copy", ()),
    ({1, 2}, "add", (3,)), ({1, 2}, "discard", (1,)), ("a,b", "split", (",",)), (" x ", "strip", ()),
    ("abc", "replace", ("b", "x")), ("abc", "startswith", ("ab",)), ("abc", "upper", ()), ((1, 2, 1), "count", (1,)),
    ((1, 2), "index", (2,)),
]  # fmt: skip


@pytest.mark.parametrize(("held", "name", "args"), METHODS, ids=[f"{h!r}.{n}" for h, n, _ in METHODS])
def test_methods(held: Any, name: str, args: tuple[Any, ...]) -> None:
    m = machine()
    receiver = lifted(m, held)
    found = call_method(m, receiver, name, Args([lifted(m, arg) for arg in args]))
    real = held.copy() if hasattr(held, "copy") else held
    wanted = getattr(real, name)(*args)
    assert lowered(m, found) == wanted
    assert lowered(m, receiver) == real


def test_unknown_code_may_change_what_it_reaches() -> None:
    m = machine()
    inner = m.new(ListObj((Const(1),)))
    owner = m.new(Instance("some.Class", Map({"n": Const(1), "held": inner})))
    table = m.new(DictObj(Map({Const("k"): owner}), (Const("k"),)))
    bystander = m.new(ListObj((Const(5),)))
    havoc_value(m, table)
    changed, held = m.obj(owner), m.obj(inner)
    assert isinstance(changed, Instance)
    assert isinstance(changed.attrs["n"], Unknown)
    assert changed.open
    assert isinstance(held, ListObj)
    assert held.rest is not None
    assert m.obj(bystander) == ListObj((Const(5),))
    assert truth_of(m, NONE)[0] is False
