"""Findings as JSON: version 1 of the shape that scripts read. Lines and columns are 1-based, ends are exclusive."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TextIO

from analyzers.report import Backward, Finding, Fix, Place
from autograd_lsp.cli.fixing.outcome import BREAKS, Outcome, Wanted
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.wording import count_by_rule
from autograd_lsp.files.sources import shown_path
from autograd_lsp.reports.report import Report, Spot, Texts
from autograd_lsp.text.sinks import json_of


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    document: dict[str, Any] = {"version": 1, "files": [_file(report, beside.outcome) for report in reports]}
    if beside.statistics:
        document["statistics"] = count_by_rule(reports)
    stream.write(json_of(document) + "\n")


def range_json(texts: Texts, place: Place) -> dict[str, Any]:
    spot = texts.spot(place)
    start, end = spot.begins, spot.ends
    return {
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
    }


def cell_json(spot: Spot) -> dict[str, Any]:
    """The number of the cell; nothing where there are no cells."""
    return {} if spot.cell is None else {"cell": spot.cell}


def _file(report: Report, outcome: Outcome | None) -> dict[str, Any]:
    encoder = Encoder(report)
    document: dict[str, Any] = {
        "path": report.source.shown,
        "findings": [encoder.finding(finding) for finding in report.findings],
        "backwards": [encoder.backward(backward) for backward in report.backwards],
    }
    if outcome is not None:
        document["fixed"] = _fixed(report, outcome)
    return document


def _fixed(report: Report, outcome: Outcome) -> dict[str, Any]:
    """What was done to a file, and for the findings in it; `refused` is null where nothing stood in the way."""
    path = report.source.path
    real = os.path.realpath(path)
    return {
        "written": real in outcome.written,
        "refused": outcome.refused.get(real),
        "applied": [_wanted(one) for one in outcome.applied if one.path == path],
        "skipped": [{**_wanted(one), "reason": BREAKS} for one in outcome.skipped if one.path == path],
    }


def _wanted(one: Wanted) -> dict[str, Any]:
    return {
        "code": one.finding.code,
        "name": one.finding.name,
        "line": one.line,
        "round": one.round,
        "title": one.fix.title,
        "edits": len(one.fix.edits),
        "paths": sorted({shown_path(edit.place.path) for edit in one.fix.edits}),
    }


class Encoder:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.texts = Texts(report)

    def backward(self, backward: Backward) -> dict[str, Any]:
        """How far a call of `backward()` is understood; `since` is null where no place tells."""
        return {
            **self.where(backward.place),
            "status": backward.grasp,
            "about": backward.about,
            "since": None if backward.since is None else self.where(backward.since),
        }

    def finding(self, finding: Finding) -> dict[str, Any]:
        return {
            "code": finding.code,
            "name": finding.name,
            "severity": finding.severity,
            "message": finding.message,
            **cell_json(self.texts.spot(finding.place)),
            "range": range_json(self.texts, finding.place),
            "raises": self.raises(finding),
            "effect": finding.effect,
            "assumes": [{**self.where(step.place), "message": step.message} for step in finding.assumes],
            "related": [{**self.where(step.place), "message": step.message} for step in finding.related],
            "fixes": [self.fix(fix) for fix in finding.fixes],
            "advice": finding.advice or None,
        }

    def raises(self, finding: Finding) -> dict[str, Any] | None:
        raises = finding.raises
        if raises is None:
            return None
        return {
            **self.where(raises.place),
            "exception": raises.exception,
            "message": raises.message,
            "certain": raises.certain,
            "caught": raises.caught,
            "expected": raises.expected,
            "iteration": raises.iteration,
        }

    def fix(self, fix: Fix) -> dict[str, Any]:
        edits = [
            {
                "path": self.path(edit.place),
                **cell_json(self.texts.spot(edit.place)),
                "range": range_json(self.texts, edit.place),
                "text": edit.text,
            }
            for edit in fix.edits
        ]
        return {"title": fix.title, "safe": fix.safe, "edits": edits}

    def where(self, place: Place) -> dict[str, Any]:
        spot = self.texts.spot(place)
        return {"path": self.path(place), **cell_json(spot), "line": spot.begins.line}

    def path(self, place: Place) -> str:
        source = self.report.source
        return source.shown if place.path == source.path else shown_path(place.path)
