"""What every format for people says of a finding: where it is, what torch raises, which fixes there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from analyzers.report import Backward, Finding, Fix, Place, Raises
from autograd_lsp.files.sources import shown_path
from autograd_lsp.reports.report import Report, Spot, Texts


def count_by_rule(reports: Sequence[Report]) -> list[dict[str, Any]]:
    """Most frequent first."""
    counts = Counter((finding.code, finding.name) for report in reports for finding in report.findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"code": code, "name": name, "count": count} for (code, name), count in ordered]


def statistics_lines(reports: Sequence[Report]) -> Iterator[str]:
    for row in count_by_rule(reports):
        yield f"{row['count']:>6}  {row['code']}  {row['name']}"


_MOST_OF_CALL = 32


def shortened(source: str) -> str:
    """A call in one line, without its arguments where they are long."""
    line = " ".join(source.split())
    return line if len(line) <= _MOST_OF_CALL else f"{line.partition('(')[0][:_MOST_OF_CALL]}(…)"


def cell_words(spot: Spot) -> str:
    """For a message that is shown beside a line of a notebook's JSON."""
    return "" if spot.cell is None else f" (cell {spot.cell}, line {spot.begins.line})"


class Wording:
    """The words for the findings of one report."""

    def __init__(self, report: Report, texts: Texts) -> None:
        self.source = report.source
        self.texts = texts

    def path(self, path: str) -> str:
        return self.source.shown if path == self.source.path else shown_path(path)

    def file_or_cell(self, spot: Spot) -> str:
        path = self.path(spot.path)
        return path if spot.cell is None else f"{path}:cell {spot.cell}"

    def where(self, place: Place) -> str:
        """`train.py:4:1`, or `learn.ipynb:cell 5:2:1`."""
        spot = self.texts.spot(place)
        return f"{self.file_or_cell(spot)}:{spot.begins.line}:{spot.begins.column}"

    def raises(self, raises: Raises) -> str:
        spot = self.texts.spot(raises.place)
        line = f"line {spot.begins.line}"
        where = line if spot.cell is None else f"cell {spot.cell}, {line}"
        where = where if spot.path == self.source.path else f"{self.file_or_cell(spot)}:{spot.begins.line}"
        verb = "raises" if raises.certain else "may raise"
        note = ", as the program expects" if raises.expected else ", which the program catches" if raises.caught else ""
        where += "" if raises.iteration == 1 else f" in iteration {raises.iteration}"
        return f"torch {verb} {raises.exception} at {where}{raises.said}{note}"

    def called(self, calls: Sequence[Place]) -> str:
        """The calls through which a trace goes, the innermost first."""
        told = dict.fromkeys(map(self.call, calls))
        return f"called through {', '.join(told)}"

    def call(self, place: Place) -> str:
        """`` `main()` in line 87 ``, with the file where that is another one."""
        spot = self.texts.spot(place)
        text = spot.index.text.encode("utf-8", "surrogateescape")[spot.start : spot.end]
        source = shortened(text.decode(errors="replace"))
        line = spot.begins.line
        is_here = spot.path == self.source.path and spot.cell is None
        return f"`{source}` in line {line}" if is_here else f"`{source}` in {self.file_or_cell(spot)}:{line}"

    def about(self, backward: Backward) -> str:
        """What is missing to understand a backward."""
        since = "" if backward.since is None else f", since {self.where(backward.since)}"
        return f"{backward.about}{since}" if backward.about else ""

    def help(self, fix: Fix) -> str:
        return f"{fix.title}{' [*]' if fix.safe else ' (to review)'}"

    def fix(self, fix: Fix) -> str:
        return f"{'fix' if fix.safe else 'fix to review'}: {fix.title}"

    def assumed(self, finding: Finding) -> str:
        """What a finding rests on, in one line."""
        *first, last = dict.fromkeys(step.message for step in finding.assumes)
        return f"assumed: {', '.join(first)} and {last}" if first else f"assumed: {last}"

    def details(self, finding: Finding) -> Iterator[str]:
        """A line for each step of the trace, for what torch raises and for each fix."""
        for step in finding.related:
            yield f"{self.where(step.place)}: {step.message}"
        if finding.raises is not None:
            yield self.raises(finding.raises)
        if finding.assumes:
            yield self.assumed(finding)
        for fix in finding.fixes:
            yield self.fix(fix)
