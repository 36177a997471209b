"""Findings for a person at a terminal; plain text when the output goes elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import TextIO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from analyzers.report import CALLED, RANKS, Backward, Finding, Fix, Grasp, Place, Related
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.changed import changed_lines
from autograd_lsp.cli.formats.excerpt import Mark, excerpt
from autograd_lsp.cli.formats.wording import Wording, statistics_lines
from autograd_lsp.config.selectors import matching
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.sinks import first_printable, printable
from autograd_lsp.text.urls import rule_page
from autograd_lsp.text.words import plural

_GRASPS: dict[Grasp, str] = {"in part": "followed in part", "lost": "not followed"}
"""What is said of backwards that are not understood."""

_COLOURS = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    write_with(Writer.finding, stream, reports, beside)


def write_with(
    shown: Callable[[Writer, Finding], Text], stream: TextIO, reports: Sequence[Report], beside: Beside
) -> None:
    """`shown` says how a finding is."""
    console = _console(stream, beside.color)
    for report in reports:
        writer = Writer(report, has_links=stream.isatty())
        for finding in report.findings:
            console.print(shown(writer, finding))
    for line in () if beside.is_quiet else _below(reports, beside):
        console.print(line)


def _console(stream: TextIO, color: str) -> Console:
    """Colours are for terminals, and for those who ask (`FORCE_COLOR`), unless they decline (`NO_COLOR`)."""
    by_itself = False if stream is not sys.stdout else None
    return Console(
        file=stream,
        force_terminal={"auto": by_itself, "always": True, "never": False}[color],
        no_color={"auto": None, "always": False, "never": True}[color],
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def _below(reports: Sequence[Report], beside: Beside) -> Iterator[Text | str]:
    """What there is to say of all the findings together."""
    if beside.statistics:
        yield from statistics_lines(reports)
    if beside.coverage:
        yield from (grasped(report, backward) for report in reports for backward in report.backwards)
    yield from beside.notes
    if (pointer := _pointer(reports)) is not None:
        yield pointer
    if (understood := understanding(reports)) is not None:
        yield understood
    yield _summary(reports)
    if (mendable := _mendable(reports)) is not None:
        yield mendable


def grasped(report: Report, backward: Backward) -> Text:
    """A line on one backward: how far it is understood, and what is missing."""
    words = Wording(report, Texts(report))
    about = words.about(backward)
    return Text(f"{words.where(backward.place)}: {backward.grasp}{f': {about}' if about else ''}")


def understanding(reports: Sequence[Report]) -> Text | None:
    """How many backwards are understood, and of the first that is not, why; nothing where all are."""
    all_told = [(report, backward) for report in reports for backward in report.backwards]
    left = [(report, backward) for report, backward in all_told if backward.grasp != "followed"]
    if not left:
        return None
    counts = Counter(backward.grasp for _, backward in left)
    told = [
        f"{count} {'was' if count == 1 else 'were'} {words}"
        for grasp, words in _GRASPS.items()
        if (count := counts[grasp])
    ]
    report, first = min(left, key=lambda pair: -RANKS[pair[1].grasp])
    words = Wording(report, Texts(report))
    return Text(
        f"Of {plural(len(all_told), 'backward call')}, {' and '.join(told)}, so faults may be missed: "
        f"{words.where(first.place)}, {words.about(first)}.{' `--coverage` lists them.' if len(left) > 1 else ''}"
    )


def _summary(reports: Sequence[Report]) -> Text:
    findings = [finding for report in reports for finding in report.findings]
    if not findings:
        unread = any(report.failure for report in reports)
        return Text(f"No findings in {plural(len(reports), 'file')}.", "" if unread else "green")
    files = plural(sum(bool(report.findings) for report in reports), "file")
    counts = [
        plural(count, severity if severity != "info" else "hint")
        for severity in _COLOURS
        if (count := sum(finding.severity == severity for finding in findings))
    ]
    return Text(f"Found {', '.join(counts)} in {files}.", "bold")


def _mendable(reports: Sequence[Report]) -> Text | None:
    findings = [finding for report in reports for finding in report.findings]
    fixable = sum(any(fix.safe for fix in finding.fixes) for finding in findings)
    more = sum(bool(finding.fixes) for finding in findings) - fixable
    if fixable:
        return Text(f"[*] {fixable} fixable with `--fix`{f', {more} more with `--unsafe-fixes`' if more else ''}.")
    return Text(f"{more} fixable with `--fix --unsafe-fixes`.") if more else None


def _pointer(reports: Sequence[Report]) -> Text | None:
    """Where there is more to read of the rules that have found something."""
    codes = sorted({finding.code for report in reports for finding in report.findings if matching(finding.code)})
    if not codes:
        return None
    more = f" (or {', '.join(codes[1:])})" if len(codes) > 1 else ""
    return Text(f"More about a rule: `autograd-lsp rule {codes[0]}`{more}.", "dim")


def _help(words: str) -> Text:
    return Text().append("help", "bold green").append(f": {printable(words)}\n")


class Writer:
    def __init__(self, report: Report, has_links: bool) -> None:
        self.texts = Texts(report)
        self.words = Wording(report, self.texts)
        self.has_links = has_links

    def finding(self, finding: Finding) -> Text:
        """The message, the place, the lines that matter, what comes of it, and what helps."""
        result = Text().append(f"{finding.severity}[{finding.code}]", self.style(finding))
        result.append(f": {printable(finding.message)}\n", "bold")
        helps = [self.help(finding, fix) for fix in finding.fixes]
        if finding.advice:
            helps = [_help(finding.advice)]
        return Text().join([result, self.shown(finding), *helps])

    def shown(self, finding: Finding) -> Text:
        """All below the message, but for what helps."""
        margin = " " * self.gutter(finding)
        result = Text().append(f"{margin}--> ", "blue")
        result.append(f"{first_printable(self.words.where(finding.place))}\n")
        result.append_text(self.excerpts(finding))
        for words in self.remarks(finding):
            result.append(f"{margin} = ", "blue").append(printable(words) + "\n")
        return result

    def help(self, finding: Finding, fix: Fix) -> Text:
        """With the lines as they are to become."""
        result, gutter = _help(self.words.help(fix)), self.gutter(finding)
        for line in changed_lines(self.texts, fix):
            number = line.number if line.path == finding.place.path else f"{self.words.path(line.path)}:{line.number}"
            colour = {"+": "green", "-": "red", "|": "blue"}[line.sign]
            result.append(f"{number:>{gutter}} {line.sign} ", colour).append(f"{printable(line.text)}\n")
        return result

    def line(self, finding: Finding) -> Text:
        """All in one line."""
        result = Text().append(f"{first_printable(self.words.where(finding.place))}: ", "bold")
        result.append(f"{finding.severity}[{finding.code}]", self.style(finding))
        result.append(" [*]" if any(fix.safe for fix in finding.fixes) else "", "green")
        return result.append(f" {printable(finding.message)}")

    def remarks(self, finding: Finding) -> Iterator[str]:
        if calls := self.chain(finding):
            yield self.words.called(calls)
        if finding.raises is not None:
            yield self.words.raises(finding.raises)
        if finding.assumes:
            yield self.words.assumed(finding)
        elif finding.raises is not None and not finding.raises.certain and not finding.raises.expected:
            yield "not certain: a condition that is not known decides whether the program gets there"

    def chain(self, finding: Finding) -> list[Place]:
        """The calls that led to the first place of the trace that calls lead to."""
        calls = [step.place if self.is_call(finding, step) else None for step in finding.related]
        begun = list(dropwhile(lambda call: call is None, calls))
        return [call for call in takewhile(lambda call: call is not None, begun) if call is not None]

    def excerpts(self, finding: Finding) -> Text:
        """The lines of the finding's place and of its trace, by file or cell."""
        result = Text()
        gutter = self.gutter(finding)
        for number, (shown, (index, marks)) in enumerate(self.marks(finding).items()):
            if number:
                result.append(f"{'':>{gutter}}--> ", "blue").append(f"{printable(shown)}\n")
            if index.text:
                result.append_text(excerpt(index, marks, gutter))
        return result

    def style(self, finding: Finding) -> Style:
        """A link to the rule's page, where a terminal can follow it."""
        link = rule_page(finding.name) if self.has_links and matching(finding.code) else None
        return Style.parse(_COLOURS[finding.severity]) + Style(link=link)

    def is_call(self, finding: Finding, step: Related) -> bool:
        """Whether a step of the trace is told in a line below it."""
        return step.message == CALLED and step.place != finding.place

    def marked(self, finding: Finding) -> list[tuple[Place, str]]:
        """The places that are shown, the finding's own first. A step of the trace there is its label."""
        label = next((step.message for step in finding.related if step.place == finding.place), "")
        others = [step for step in finding.related if step.place != finding.place and not self.is_call(finding, step)]
        return [(finding.place, label), *((step.place, step.message) for step in others)]

    def marks(self, finding: Finding) -> dict[str, tuple[LineIndex, list[Mark]]]:
        """By file or cell, the finding's own first."""
        marks: dict[str, tuple[LineIndex, list[Mark]]] = {}
        for place, message in self.marked(finding):
            spot = self.texts.spot(place)
            mark = Mark(spot.start, spot.end, printable(message), is_primary=not marks)
            marks.setdefault(self.words.file_or_cell(spot), (spot.index, []))[1].append(mark)
        return marks

    def gutter(self, finding: Finding) -> int:
        return max(len(str(self.texts.spot(place).begins.line)) for place, _ in self.marked(finding))
