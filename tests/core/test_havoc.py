"""The walk over all that unknown code can reach: whom it visits, and that it ends."""

from __future__ import annotations

import pytest

from analyzers.domain.objects import HeapObject, ListObj
from analyzers.domain.values import BoundBuiltin, Builtin, Const, Func, Method, Partial, Ref, Tup, Unknown
from analyzers.machine.core.havoc import FEW, MOST, havoc_object, havoc_value, put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS, Python
from analyzers.machine.core.registries import MODELS, ObjectModel
from analyzers.machine.core.replay.records import Recording
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


def nested(m: Machine, count: int) -> Ref:
    """A list in a list in a list."""
    inner = m.new(ListObj(()))
    for _ in range(count - 1):
        inner = m.new(ListObj((inner,)))
    return inner


@pytest.mark.parametrize(("count", "visits"), [(FEW - 1, 2), (FEW, 1)])
def test_many_that_stay_as_they_were_are_gone_through_once(lists: Visits, count: int, visits: int) -> None:
    m = machine()
    held = nested(m, count)
    havoc_value(m, held)
    havoc_value(m, Unknown(reach=(held.id,)))
    assert len(lists.visited) == visits * count


def test_what_was_written_is_gone_through_again(lists: Visits) -> None:
    m = machine()
    held = nested(m, FEW)
    havoc_value(m, held)
    m.st.put(held.id - 1, ListObj((Const(1),)))
    havoc_value(m, held)
    assert lists.visited[FEW:] == [held.id, held.id - 1]


def test_the_same_on_another_way_is_gone_through(lists: Visits) -> None:
    m = machine()
    held = nested(m, FEW)
    before = m.st.fork()
    m.new(ListObj(()))
    havoc_value(m, held)
    m.st = before
    havoc_value(m, held)
    assert len(lists.visited) == 2 * FEW


def test_a_call_in_progress_is_told_what_was_read_and_asked_the_first_time(
    lists: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = machine()
    held = nested(m, FEW)
    told: list[int] = []

    def havoc(m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        Visits.havoc(lists, m, ident, found, seen)
        m.test(lambda m, of: True, ident)
        m.effect(lambda m, of: told.append(of), ident)

    monkeypatch.setattr(lists, "havoc", havoc)
    havoc_value(m, held)
    recording = Recording(m.st, ())
    m.st.reads = recording.reads
    m.extent.recordings.append(recording)
    havoc_value(m, held)
    all_of_them = {held.id - k for k in range(FEW)}
    assert len(lists.visited) == FEW
    assert set(recording.reads) == all_of_them
    assert {of for (_, of) in recording.tests} == {of for _, of in recording.effects} == all_of_them
    assert not recording.opaque


def test_a_call_in_progress_is_opaque_if_the_walk_was(lists: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    m = machine()
    held = nested(m, FEW)

    def havoc(m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        Visits.havoc(lists, m, ident, found, seen)
        m.opaque()

    monkeypatch.setattr(lists, "havoc", havoc)
    havoc_value(m, held)
    m.extent.recordings.append(Recording(m.st, ()))
    havoc_value(m, held)
    assert len(lists.visited) == FEW
    assert m.extent.recordings[0].opaque


@pytest.mark.parametrize("changes", ["switches_out", "writes_out"])
def test_who_has_got_more_goes_through_all_again(lists: Visits, changes: str) -> None:
    m = machine()
    held = nested(m, FEW)
    havoc_value(m, held)
    setattr(m.st, changes, True)
    havoc_value(m, held)
    assert len(lists.visited) == 2 * FEW


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
