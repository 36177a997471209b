"""The answers drawn from runs: findings, the file that shows each of them, facts and graphs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from analyzers.domain.lineage import Loc, lost_at
from analyzers.drafting import grasp
from analyzers.drafting.base import Judgement
from analyzers.drafting.judging import placed, together, unsettled
from analyzers.graph.cards import bound_at, graph_of_spot, name_at
from analyzers.graph.watch import Body
from analyzers.host.concern import concerns
from analyzers.host.files import module, reach
from analyzers.host.places import Positions
from analyzers.host.presuming import judged_run, presumed, presuming
from analyzers.host.runs import looked_at, recorded_at, runs_of, watched
from analyzers.host.world import MOST_TEXT, choice, is_too_large, looked_at_together, source, world_of
from analyzers.machine.core.events import Binding
from analyzers.queries.engine import Database, query
from analyzers.report import (
    Backward,
    Call,
    Choice,
    Fact,
    Finding,
    Graph,
    Lost,
    Occurrence,
    Place,
    Routine,
    Sighting,
    told_better,
)
from analyzers.rules import RULES
from analyzers.rules.text import file_too_large, suppression, syntax_error
from analyzers.rules.text.suppression import Comments, Use


@query
def judged(db: Database, path: str) -> tuple[Judgement, ...]:
    """What the rules make of a file's runs."""
    runs = [judged_run(db, path, index, False) for index in looked_at(db, path)]
    return together(runs, [presumed(db, path, index).judged for index in presuming(db, path)])


@query
def found(db: Database, path: str) -> tuple[Finding, ...]:
    """All findings of a file's runs, before anybody silences one."""
    places = Positions(db)
    return tuple(sorted((placed(j, places) for j in judged(db, path)), key=lambda f: (f.place, f.code)))


@query(eager=1)
def comments_of(db: Database, path: str) -> Comments | None:
    """The directives of a file; None where there are none."""
    cut = module(db, path)
    directives = cut.directives
    if not directives:
        return None
    return Comments(path, cut.text, directives)


@query
def uses(db: Database, path: str) -> frozenset[Use]:
    """The directives, of whichever files, that silence findings of one file's runs."""
    mine = found(db, path)
    comments = [comments_of(db, there) for there in sorted({finding.place.path for finding in mine})]
    return frozenset(use for text in comments if text is not None for use in suppression.uses(text, mine))


@query
def about_comments(db: Database, path: str) -> tuple[Finding, ...]:
    """Directives that silence nothing, or rules that there are not.

    A directive of an imported file may be there for those who import it: the files that are looked at together are
    asked, once nothing nearer needs it. Nothing is called unused where something was not run.
    """
    text = comments_of(db, path)
    if text is None or not choice(db, path).heeds_comments:
        return ()
    strange = list(suppression.unknown(text, RULES))
    told = [finding for finding in strange if not text.silencing(finding)]
    used, off = uses(db, path) | suppression.uses(text, strange), choice(db, path).off
    runs = (*runs_of(db, path), *(presumed(db, path, index) for index in presuming(db, path)))
    is_whole = not module(db, path).holes and not any(run.out_of_fuel for run in runs)
    if is_whole and any(suppression.unused(text, used, RULES, off)):
        for other in sorted(looked_at_together(db) - {path}):
            if path in reach(db, other):
                used |= uses(db, other)
        told += suppression.unused(text, used, RULES, off)
    return tuple(told)


@query(eager=1)
def left_out(db: Database, path: str) -> tuple[Finding, ...]:
    """The stretches of a file that do not parse."""
    cut = module(db, path)
    return tuple(syntax_error.findings(path, cut.text, cut.holes.items()))


@query
def recalled(db: Database, path: str) -> tuple[Finding, ...] | None:
    """The findings of an earlier run, where nobody has asked for those of the file yet and they still hold."""
    world = world_of(db)
    if path in world.looked_back:
        return None
    world.looked_back.add(path)
    return world.recall(path, partial(source, db), partial(choice, db), partial(looked_at_together, db))


@query
def findings(db: Database, path: str) -> tuple[Finding, ...]:
    """What is left of the findings once comments and choices have spoken."""
    if is_too_large(db, path):
        return (file_too_large.finding(path, MOST_TEXT),)
    earlier = recalled(db, path)
    if earlier is not None:
        return earlier
    loud = [finding for finding in (*found(db, path), *left_out(db, path)) if not is_silenced(db, finding)]
    chosen = (as_chosen(choice(db, f.place.path), f) for f in (*loud, *about_comments(db, path)))
    told = unsettled([finding for finding in chosen if finding is not None], RULES)
    return tuple(sorted(told, key=lambda f: (f.place, f.code)))


def importers(db: Database, path: str) -> list[str]:
    """The files that are looked at with one and import it."""
    return [other for other in sorted(looked_at_together(db) - {path}) if path in reach(db, other)]


@query
def sightings(db: Database, path: str) -> tuple[Sighting, ...]:
    """What one file shows of the findings of its own runs, and of those that are looked at with it and import it."""
    seen: dict[tuple[object, ...], Sighting] = {}
    found = [finding for there in (path, *importers(db, path)) for finding in findings(db, there)]
    says_less = told_better(found)
    for finding in found:
        place = seen_from(path, finding)
        if place is not None and not says_less(finding):
            raised = finding.raises and finding.raises.place
            seen.setdefault((finding.code, finding.place, raised), Sighting(finding, place))
    return tuple(sorted(seen.values(), key=lambda sighting: (sighting.place, sighting.finding.code)))


