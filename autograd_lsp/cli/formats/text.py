"""Findings for a person at a terminal; plain text when the output goes elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from analyzers.report import RANKS, Backward, Finding
from autograd_lsp.cli.formats.excerpt import Mark, excerpt
from autograd_lsp.cli.formats.wording import Wording, plural, statistics_lines
from autograd_lsp.config.selectors import matching
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.sinks import first_printable, printable
from autograd_lsp.text.urls import rule_page

_COLOURS = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}


def write(
    stream: TextIO, reports: Sequence[Report], statistics: bool, notes: Sequence[str] = (), coverage: bool = False
) -> None:
    """Colours are for terminals, and for those who ask (`FORCE_COLOR`), unless they decline (`NO_COLOR`)."""
    is_file = stream is not sys.stdout
    console = Console(
        file=stream,
        force_terminal=False if is_file else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
    for report in reports:
        writer = Writer(report, has_links=stream.isatty())
        for finding in report.findings:
            console.print(writer.finding(finding))
    if statistics:
        for line in statistics_lines(reports):
            console.print(line)
    if coverage:
        for report in reports:
            for backward in report.backwards:
                console.print(grasped(report, backward))
    for note in notes:
        console.print(note)
    if (understood := understanding(reports)) is not None:
        console.print(understood)
    console.print(_summary(reports))


def grasped(report: Report, backward: Backward) -> Text:
    """A line on one backward: how far it is understood, and what is missing."""
    words = Wording(report, Texts(report))
    since = "" if backward.since is None else f", since {words.where(backward.since)}"
    about = f": {backward.about}{since}" if backward.about else ""
    return Text(f"{words.where(backward.place)}: {backward.grasp}{about}")


def understanding(reports: Sequence[Report]) -> Text | None:
    """How many backwards are understood, and of the first that is not, why; nothing where all are."""
    all_told = [(report, backward) for report in reports for backward in report.backwards]
    left = [(report, backward) for report, backward in all_told if backward.grasp != "followed"]
    if not left:
        return None
    counts = Counter(backward.grasp for _, backward in all_told)
    told = [f"{counts[grasp]} {grasp}" for grasp in ("followed", "in part", "lost") if counts[grasp]]
    first = min(left, key=lambda pair: -RANKS[pair[1].grasp])
    calls = plural(len(all_told), "backward call")
    return Text(f"{calls}: {', '.join(told)} ({grasped(*first)}).")


def _summary(reports: Sequence[Report]) -> Text:
    findings = [finding for report in reports for finding in report.findings]
    files = plural(len(reports), "file")
    if not findings:
        return Text(f"No findings in {files}.", "" if any(report.failure for report in reports) else "green")
    counts = [
        plural(count, severity if severity != "info" else "hint")
        for severity in _COLOURS
        if (count := sum(finding.severity == severity for finding in findings))
    ]
    return Text(f"Found {', '.join(counts)} in {files}.", "bold")


class Writer:
    def __init__(self, report: Report, has_links: bool) -> None:
        self.texts = Texts(report)
        self.words = Wording(report, self.texts)
        self.has_links = has_links

    def finding(self, finding: Finding) -> Text:
        result = Text()
        result.append(f"{first_printable(self.words.where(finding.place))}: ", "bold")
        result.append(f"{finding.severity}[{finding.code}]", self.style(finding))
        result.append(f" {printable(finding.message)} ").append(f"({finding.name})\n", "dim")
        result.append_text(self.excerpts(finding))
        if finding.raises is not None:
            result.append_text(self.remark(finding, self.words.raises(finding.raises)))
        if finding.assumes:
            result.append_text(self.remark(finding, self.words.assumed(finding)))
        for fix in finding.fixes:
            result.append_text(self.remark(finding, self.words.fix(fix), "green"))
        return result

    def excerpts(self, finding: Finding) -> Text:
        """The lines of the finding's place and of its trace, by file or cell."""
        result = Text()
        gutter = self.gutter(finding)
        for shown, (index, marks) in self.marks(finding).items():
            if shown != self.words.file_or_cell(self.texts.spot(finding.place)):
                result.append(f"{'':>{gutter}}--> {printable(shown)}\n", "blue")
            if index.text:
                result.append_text(excerpt(index, marks, gutter))
        return result

    def remark(self, finding: Finding, words: str, style: str = "") -> Text:
        """A line below the excerpts."""
        return Text().append(f"{'':>{self.gutter(finding)}} = ", "blue").append(printable(words) + "\n", style)

    def style(self, finding: Finding) -> Style:
        """A link to the rule's page, where a terminal can follow it."""
        link = rule_page(finding.name) if self.has_links and matching(finding.code) else None
        return Style.parse(_COLOURS[finding.severity]) + Style(link=link)

    def marks(self, finding: Finding) -> dict[str, tuple[LineIndex, list[Mark]]]:
        """By file or cell, the finding's own first. A step of the trace at the finding's own place is its label."""
        label = next((step.message for step in finding.related if step.place == finding.place), "")
        places = [(finding.place, label), *((s.place, s.message) for s in finding.related if s.place != finding.place)]
        marks: dict[str, tuple[LineIndex, list[Mark]]] = {}
        for place, message in places:
            spot = self.texts.spot(place)
            mark = Mark(spot.start, spot.end, printable(message), is_primary=not marks)
            marks.setdefault(self.words.file_or_cell(spot), (spot.index, []))[1].append(mark)
        return marks

    def gutter(self, finding: Finding) -> int:
        places = [finding.place, *(step.place for step in finding.related)]
        return max(len(str(self.texts.spot(place).begins.line)) for place in places)
