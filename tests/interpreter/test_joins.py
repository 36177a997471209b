"""Which states are joined."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from analyzers.domain.lineage import Loc
from analyzers.domain.state import UNLIKELY, State
from analyzers.machine.interpreter.flow import join_all
from analyzers.maps import Map

IF, OTHER = Loc("/a.py", "f", 0, 9), Loc("/a.py", "f", 20, 29)


def on(ways: dict[Loc, object]) -> State:
    state = State()
    state.taken = Map(ways)
    return state


def joined(states: list[State], *, presumes: bool = True) -> list[State]:
    """Those of the states that became one."""
    met = [states[0]]

    def join(one: State, other: State) -> State:
        met.append(other)
        return one

    frame = SimpleNamespace(module="/a.py", chunk="f")
    machine: Any = SimpleNamespace(config=SimpleNamespace(presumes=presumes), join=join, user_frame=lambda: frame)
    met[0] = join_all(machine, states)
    return met


def test_a_way_that_nobody_means_is_not_joined_with_others_on_presumed_values() -> None:
    """
    if kind == "a":
        loss = f(x)
    elif kind == "b":
        loss = g(x)
    loss.backward()     # of neither kind, it would be the loss of the round before
    """
    one, other, neither = on({IF: True}), on({IF: False}), on({IF: UNLIKELY})
    assert joined([one, other, neither]) == [one, other]
    assert joined([neither, one]) == [one]


@pytest.mark.parametrize("presumes", [True, False])
def test_ways_are_joined_that_have_it_all_in_common(presumes: bool) -> None:
    one, other = on({IF: UNLIKELY, OTHER: True}), on({IF: UNLIKELY, OTHER: False})
    assert joined([one, other], presumes=presumes) == [one, other]


def test_a_way_of_a_function_that_has_returned_is_as_good_as_others() -> None:
    """
    for layer in self.modules():
        if isinstance(layer, nn.Conv2d):
            ...
        elif isinstance(layer, nn.Linear):
            ...
    """
    one, neither = on({IF: True}), on({Loc("/a.py", "Net.__init__", 0, 9): UNLIKELY})
    assert joined([one, neither]) == [one, neither]


def test_what_is_known_for_sure_holds_on_all_ways() -> None:
    one, neither = on({IF: True}), on({IF: UNLIKELY})
    assert joined([one, neither], presumes=False) == [one, neither]