def seen_from(path: str, finding: Finding) -> Place | None:
    """Where a file shows a finding: at the cause, else where torch raises, else at the last step of the trace there."""
    raised = () if finding.raises is None else (finding.raises.place,)
    steps = (step.place for step in reversed(finding.related))
    return next((place for place in (finding.place, *raised, *steps) if place.path == path), None)


def is_silenced(db: Database, finding: Finding) -> bool:
    path = finding.place.path
    text = comments_of(db, path) if choice(db, path).heeds_comments else None
    return text is not None and bool(text.silencing(finding))


def as_chosen(chosen: Choice, finding: Finding) -> Finding | None:
    """None where the rule is off. What the program itself expects to raise stays a remark."""
    if finding.code in chosen.off:
        return None
    expected = finding.raises is not None and finding.raises.expected
    severity = dict(chosen.severities).get(finding.code)
    return finding if severity is None or expected else replace(finding, severity=severity)


@query
def backwards(db: Database, path: str) -> tuple[Backward, ...]:
    """How far the backwards of a file's runs are understood."""
    if is_too_large(db, path):
        return ()
    further = [presumed(db, path, index).seen for index in presuming(db, path)]
    return tuple(grasp.backwards(path, runs_of(db, path), further, Positions(db)))


@query
def facts(db: Database, path: str) -> tuple[Fact, ...]:
    bindings: dict[tuple[Loc, str], Binding] = {}
    hidden: set[tuple[Loc, str]] = set()
    for run in runs_of(db, path, everything=True):
        told = {(binding.loc, binding.name): binding for binding in run.bindings}
        # What one run could not know no other run knows of all visits.
        bindings.update({key: binding for key, binding in told.items() if key not in bindings and key not in hidden})
        hidden |= run.hidden_facts.keys()
    places = Positions(db)
    out = [
        Fact(places.place(b.loc), b.scope, b.name, b.requires_grad, b.is_leaf, b.grad_fn, b.shape, b.dtype)
        for b in bindings.values()
    ]
    return tuple(sorted(out, key=lambda f: (f.place, f.name)))


@query
def occurrences(db: Database, path: str) -> tuple[Occurrence, ...]:
    """The names in a file that give tensors."""
    if not concerns(db, path):
        return ()
    places = Positions(db)
    found = ((places.place(loc), traits) for loc, traits in watched(db, path).seen.items() if traits is not None)
    return tuple(
        Occurrence(place, traits.requires_grad, traits.is_leaf, traits.is_detached)
        for place, traits in sorted(found, key=lambda one: one[0])
    )


@query
def calls(db: Database, path: str) -> tuple[Call, ...]:
    """The calls from a file's functions and of them, in its own runs and in those of the files that are looked at with
    it and import it."""
    places = Positions(db)
    found = dict.fromkeys(
        Call(_routine(places, one.caller), places.place(one.loc), _routine(places, one.callee))
        for there in (path, *importers(db, path))
        for one in watched(db, there).calls
        if path in {one.caller.module, one.callee.module}
    )
    return tuple(sorted(found, key=lambda call: call.place))


def _routine(places: Positions, body: Body) -> Routine:
    place = None if body.loc is None else places.place(body.loc)
    name = None if body.name is None else places.place(body.name)
    return Routine(body.module, body.qualname, place, name, body.is_method)


@query
def lost(db: Database, path: str) -> tuple[Lost, ...]:
    """The names of which some run knows nothing, and no run more."""
    known = {(binding.loc, binding.name) for run in runs_of(db, path, everything=True) for binding in run.bindings}
    hidden = {key: one for run in runs_of(db, path, everything=True) for key, one in run.hidden_facts.items()}
    places = Positions(db)
    return tuple(
        Lost(places.place(loc), one.scope, name, places.place(lost_at(one.lineage) or loc))
        for (loc, name), one in hidden.items()
        if one is not None and (loc, name) not in known
    )


def graph(db: Database, path: str, offset: int, name: str | None) -> Graph | None:
    """Of what is bound to `name` on the line, the last; else of what it is when it is read there last.

    If a part of it is not known, it is what it is if inputs that nobody knows are data without a graph.
    """
    certain = _graph(db, path, offset, name, presume=False)
    if certain is None or not _leads_nowhere(certain):
        return certain
    likely = _graph(db, path, offset, name, presume=True)
    return certain if likely is None or _leads_nowhere(likely) else likely


def _leads_nowhere(graph: Graph) -> bool:
    return any(node.kind == "unknown" for node in graph.nodes)


def _graph(db: Database, path: str, offset: int, name: str | None, *, presume: bool) -> Graph | None:
    places = Positions(db)
    offsets = [offset] if name is None else _last_first(source(db, path) or b"", offset, name.encode())
    recorded = [found for at in offsets for found in recorded_at(db, path, at, presume=presume)]
    for get in (name_at,) if name is None else (bound_at, name_at):
        for recording, key, inside in recorded:
            spot = get(recording, key, inside)
            found = None if spot is None else graph_of_spot(recording, spot, places)
            if found is not None and name in {None, found.name}:
                return found
    return None


def _last_first(text: bytes, offset: int, name: bytes) -> list[int]:
    """Where `name` stands on the line of `offset`."""
    start, end = text.rfind(b"\n", 0, offset) + 1, text.find(b"\n", offset)
    found: list[int] = []
    at = text.find(name, start) if name else -1
    while 0 <= at < (len(text) if end < 0 else end):
        found.append(at)
        at = text.find(name, at + 1)
    return found[::-1]
