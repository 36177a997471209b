"""Provisional."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.machine.events import Modified, Raised
from analyzers.rules.base import Draft, Facts, Rule


def check(facts: Facts) -> Iterator[Draft]:
    for event in facts.of(Raised):
        if not isinstance(event.cause, Modified) and event.exception not in ("KeyError",):
            yield Draft(event.site.loc, event.message, event)


RULE = Rule("AG199", "provisional", "", check, "provisional")
