"""States: what is remembered of them between two looks."""

from __future__ import annotations

import dataclasses

import pytest

from analyzers.domain.copies import replace
from analyzers.domain.objects import ListObj, SetObj, Storage
from analyzers.domain.state import State
from analyzers.domain.values import Const


def test_the_objects_of_a_kind_are_those_of_each_way() -> None:
    state = State()
    state.put(1, SetObj(()))
    state.put(2, ListObj(()))
    one, other = state.fork(), state.fork()
    one.put(4, ListObj((Const(1),)))
    one.put(3, ListObj(()))
    other.put(5, ListObj(()))
    assert [ident for ident, _ in state.made(ListObj)] == [2]
    assert [ident for ident, _ in one.made(ListObj)] == [2, 3, 4]
    assert [ident for ident, _ in other.made(ListObj)] == [2, 5]
    one.put(2, ListObj((Const(7),)))
    assert dict(one.made(ListObj))[2] == ListObj((Const(7),))
    assert [ident for ident, _ in one.made(SetObj)] == [1]


@pytest.mark.parametrize(
    ("one", "change"),
    [(ListObj((Const(1),), Const(2)), {"items": ()}), (Storage(None, 3), {"count": 4})],
)
def test_a_copy_differs_in_what_was_given(one: ListObj | Storage, change: dict[str, object]) -> None:
    assert replace(one, **change) == dataclasses.replace(one, **change) != one
    assert replace(one) == one
    assert replace(one) is not one


def test_objects_that_were_there_before_are_found_by_the_next_run() -> None:
    state = State()
    assert state.made(ListObj) == []
    state.put(1, ListObj(()))
    state.forget_writes()
    assert [ident for ident, _ in state.fork().made(ListObj)] == [1]
