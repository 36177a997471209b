"""The result of a check: the findings of all files, each once and under the file that it points to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from analyzers.report import RANKS, Backward, Finding, Place, told_better
from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import Source, shown_path
from autograd_lsp.reports.levels import LEVELS
from autograd_lsp.reports.report import Report


@dataclass(frozen=True, slots=True)
class Checked:
    """What is reported, by file; `unsteady` files were not the same to all who read them."""

    reports: list[Report]
    unsteady: frozenset[str]
    notes: tuple[str, ...] = ()
    rests_on: frozenset[str] = frozenset()


def by_file(reports: list[Report], configuration: Configuration) -> list[Report]:
    """Each finding under the file that it points into, once, whichever file's run came upon it.

    Nothing is said of a file that was not asked for and is excluded.
    """
    own = {report.source.path: report for report in reports}
    placed: dict[str, dict[tuple[object, ...], Finding]] = {path: {} for path in own}
    texts: dict[str, dict[str, str]] = {path: dict(report.texts) for path, report in own.items()}
    notebooks = {path: notebook for report in reports for path, notebook in report.notebooks.items()}
    grasped: dict[str, dict[Place, Backward]] = {}
    says_less = told_better(finding for report in reports for finding in report.findings)
    for report in reports:
        for backward in report.backwards:
            path = backward.place.path
            if path not in own:
                continue
            seen = grasped.setdefault(path, {})
            known_so_far = seen.get(backward.place)
            if known_so_far is None or RANKS[backward.grasp] < RANKS[known_so_far.grasp]:
                seen[backward.place] = backward
            texts[path].update(report.texts)
        for finding in report.findings:
            path = finding.place.path
            if says_less(finding) or (path not in own and configuration.excludes(path)):
                continue
            key = (finding.code, finding.place, finding.raises and finding.raises.place)
            known = placed.setdefault(path, {})
            if key not in known or LEVELS[finding.severity] < LEVELS[known[key].severity]:
                known[key] = finding
            texts.setdefault(path, {}).update(report.texts)
    return [
        replace(
            own.get(path) or Report(Source(shown_path(path), path)),
            findings=tuple(sorted(found.values(), key=lambda f: (f.place, f.code))),
            backwards=tuple(sorted(grasped.get(path, {}).values(), key=lambda b: b.place)),
            texts=texts[path],
            notebooks=notebooks,
        )
        for path, found in placed.items()
    ]


def unsteady(reports: Iterable[Report]) -> frozenset[str]:
    first: dict[str, str] = {}
    read = [(path, text) for report in reports for path, text in report.texts.items()]
    return frozenset(path for path, text in read if first.setdefault(path, text) != text)


def with_text(source: Source, texts: Mapping[str, str]) -> Source:
    """Standard input as it is by now: `texts`, by real path, count instead of what it held."""
    text = texts.get(os.path.realpath(source.path)) if source.text is not None else None
    return source if text is None else replace(source, text=text)
