"""Turns drafts into judgements and judgements into findings: their severity, and which ones are the same fault.

A statement that raises on every path is an error; one that raises on some paths is a warning. What several visits or
callers found at one place becomes one finding, with the highest severity among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from analyzers.domain.lineage import Loc, number_of
from analyzers.drafting.base import Draft, Facts, Judgement, Places, RaisedAt, Rule, Run
from analyzers.drafting.edits.layout import laid_out
from analyzers.drafting.words import said
from analyzers.machine.core.causes import Raised
from analyzers.machine.core.events import Presumption
from analyzers.report import Finding, Fix, Place, Raises, Related, Severity

ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}

MOST_CONDITIONS = 4
"""The most undecided conditions on the way to a warning."""


def judge(rules: Sequence[Rule], run: Run, places: Places) -> tuple[Judgement, ...]:
    """What rules find in one run."""
    facts = Facts(run, places)
    drafts = ((rule, draft) for rule in rules if rule.check is not None for draft in rule.check(facts))
    return _gravest(
        _judgement(rule, draft, facts)
        for rule, draft in drafts
        if draft.event is None or not (facts.is_only_possible(draft.event) or _is_far_fetched(draft.event, facts))
    )


def _is_far_fetched(event: Raised, facts: Facts) -> bool:
    """Whether an exception waits for more conditions to come out so than a run is likely to bring together, or for a
    case that `if` and `elif` do not list."""
    if facts.is_certain(event):
        return False
    return len(list(facts.conditions_of(event))) > MOST_CONDITIONS or facts.is_unlikely(event)


def together(runs: Iterable[Sequence[Judgement]], presumed: Iterable[Sequence[Judgement]]) -> tuple[Judgement, ...]:
    """Each place and rule once; where runs differ, the most severe judgement wins.

    What `presumed` runs find counts where the others found nothing; remarks are made only where models are known.
    """
    found = _gravest(judgement for run in runs for judgement in run)
    known = {(j.code, j.loc) for j in found} | {(j.code, j.raises.loc) for j in found if j.raises is not None}
    return found + tuple(
        j
        for j in _gravest(judgement for run in presumed for judgement in run)
        if not (j.severity == "info" and j.assumes)
        and (j.code, j.loc) not in known
        and (j.raises is None or (j.code, j.raises.loc) not in known)
    )


def _gravest(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Each fault once: of what one place makes certain each exception, of what it may lead to the first."""
    found: dict[tuple[object, ...], Judgement] = {}
    for judgement in judgements:
        old = found.get(judgement.key)
        if old is None or ORDER[judgement.severity] < ORDER[old.severity]:
            found[judgement.key] = judgement
    places: dict[tuple[str, Loc], Judgement] = {}
    for judgement in sorted(found.values(), key=lambda one: ORDER[one.severity]):
        places.setdefault((judgement.code, judgement.loc), judgement)
    return tuple(one for one in found.values() if one.severity == "error" or places[one.code, one.loc] is one)


def _judgement(rule: Rule, draft: Draft, facts: Facts) -> Judgement:
    raises = None
    severity = draft.severity
    if draft.event is not None and not draft.event.outside:
        event = draft.event
        certain = facts.is_certain(event) and not facts.run.presumptions
        severity = "info" if event.expected else "error" if certain else "warning"
        raises = RaisedAt(
            event.site.loc,
            event.exception,
            "" if event.contested else event.message,
            certain,
            event.caught,
            event.expected,
            max((number_of(index) for _, index in event.site.iterations), default=1),
        )
    judged = Judgement(
        rule.code, rule.name, severity, draft.message, draft.loc, raises, draft.effect, draft.related, draft.fixes,
        advice=draft.advice,
    )  # fmt: skip
    presumed = facts.run.presumptions
    if presumed:
        return replace(judged, assumes=tuple(_assumed(judged, presumed)))
    if draft.event is not None and severity == "warning":
        return replace(judged, assumes=tuple(_conditions(draft.event, facts)))
    return judged


def _conditions(event: Raised, facts: Facts) -> Iterator[tuple[Loc, str]]:
    for loc, outcome in sorted(facts.conditions_of(event)):
        yield loc, f"{said(facts, loc)} is {'true' if outcome else 'false'}"


def _assumed(judgement: Judgement, presumptions: Iterable[Presumption]) -> Iterator[tuple[Loc, str]]:
    """What the run presumed in the functions that a judgement speaks of."""
    raised = [] if judgement.raises is None else [judgement.raises.loc]
    told = [judgement.loc, *raised, *(loc for loc, _ in judgement.related)]
    chunks = {(loc.module, loc.chunk) for loc in told}
    near = (p for p in presumptions if (p.loc.module, p.loc.chunk) in chunks)
    return ((p.loc, p.message) for p in near if judgement.raises is not None or not p.of_data)


def placed(judgement: Judgement, places: Places) -> Finding:
    """A judgement as a finding in files."""
    at = judgement.raises
    raises = None
    if at is not None:
        raises = Raises(
            places.place(at.loc), at.exception, at.message, at.certain, at.caught, at.expected, at.iteration
        )
    drafts = ((fix, laid_out(fix.edits, places)) for fix in judgement.fixes)
    fixes = tuple(Fix(fix.title, fix.safe, edits) for fix, edits in drafts if edits is not None)
    return Finding(
        judgement.code,
        judgement.name,
        judgement.severity,
        judgement.message,
        places.place(judgement.loc),
        raises,
        judgement.effect,
        tuple(Related(places.place(loc), text) for loc, text in judgement.related),
        fixes,
        tuple(Related(places.place(loc), text) for loc, text in judgement.assumes),
        "" if fixes else judgement.advice,
    )


def unsettled(findings: Sequence[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Without those that follow from others among them which weigh as much."""
    settles = {rule.code: rule.settles for rule in rules if rule.settles}
    settled: dict[tuple[str, Place], int] = {}
    for finding in findings:
        weight = ORDER[finding.severity]
        for code in settles.get(finding.code, ()):
            for place in (finding.place, *(step.place for step in finding.related)):
                settled[code, place] = min(weight, settled.get((code, place), weight))
    least = max(ORDER.values()) + 1
    return [one for one in findings if ORDER[one.severity] < settled.get((one.code, one.place), least)]
