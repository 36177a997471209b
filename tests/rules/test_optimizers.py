"""Which optimizer steps (of several that are one on each way, what steps is an object of its own), and on what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts, Places
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall, Event, LeftOut, OptimizerMade, StepCall
from analyzers.maps import Map
from analyzers.rules.silent import parameters_unreached
from analyzers.rules.training_step.optimizer_not_stepped import check
from analyzers.syntax import nodes as n

W, V = 5, 6


@dataclass
class Ran:
    events: tuple[Event, ...]
    bindings: tuple[Any, ...] = ()
    passed: dict[tuple[Loc, int], Any] = field(default_factory=dict)
    out_of_fuel: bool = False


class Text:
    def text(self, loc: Loc) -> str:
        return f"line {loc.start}"

    def chunk(self, loc: Loc) -> n.Chunk:
        return n.Chunk("", b"", ())


def at(line: int) -> Site:
    loc = Loc("train.py", "", line, line + 1)
    return Site(loc, loc, (), line, ((loc, 0),))


def found(*steps: StepCall) -> list[str]:
    backward = BackwardCall(at(30), "loss", None, False, (W,), False, False, Map())
    made = [OptimizerMade(at(line), line, (W,), True) for line in (10, 20)]
    facts = Facts(cast("Any", Ran((*made, backward, *steps))), cast(Places, Text()))
    return [draft.message for draft in check(facts)]


def test_what_never_steps_is_told() -> None:
    (message, _) = found(StepCall(at(40), 99, parameters=(V,)))
    assert message == "`line 30` fills gradients for `line 10`, which never steps"


@pytest.mark.parametrize("step", [StepCall(at(40), 99, parameters=(W,)), StepCall(at(40), 99, known=False)])
def test_what_another_object_may_move_is_not(step: StepCall) -> None:
    assert found(step) == []


@pytest.mark.parametrize(("out_of_fuel", "count"), [(False, 1), (True, 0)])
def test_what_no_backward_reaches_is_told_of_whole_runs(out_of_fuel: bool, count: int) -> None:
    backward = BackwardCall(at(30), "loss", None, False, (W,), False, False, Map())
    events = (backward, LeftOut(at(40), 99, "unreached", "", "", V, None))
    facts = Facts(cast("Any", Ran(events, out_of_fuel=out_of_fuel)), cast(Places, Text()))
    assert len(list(parameters_unreached.check(facts))) == count
