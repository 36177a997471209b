"""A tensor saved for backward is written in place before that backward runs."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.machine.events import Modified
from analyzers.rules.base import Draft, Facts, Rule


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(Modified):
        write = cause.writes[-1] if cause.writes else None
        loc = write.loc if write is not None and write.loc is not None else event.site.loc
        related = []
        if cause.node.loc is not None:
            related.append((cause.node.loc, f"`{cause.node.what}` saved it here"))
        yield Draft(loc, "written in place", event, related=tuple(related))


RULE = Rule("AG104", "saved-tensor-modified", "A tensor saved for backward is written in place", check, __doc__)
