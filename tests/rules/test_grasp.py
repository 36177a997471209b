"""How far a backward is understood, of runs that are hard to come by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Places
from analyzers.drafting.grasp import backwards
from analyzers.machine.core.events import BackwardCall, Event, Site
from analyzers.maps import Map
from analyzers.report import Place
from analyzers.syntax import nodes as n


@dataclass
class Ran:
    events: tuple[Event, ...]
    out_of_fuel: bool
    presumptions: tuple[Any, ...] = ()


class Text:
    def place(self, loc: Loc) -> Place:
        return Place(loc.module, loc.start, loc.end)

    def chunk(self, loc: Loc) -> n.Chunk:
        return cast("n.Chunk", EMPTY)

    def statements(self, path: str) -> tuple[n.Chunk, ...]:
        return ()


@dataclass
class Empty:
    body: tuple[n.Node, ...] = ()


EMPTY = Empty()


@pytest.mark.parametrize(
    ("out_of_fuel", "grasp", "about"),
    [(False, "followed", ""), (True, "in part", "the program is too long to be run to its end")],
)
def test_what_comes_after_the_end_of_a_run_is_not_known(out_of_fuel: bool, grasp: str, about: str) -> None:
    loc = Loc("train.py", "stmt:1", 3, 4)
    backward = BackwardCall(Site(loc, loc, (), 0, ()), "loss", None, False, (5,), False, False, Map())
    run = Ran((backward,), out_of_fuel)
    [told] = backwards("train.py", [cast("Any", run)], [], cast("Places", Text()))
    assert (told.grasp, told.about) == (grasp, about)
