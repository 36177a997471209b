"""From a log to answers: what was raised, what it means, and what in the program caused it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from analyzers.report import Fix, Place, Related
from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import Source
from autograd_lsp.reports.make import make_reports
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.why import around
from autograd_lsp.why.log import Raised, read_log
from autograd_lsp.why.match import HERE, LEADS_THERE, Match, matches
from autograd_lsp.why.messages import Reading, find_message, read_message
from autograd_lsp.why.program import Finder, Located, entry_of, is_library

MOST_EXCEPTIONS = 100
"""How many exceptions of one log are explained, the last ones."""
_MOST_FILES = 4
"""How many files of one traceback are analysed."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One explanation. `report` has the texts that its places lie in."""

    report: Report
    code: str
    name: str
    message: str
    certain: bool
    place: Place
    trace: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """`causes` are ranked; without any, the message alone is explained."""

    raised: Raised
    code: str
    reading: Reading | None
    at: Located | None
    """The innermost line in the user's own files, if it was found."""
    missing: tuple[str, ...]
    """The user's files that were not found, or may not be read."""
    outside: tuple[str, ...] = ()
    """Those of them that may not be read."""
    causes: tuple[Cause, ...] = ()
    is_past: bool = False
    """Whether the program, as it is now, was followed through the line that raised, and nothing raises there."""


@dataclass(frozen=True, slots=True)
class Told:
    """An exception from the log, with what is known about it before any file is read."""

    raised: Raised
    reading: Reading | None


def told_in(text: str) -> list[Told]:
    """Every exception, or an autograd message that appears without a traceback."""
    told = [Told(raised, _read(raised)) for raised in read_log(text)]
    if not any(item.reading for item in told) and (message := find_message(text)) is not None:
        reading = read_message(message)
        if reading is not None:
            told.append(Told(Raised("", message.strip()), reading))
    return told


def answers(
    told: Sequence[Told],
    finder: Finder,
    configuration: Configuration,
    *,
    every: bool,
    cached: bool,
    within: str | None = None,
) -> Iterator[Answer]:
    """The last autograd exception, or all of them in the order of the log; `within` is as in `make_reports`."""
    told = told[-MOST_EXCEPTIONS:]
    analysis = _Analysis(configuration, cached, within)
    found = (_answer(item, finder, analysis) for item in (told if every else reversed(told)))
    explained = (answer for answer in found if answer is not None)
    yield from explained if every else islice(explained, 1)


def _read(raised: Raised) -> Reading | None:
    lines = [frame.text for frame in raised.frames if frame.text]
    own = [frame.text for frame in raised.frames if frame.text and not is_library(frame)]
    line = own[-1] if own else lines[-1] if lines else ""
    return read_message(raised.message, raised.below, line)


@dataclass(slots=True)
class _Analysis:
    """What the analyzer finds in files, each of which is analysed once for a whole log."""

    configuration: Configuration
    cached: bool
    within: str | None
    reports: dict[str, Report | None] = field(default_factory=dict)

    def of(self, sources: Sequence[Source]) -> Iterator[Report]:
        """In their order, as long as somebody asks; none of a notebook in another language."""
        new = [source for source in sources if source.path not in self.reports]
        made = make_reports(new, "findings", 1, self.configuration, cached=self.cached, within=self.within)
        for source in sources:
            while source.path not in self.reports:
                report = next(made, None)
                self.reports[source.path if report is None else report.source.path] = report
            if (known := self.reports[source.path]) is not None:
                yield known

    def has_followed(self, located: Located) -> bool:
        """Whether the backwards on a line are understood in every run that came by them; there has to be one."""
        known = [report for report in self.reports.values() if report is not None]
        grasps = {
            backward.grasp
            for report in known
            for backward in report.backwards
            if backward.place.path == located.source.path
            and Texts(report)[backward.place.path].position(backward.place.start).line == located.line
        }
        return grasps == {"followed"}


def _answer(item: Told, finder: Finder, analysis: _Analysis) -> Answer | None:
    """None for an exception that has nothing to do with autograd."""
    raised, reading = item.raised, item.reading
    if reading is None and not _may_be_ours(raised):
        return None
    way = finder.locate(raised.frames)
    forward = finder.locate(raised.forward)
    ranked = _ranked(raised, reading, way, forward, finder, analysis)
    if reading is None and not ranked:
        return None
    causes = [_cause(match) for match in ranked]
    if reading is not None and way and not _is_explained(ranked):
        is_foreseen = bool(ranked) and ranked[0].grade < LEADS_THERE
        near = list(_around(reading, way, forward, line_itself=not is_foreseen))
        causes = [*causes, *near] if is_foreseen else [*near, *causes]
    code = causes[0].code if causes else reading.code if reading is not None else ""
    missing = _missing(raised, way)
    outside = tuple(path for path in missing if path in finder.outside)
    is_past = reading is not None and bool(way) and not ranked and analysis.has_followed(way[-1])
    return Answer(raised, code, reading, way[-1] if way else None, missing, outside, tuple(causes), is_past)


def _may_be_ours(raised: Raised) -> bool:
    """Whether the exception is a general one that a finding may still explain."""
    return raised.exception in ("AttributeError", "TypeError", "RuntimeError", "ValueError", "AssertionError")


def _ranked(
    raised: Raised,
    reading: Reading | None,
    way: Sequence[Located],
    forward: Sequence[Located],
    finder: Finder,
    analysis: _Analysis,
) -> list[Match]:
    found: dict[tuple[object, ...], Match] = {}
    for report in analysis.of(_sources(raised, way, finder)):
        if report.failure is not None:
            continue
        for match in matches(report, raised, reading, way, forward):
            key = match.finding.code, match.finding.place
            if key not in found or match.rank < found[key].rank:
                found[key] = match
        if any(match.grade == HERE for match in found.values()):
            break
    return sorted(found.values(), key=lambda match: match.rank)


def _sources(raised: Raised, way: Sequence[Located], finder: Finder) -> list[Source]:
    """The script that was run, then the traceback's files, innermost first."""
    entry = entry_of(raised, finder)
    files = [*([entry] if entry is not None else []), *reversed(way)]
    return list({located.source.path: located.source for located in files}.values())[:_MOST_FILES]


def _cause(match: Match) -> Cause:
    finding = match.finding
    return Cause(
        match.report, finding.code, finding.name, finding.message, match.certain, finding.place,
        finding.related, finding.fixes,
    )  # fmt: skip


def _is_explained(ranked: Sequence[Match]) -> bool:
    """Whether a finding says more than that this line raises."""
    if not ranked or ranked[0].grade >= LEADS_THERE:
        return False
    finding = ranked[0].finding
    return finding.raises is None or finding.place != finding.raises.place or bool(finding.fixes)


def _around(
    reading: Reading, way: Sequence[Located], forward: Sequence[Located], *, line_itself: bool
) -> Iterable[Cause]:
    for found in around.look(reading, way, forward, line_itself=line_itself):
        yield Cause(found.report, reading.code, "", found.message, False, found.place, found.trace)


def _missing(raised: Raised, way: Sequence[Located]) -> tuple[str, ...]:
    here = {located.frame for located in way}
    gone = (frame.path or f"In[{frame.cell}]" for frame in raised.frames if not is_library(frame) and frame not in here)
    return tuple(dict.fromkeys(gone))
