"""Calls that nobody can see and that keep the graph of what they are passed, as the backward shows that comes later.

`model.log_prob(x)` may compute as the model does or may not; if the only thing that is ever done with its result ends
in `backward()`, it does. A run on presumed values notes such calls, and runs once more with what it has found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Loc
from analyzers.domain.values import Ref, Unknown, Value
from analyzers.machine.autograd.likely_tensors import presumed_loss
from analyzers.machine.autograd.reachability import holds_graph
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.events import BackwardCall, Event
from analyzers.machine.core.machine import Machine

ROUNDS = 3
"""How often a run begins again, at most."""


class Undecided:
    """Calls that may keep the graph of what they are passed."""

    def __init__(self) -> None:
        self.at: set[Loc] = set()


class Shown(Protocol):
    """A run, whether it came to its end, and the calls that it found to keep a graph."""

    @property
    def out_of_fuel(self) -> bool: ...

    @property
    def attached(self) -> frozenset[Loc]: ...


R = TypeVar("R", bound=Shown)


def settled(run: Callable[[frozenset[Loc]], R]) -> R:
    """The run that knows of all calls through which a graph must have come. One that did not come to its end is not
    worth its price so often."""
    known: frozenset[Loc] = frozenset()
    result = run(known)
    for done in range(ROUNDS):
        if result.attached <= known or (done and result.out_of_fuel):
            break
        known |= result.attached
        result = run(known)
    return result


def attached_result(m: Machine, func: Value, args: Args) -> Value | None:
    """What a call returns of which a backward has shown that it keeps a graph; any other is noted."""
    if not m.config.presumes or m.frame.library or m.st.grad is not True:
        return None
    given = (func, *args.all())
    reach = reach_of(*given)
    if not holds_graph(m, reach):
        return None
    if m.here() not in m.config.attached:
        m.notebook(Undecided).at.add(m.here())
        return None
    made = presumed_loss(m, Unknown(None, None, m.trail("?", m.parents(given)), reach))
    if not isinstance(made, Ref):
        return None
    m.presume(f"`{' '.join(m.source().split())[:60]}` has a graph, as backward goes through it")
    return made


def attached_calls(m: Machine, events: Iterable[Event]) -> frozenset[Loc]:
    """The calls that must keep a graph: of each backward that no run understands the nearest that may."""
    calls: dict[Loc, list[BackwardCall]] = {}
    for event in events:
        if isinstance(event, BackwardCall):
            calls.setdefault(event.site.loc, []).append(event)
    lost = [met[0] for met in calls.values() if all(one.unknown and not one.reached for one in met)]
    noted = m.notebook(Undecided).at
    found = (
        next((s.loc for s in one.lineage.walk() if s.what == "?" and s.loc in noted), None)
        for one in lost
        if one.lineage is not None
    )
    return m.config.attached.union(loc for loc in found if loc is not None)
