"""The walk over all that unknown code can reach: whom it visits, and that it ends."""

from __future__ import annotations

import pytest

from analyzers.domain.objects import HeapObject, ListObj
from analyzers.domain.values import BoundBuiltin, Builtin, Const, Func, Method, Partial, Ref, Tup, Unknown
from analyzers.machine.core.havoc import MOST, havoc_object, havoc_value, put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS, Python
from analyzers.machine.core.registries import MODELS, ObjectModel
from analyzers.syntax import nodes as n
from tests.support.alone import PATH, machine


class Visits(ObjectModel):
    """Lists that note who came by, and lead on to what they hold."""

    def __init__(self) -> None:
        self.visited: list[int] = []

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        self.visited.append(ident)
        assert isinstance(found, ListObj)
        for item in found.items:
            havoc_value(m, item, seen)


class Escapes(Python):
    def __init__(self) -> None:
        self.escapes: list[Func] = []

    def escaped(self, m: Machine, func: Func) -> None:
        self.escapes.append(func)


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> Visits:
    model = Visits()
    monkeypatch.setitem(MODELS, ListObj, model)
    return model


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> Escapes:
    port = Escapes()
    monkeypatch.setattr(PORTS, "python", port)
    return port


def function() -> Func:
    head = n.Lambda(0, 0, n.Arguments((), (), None, (), None), n.Name(0, 0, "x"))
    return Func(head, PATH, "", "f", 1)


def test_all_that_can_be_reached_is_visited_once(lists: Visits) -> None:
    m = machine()
    inner = m.new(ListObj(()))
    outer = m.new(ListObj((inner, Tup((inner, Const(1))))))
    m.st.put(inner.id, ListObj((outer,)))
    havoc_value(m, Tup((outer, inner)))
    assert sorted(lists.visited) == [inner.id, outer.id]


def test_callables_lead_to_what_they_hold(lists: Visits, python: Escapes) -> None:
    m = machine()
    one, two, three, four = (m.new(ListObj(())) for _ in range(4))
    func = function()
    havoc_value(m, BoundBuiltin(one, "append"))
    havoc_value(m, Method(two, func))
    havoc_value(m, Partial(Builtin("f"), (three,), (("key", four),)))
    havoc_value(m, func)
    assert lists.visited == [one.id, two.id, three.id, four.id]
    assert python.escapes == [func, func]


def test_an_unknown_leads_to_its_reach(lists: Visits) -> None:
    m = machine()
    held = m.new(ListObj(()))
    havoc_value(m, Unknown(reach=(held.id,)))
    havoc_value(m, Unknown())
    assert lists.visited == [held.id]


def test_the_walk_ends(lists: Visits) -> None:
    m = machine()
    seen = set(range(-MOST - 1, 0))
    havoc_object(m, m.new(ListObj(())).id, seen)
    havoc_value(m, Ref(12345))
    assert lists.visited == []


def test_what_stays_is_not_written() -> None:
    m = machine()
    held = m.new(ListObj((Const(1),)))
    before = m.st.log
    put(m, held.id, ListObj((Const(1),)), ListObj((Const(1),)))
    assert m.st.log is before
    put(m, held.id, ListObj((Const(1),)), ListObj((Const(2),)))
    assert m.st.get(held.id) == ListObj((Const(2),))
