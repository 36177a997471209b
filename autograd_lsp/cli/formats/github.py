"""Findings as workflow commands of GitHub Actions, which show them beside the lines of a pull request.

```text
::error file=train.py,line=4,endLine=4,col=1,endColumn=10,title=AG104 saved-tensor-modified::...
```

A finding in a notebook is at the line of its JSON, and its message names the cell.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.regions import Region, Regions, path_from, project_folder
from autograd_lsp.cli.formats.wording import Wording, cell_words, statistics_lines
from autograd_lsp.reports.report import Report, Texts

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(
            encoding="utf-8", errors="backslashreplace"
        )  # whatever the terminal of the runner is said to speak
    folder = project_folder("GITHUB_WORKSPACE")
    for report in reports:
        for line in _commands(report, folder):
            print(line, file=stream)
    if beside.statistics:
        for line in statistics_lines(reports):
            print(line, file=stream)


def command(name: str, properties: dict[str, str], message: str) -> str:
    """One workflow command, on one line whatever is in it."""
    written = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{name} {written}::{_escaped(message)}"


def _commands(report: Report, folder: str) -> Iterator[str]:
    path = path_from(folder, report.source.path)
    if report.failure == "internal":
        yield command("error", {"file": path, "title": "internal error"}, report.traceback.strip())
    texts = Texts(report)
    regions, words = Regions(report, texts), Wording(report, texts)
    for finding in report.findings:
        message = finding.message + cell_words(texts.spot(finding.place))
        properties = {
            "file": path_from(folder, finding.place.path),
            **_lines_and_columns(regions.of(finding.place)),
            "title": f"{finding.code} {finding.name}",
        }
        yield command(_COMMANDS[finding.severity], properties, "\n".join([message, *words.details(finding)]))


def _lines_and_columns(region: Region) -> dict[str, str]:
    """Columns count within one line only."""
    lines = {"line": str(region.begins.line), "endLine": str(region.last_line)}
    if region.ends.line > region.begins.line:
        return lines
    return {**lines, "col": str(region.begins.column), "endColumn": str(region.ends.column)}


def _escaped(text: str, more: str = "") -> str:
    """The percent sign first, as all others are made of it. A runner turns these back, and no others."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
