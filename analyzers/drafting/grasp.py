"""How far each backward of a file is understood, which is how much it means that nothing was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analyzers.domain.lineage import Loc, lost_at
from analyzers.drafting.base import Places, Run
from analyzers.machine.core.causes import Raised
from analyzers.machine.core.events import BackwardCall, StepCall
from analyzers.report import RANKS, Backward, Grasp
from analyzers.syntax import nodes as n


@dataclass(frozen=True, slots=True)
class _Grasped:
    grasp: Grasp
    about: str = ""
    since: Loc | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run saw of backwards, and of the steps of optimizers after them."""

    calls: tuple[tuple[Loc, _Grasped], ...]
    steps: frozenset[tuple[tuple[str, str], bool]]
    """The functions in which they are made, and whether the optimizer is known."""


def seen(run: Run, places: Places) -> Seen:
    steps = (event for event in run.events if isinstance(event, StepCall))
    return Seen(tuple(_calls(run, places)), frozenset((_function(step.site.loc), step.known) for step in steps))


def backwards(path: str, runs: Iterable[Run], presumed: Iterable[Seen], places: Places) -> list[Backward]:
    """Each call of `backward()` in a file that a run made, or that the text holds, as the run that knew most saw it.

    What the text holds below something that surely raises is left out: that is to be mended first.
    """
    runs = list(runs)
    known = [*(seen(run, places) for run in runs), *presumed]
    steps = frozenset(step for one in known for step in one.steps)
    stepped = {function for function, is_known in steps if is_known}
    unsure = {function for function, _ in steps} - stepped
    ends = [event.site for run in runs for event in run.events if isinstance(event, Raised) and _is_end(event)]
    ended = {_function(loc) for site in ends for loc in (site.loc, *site.via)}
    best: dict[Loc, _Grasped] = {}
    for loc, call in (call for one in known for call in one.calls):
        function = _function(loc)
        steps_unseen = function in unsure or (function not in stepped | ended and _mentions_step(loc, places))
        if call.grasp == "followed" and steps_unseen:
            call = _Grasped("in part", "the optimizer is not known")
        if loc not in best or RANKS[call.grasp] < RANKS[best[loc].grasp]:
            best[loc] = call
    met = {(loc.chunk, loc.start) for loc in best if loc.module == path}
    for loc in _written(path, places):
        if (loc.chunk, loc.start) not in met and _function(loc) not in ended:
            best[loc] = _Grasped("lost", "no run came to it")
    told = (
        Backward(places.place(loc), call.grasp, call.about, None if call.since is None else places.place(call.since))
        for loc, call in best.items()
    )
    return sorted(told, key=lambda backward: backward.place)


def _calls(run: Run, places: Places) -> Iterator[tuple[Loc, _Grasped]]:
    for event in run.events:
        if not isinstance(event, BackwardCall | Raised) or event.site.loc.module.startswith("<"):
            continue
        loc = event.site.loc
        if isinstance(event, Raised):
            if not _is_backward(event, places):
                continue
        elif not event.reached or (event.unknown and lost_at(event.lineage) is not None):
            since = lost_at(event.lineage)
            what = (places.text(since) if since is not None else "") or event.root
            yield loc, _Grasped("in part" if event.reached else "lost", f"`{_short(what)}` is not known", since)
            continue
        presumed = [p for p in run.presumptions if not p.of_data]
        if presumed:
            nearest = next((p for p in presumed if _function(p.loc) == _function(loc)), presumed[0])
            yield loc, _Grasped("in part", f"presumed that {nearest.message}", nearest.loc)
        elif run.out_of_fuel:
            yield loc, _Grasped("in part", "the program is too long to be run to its end")
        else:
            yield loc, _Grasped("followed")


def _is_backward(event: Raised, places: Places) -> bool:
    """Whether a call of `backward()` raised: the run knew what it was called on."""
    return not event.caught and ".backward(" in places.text(event.site.loc)


def _is_end(event: Raised) -> bool:
    return event.sure and not event.caught


def _function(loc: Loc) -> tuple[str, str]:
    """The function that a place is in; statements of the module are together."""
    return loc.module, "" if loc.chunk.startswith("stmt:") else loc.chunk


def _mentions_step(loc: Loc, places: Places) -> bool:
    return any(isinstance(node, n.Attribute) and node.attr == "step" for node in n.walk(places.chunk(loc).body))


def _written(path: str, places: Places) -> Iterator[Loc]:
    chunks = list(places.statements(path))
    for chunk in chunks:
        for node in n.walk(chunk.body):
            if isinstance(node, n.ChunkRef):
                chunks.append(places.chunk(Loc(path, node.key, 0, 0)))
            if isinstance(node, n.Call) and isinstance(node.func, n.Attribute) and node.func.attr == "backward":
                if not any(_is_super(part) for part in n.walk([node.func.value])):
                    yield Loc(path, chunk.key, node.start, node.end)


def _is_super(node: object) -> bool:
    """`super().backward(loss)`: a framework's own."""
    return isinstance(node, n.Name) and node.id == "super"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"
