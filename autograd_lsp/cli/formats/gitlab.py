"""Findings as GitLab's Code Quality reads them: a list of issues, with paths from the top of the repository.

An issue in a notebook is at the line of its JSON, and its description names the cell. The list has no room for
statistics: they go to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from analyzers.report import Finding
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.regions import Regions, path_from, project_folder
from autograd_lsp.cli.formats.wording import cell_words, statistics_lines
from autograd_lsp.reports.fingerprints import fingerprints
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.text.sinks import json_of


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    folder = project_folder("CI_PROJECT_DIR")
    stream.write(json_of([issue for report in reports for issue in _issues(report, folder)]) + "\n")
    if beside.statistics:
        for line in statistics_lines(reports):
            print(line, file=sys.stderr)


def severity(finding: Finding) -> str:
    """Worse is what stops the program, or spoils what it learns, than what costs memory and time."""
    raises, effect = finding.raises, finding.effect
    if finding.severity == "info":
        return "info"
    if finding.severity == "error":
        return "major" if raises is not None and raises.caught else "critical"
    return "major" if raises is not None or effect not in (None, "graph-grows") else "minor"


def _issues(report: Report, folder: str) -> Iterator[dict[str, Any]]:
    texts = Texts(report)
    regions = Regions(report, texts)
    prints = fingerprints(report.findings, lambda path: report.texts.get(path, ""), folder)
    for finding, fingerprint in zip(report.findings, prints, strict=True):
        region = regions.of(finding.place)
        yield {
            "description": finding.message + cell_words(texts.spot(finding.place)),
            "check_name": f"{finding.code} {finding.name}",
            "fingerprint": fingerprint,
            "severity": "blocker" if report.failure == "unreadable" else severity(finding),
            "location": {
                "path": path_from(folder, finding.place.path),
                "lines": {"begin": region.begins.line, "end": region.last_line},
            },
        }
