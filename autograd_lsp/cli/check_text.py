"""Findings for a person at a terminal; plain text when the output goes elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from analyzers.report import Finding, Fix, Raises
from autograd_lsp.cli.check_json import count_by_rule
from autograd_lsp.cli.excerpt import Mark, excerpt
from autograd_lsp.cli.reports import Report, Spot, Texts
from autograd_lsp.cli.sources import shown_path
from autograd_lsp.positions import LineIndex

_COLOURS = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}


def write(stream: TextIO, reports: Sequence[Report], statistics: bool) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for report in reports:
        writer = Writer(report)
        for finding in report.findings:
            console.print(writer.finding(finding))
    if statistics:
        for row in count_by_rule(reports):
            console.print(f"{row['count']:>6}  {row['code']}  {row['name']}")
    console.print(_summary(reports))


def _summary(reports: Sequence[Report]) -> Text:
    findings = [finding for report in reports for finding in report.findings]
    files = _plural(len(reports), "file")
    if not findings:
        return Text(f"No findings in {files}.", "" if any(report.failure for report in reports) else "green")
    counts = [
        _plural(count, severity if severity != "info" else "hint")
        for severity in _COLOURS
        if (count := sum(finding.severity == severity for finding in findings))
    ]
    return Text(f"Found {', '.join(counts)} in {files}.", "bold")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def kind_of(fix: Fix) -> str:
    return "fix" if fix.safe else "fix to review"


class Writer:
    def __init__(self, report: Report) -> None:
        self.source = report.source
        self.texts = Texts(report)

    def finding(self, finding: Finding) -> Text:
        spot = self.texts.spot(finding.place)
        result = Text()
        result.append(f"{self.shown(spot)}:{spot.begins.line}:{spot.begins.column}: ", "bold")
        result.append(f"{finding.severity}[{finding.code}]", _COLOURS[finding.severity])
        result.append(f" {finding.message} ").append(f"({finding.name})\n", "dim")
        result.append_text(self.excerpts(finding))
        if finding.raises is not None:
            result.append_text(self.remark(finding, self.raises(finding.raises)))
        for fix in finding.fixes:
            result.append_text(self.remark(finding, f"{kind_of(fix)}: {fix.title}", "green"))
        return result

    def excerpts(self, finding: Finding) -> Text:
        """The lines of the finding's place and of its trace, by file or cell."""
        result = Text()
        gutter = self.gutter(finding)
        for shown, (index, marks) in self.marks(finding).items():
            if shown != self.shown(self.texts.spot(finding.place)):
                result.append(f"{'':>{gutter}}--> {shown}\n", "blue")
            if index.text:
                result.append_text(excerpt(index, marks, gutter))
        return result

    def remark(self, finding: Finding, words: str, style: str = "") -> Text:
        """A line below the excerpts."""
        return Text().append(f"{'':>{self.gutter(finding)}} = ", "blue").append(words + "\n", style)

    def marks(self, finding: Finding) -> dict[str, tuple[LineIndex, list[Mark]]]:
        """By file or cell, the finding's own first. A step of the trace at the finding's own place is its label."""
        label = next((step.message for step in finding.related if step.place == finding.place), "")
        places = [(finding.place, label), *((s.place, s.message) for s in finding.related if s.place != finding.place)]
        marks: dict[str, tuple[LineIndex, list[Mark]]] = {}
        for place, message in places:
            spot = self.texts.spot(place)
            mark = Mark(spot.start, spot.end, message, is_primary=not marks)
            marks.setdefault(self.shown(spot), (spot.index, []))[1].append(mark)
        return marks

    def raises(self, raises: Raises) -> str:
        spot = self.texts.spot(raises.place)
        line = f"line {spot.begins.line}"
        where = line if spot.cell is None else f"cell {spot.cell}, {line}"
        where = where if spot.path == self.source.path else f"{self.shown(spot)}:{spot.begins.line}"
        verb = "raises" if raises.certain else "may raise"
        note = ", as the program expects" if raises.expected else ", which the program catches" if raises.caught else ""
        return f"torch {verb} {raises.exception}: {raises.message} at {where}{note}"

    def shown(self, spot: Spot) -> str:
        path = self.source.shown if spot.path == self.source.path else shown_path(spot.path)
        return path if spot.cell is None else f"{path}:cell {spot.cell}"

    def gutter(self, finding: Finding) -> int:
        places = [finding.place, *(step.place for step in finding.related)]
        return max(len(str(self.texts.spot(place).begins.line)) for place in places)
