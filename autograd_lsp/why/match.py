"""Compares the analyzer's findings with what torch raised.

A finding *matches* with a grade: it predicts this message at this line; the same message at another line of the
traceback; the message anywhere in the program; or, last, its rule's harm may lead to that message. Among equals, the
one whose places are on the traceback comes first, and with anomaly mode the one that knows the forward call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analyzers.report import Finding, Place
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.why.log import Raised
from autograd_lsp.why.messages import Reading
from autograd_lsp.why.program import Located

HERE, ON_THE_WAY, ELSEWHERE, LEADS_THERE = range(4)

_LEADS_TO = {
    "AG101": ("AG202", "AG203", "AG204", "AG205", "AG206", "AG209", "AG210", "AG401"),
    "AG102": ("AG401", "AG402", "AG404", "AG212"),
    "AG104": ("AG305", "AG207", "AG303"),
    "AG107": ("AG401",),
    "AG109": ("AG401",),
    "AG112": ("AG203", "AG205", "AG210"),
    "AG113": ("AG205", "AG206"),
    "AG115": ("AG204", "AG205"),
    "AG117": ("AG401",),
    "AG201": ("AG201", "AG203", "AG205", "AG206", "AG204", "AG306"),
}
"""By what a message stands for, the rules whose findings may end in it."""


@dataclass(frozen=True, slots=True)
class Match:
    report: Report
    finding: Finding
    grade: int
    """One of the four, the best first."""
    hits: int
    """How many of its places the traceback goes through."""
    knows_forward: bool

    @property
    def certain(self) -> bool:
        """Whether every run that comes to the line raises this there, by what the analyzer knows."""
        raises = self.finding.raises
        return self.grade == HERE and raises is not None and raises.certain

    @property
    def rank(self) -> tuple[object, ...]:
        raises = self.finding.raises
        swallowed = raises is not None and (raises.caught or raises.expected)
        return self.grade, not self.knows_forward, not self.certain, swallowed, -self.hits, self.finding.place


def matches(
    report: Report, raised: Raised, reading: Reading | None, way: Sequence[Located], forward: Sequence[Located]
) -> Iterator[Match]:
    """`way` are the user's own frames from the entry inwards, and none for an exception that nobody told the way of."""
    texts = Texts(report)
    lines = {(located.source.path, located.line) for located in way}
    seen = {(located.source.path, located.line) for located in forward}
    inner = way[-1] if way else None
    for finding in report.findings:
        grade = _grade(finding, raised, reading, texts, inner, lines)
        if grade is None:
            continue
        places = [finding.place, *(step.place for step in finding.related)]
        yield Match(report, finding, grade, _count(places, lines, texts), _count(places, seen, texts) > 0)


def _grade(
    finding: Finding,
    raised: Raised,
    reading: Reading | None,
    texts: Texts,
    inner: Located | None,
    lines: set[tuple[str, int]],
) -> int | None:
    raises = finding.raises
    if raises is not None and _is_said(raises.message, raised, reading):
        on = set(_lines(raises.place, texts))
        if inner is not None and (inner.source.path, inner.line) in on:
            return HERE
        if reading is None:
            return None
        return ON_THE_WAY if on & lines else ELSEWHERE
    if reading is not None and finding.code in _LEADS_TO.get(reading.code, ()) and raises is None:
        return LEADS_THERE
    return None


def _is_said(message: str, raised: Raised, reading: Reading | None) -> bool:
    """A finding knows the beginning of a message, without the part that varies."""
    said = reading.message if reading is not None else raised.message
    return said.startswith(message) or raised.message.startswith(message) or (len(message) > 20 and message in said)


def _count(places: Iterable[Place], lines: set[tuple[str, int]], texts: Texts) -> int:
    return sum(any(line in lines for line in _lines(place, texts)) for place in dict.fromkeys(places))


def _lines(place: Place, texts: Texts) -> list[tuple[str, int]]:
    index = texts[place.path]
    first, last = index.position(place.start).line, index.position(max(place.end - 1, place.start)).line
    return [(place.path, line) for line in range(first, min(last, first + 50) + 1)]
