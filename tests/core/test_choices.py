"""One statement, several ways: choices, what is assumed of unknowns, and calls that end in several states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analyzers.domain.objects import ListObj
from analyzers.domain.values import Const
from analyzers.machine.core.choices import Infeasible, Outcome
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter.flow import Flow, run_choices
from analyzers.syntax import nodes as n
from tests.support.alone import machine


def passes(m: Machine, run: Callable[[], object]) -> tuple[list[Any], Flow]:
    """What each pass through a statement gives, and where it leads."""
    gave: list[Any] = []
    flow = Flow()
    run_choices(m, n.Pass(0, 0), m.st, lambda: gave.append(run()), lambda: flow.normal.append(m.st), flow)
    return gave, flow


def test_every_combination_is_tried_once() -> None:
    m = machine()
    gave, flow = passes(m, lambda: (m.choose(2), m.choose(3)))
    assert sorted(gave) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert len(flow.normal) == len(gave)


def test_one_way_is_no_choice() -> None:
    m = machine()
    assert passes(m, lambda: m.choose(1))[0] == [0]


def test_a_pass_repeats_the_ids_of_the_one_before_it() -> None:
    m = machine()
    gave, _ = passes(m, lambda: (m.fresh(), m.fresh(), m.choose(2), m.fresh()))
    (first, second, _, third), (again, once_more, _, other) = gave
    assert (first, second) == (again, once_more)
    assert other != third


def test_each_pass_starts_from_the_same_state() -> None:
    m = machine()
    seen = m.new(ListObj(()))

    def step() -> int:
        before = m.st.get(seen.id)
        m.st.put(seen.id, ListObj((Const(1),)))
        m.choose(2)
        return len(before.items) if isinstance(before, ListObj) else -1

    assert passes(m, step)[0] == [0, 0]
    assert m.st.get(seen.id) == ListObj((Const(1),))


def test_the_same_unknown_goes_the_same_way() -> None:
    m = machine()
    gave, flow = passes(m, lambda: (m.decide(None, "a"), m.decide(None, "a"), m.decide(None, ("not", "a"))))
    assert gave == [(True, True, False), (False, False, True)]
    assert [state.assumed["a"] for state in flow.normal] == [True, False]


def test_what_has_no_name_may_go_both_ways_twice() -> None:
    m = machine()
    assert len(passes(m, lambda: (m.decide(None), m.decide(None)))[0]) == 4
    assert passes(m, lambda: m.decide(True))[0] == [True]


def test_a_call_runs_once_and_goes_on_in_each_of_its_ends() -> None:
    m = machine()
    calls: list[int] = []

    def call() -> list[Outcome]:
        calls.append(1)
        yes, no, broken = m.st.fork(), m.st.fork(), m.st.fork()
        yes.grad, no.grad = True, False
        return [Outcome(yes, Const(1)), Outcome(no, Const(2)), Outcome(broken, Const(3), PyRaise("ValueError"))]

    gave, flow = passes(m, lambda: (m.outcomes_of(call), m.st.grad, m.choose(2)))
    assert calls == [1]
    assert len(gave) == 4
    assert set(gave) == {(Const(1), True, 0), (Const(1), True, 1), (Const(2), False, 0), (Const(2), False, 1)}
    assert [raised.name for _, raised in flow.raises] == ["ValueError"]


def test_a_call_that_never_ends_leads_nowhere() -> None:
    m = machine()
    with pytest.raises(Infeasible):
        m.outcomes_of(list)
    gave, flow = passes(m, lambda: m.outcomes_of(list))
    assert (gave, flow.normal, flow.raises) == ([], [], [])
