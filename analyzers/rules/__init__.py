"""The rules. The directory is the registry: every module that defines a `RULE` is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from analyzers.machine.events import Plain, Raised
from analyzers.report import Edit, Finding, Fix, Raises, Related, Severity
from analyzers.rules.base import Draft, Facts, Places, Rule, Run


def _collect() -> tuple[Rule, ...]:
    found = []
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        rule = getattr(module, "RULE", None)
        if isinstance(rule, Rule):
            found.append(rule)
    return tuple(sorted(found, key=lambda r: r.code))


RULES: tuple[Rule, ...] = _collect()

ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


def judge(runs: Sequence[Run], presumed: Sequence[Run], places: Places) -> tuple[Finding, ...]:
    """All findings of several runs, each place and rule once, the gravest first where visits differ.

    What `presumed` runs find counts where the others found nothing.
    """
    found = _found(runs, places)
    known = {(f.code, f.place) for f in found} | {(f.code, f.raises.place) for f in found if f.raises is not None}
    for finding in _found(presumed, places):
        if (finding.code, finding.place) in known:
            continue
        if finding.raises is None or (finding.code, finding.raises.place) not in known:
            found.append(finding)
    return tuple(sorted(found, key=lambda f: (f.place, f.code)))


def _found(runs: Sequence[Run], places: Places) -> list[Finding]:
    found: dict[tuple[object, ...], Finding] = {}
    for run in runs:
        facts = Facts(run, places)
        for rule in RULES:
            for draft in rule.check(facts) if rule.check is not None else ():
                if draft.event is not None and _only_possible(draft.event, facts):
                    continue
                finding = _finding(rule, draft, facts)
                raised = finding.raises.place if finding.raises is not None else None
                key = (finding.code, finding.place, raised, finding.effect)
                old = found.get(key)
                if old is None or ORDER[finding.severity] < ORDER[old.severity]:
                    found[key] = finding
    return list(found.values())


def _only_possible(event: Raised, facts: Facts) -> bool:
    """An exception of the library's own checks, on a path that nothing says is taken."""
    return isinstance(event.cause, Plain) and event.cause.note == "library" and not facts.is_certain(event)


def _finding(rule: Rule, draft: Draft, facts: Facts) -> Finding:
    places = facts.places
    raises = None
    severity = draft.severity
    if draft.event is not None and not draft.event.outside:
        event = draft.event
        certain = facts.is_certain(event)
        severity = "info" if event.expected else "error" if certain else "warning"
        raises = Raises(
            places.place(event.site.loc),
            event.exception,
            event.message,
            certain,
            event.caught,
            event.expected,
        )
    related = tuple(Related(places.place(loc), text) for loc, text in draft.related)
    fixes = tuple(
        Fix(f.title, f.safe, tuple(Edit(places.place(loc), text) for loc, text in f.edits)) for f in draft.fixes
    )
    return Finding(
        rule.code, rule.name, severity, draft.message, places.place(draft.loc), raises, draft.effect, related, fixes
    )
