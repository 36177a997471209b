"""Findings as SARIF 2.1.0, one run for one check.

The trace of a finding is there twice: as related locations, and as a code flow from the place to edit to the place
where torch raises. What could not be read or analysed is no result but a notification of the run. Regions of a notebook
are those of its JSON; the cell is a logical location.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from analyzers.report import Finding, Fix, Place
from analyzers.rules import RULES
from autograd_lsp import __version__
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.json import Encoder
from autograd_lsp.cli.formats.regions import TOP, Region, Regions
from autograd_lsp.cli.formats.wording import Wording, count_by_rule
from autograd_lsp.notebooks.source import as_written
from autograd_lsp.reports.fingerprints import fingerprints, relative_path
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.text.sinks import json_of
from autograd_lsp.text.urls import DOCUMENTATION, rule_page

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "autogradLsp/v1"

_BASE = "%SRCROOT%"
"""The name for the working directory, which relative URIs count from; GitHub's own."""
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_GROUP_LEVELS = {"AG1": "error", "AG2": "warning", "AG3": "warning"}

Json = dict[str, Any]


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    run = _Run(os.getcwd())
    for report in reports:
        run.artifact(report.source.path)["roles"] = ["analysisTarget"]
    for report in reports:
        run.add(report)
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run.json(reports, beside.statistics)]}
    stream.write(json_of(document) + "\n")


class _Run:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.rules: dict[str, Json] = {}
        self.artifacts: dict[str, Json] = {}
        self.indexes: dict[str, int] = {}
        self.results: list[Json] = []
        self.notifications: list[Json] = []
        self.notified: dict[str, Json] = {}

    def json(self, reports: Sequence[Report], statistics: bool) -> Json:
        invocation = {
            "executionSuccessful": not any(report.failure for report in reports),
            "toolExecutionNotifications": self.notifications,
        }
        driver = {
            "name": "autograd-lsp",
            "version": __version__,
            "informationUri": DOCUMENTATION,
            "rules": [*self.rules.values()],
            "notifications": [*self.notified.values()],
        }
        return {
            "tool": {"driver": driver},
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {_BASE: {"uri": Path(self.folder, "_").as_uri()[:-1]}},
            "artifacts": [*self.artifacts.values()],
            "results": self.results,
            **({"properties": {"statistics": count_by_rule(reports)}} if statistics else {}),
        }

    def add(self, report: Report) -> None:
        if report.failure == "unreadable":
            for finding in report.findings:
                self.notify(finding.code, "A file cannot be read", report, finding.message)
            return
        if report.failure == "internal":
            self.notify("internal-error", "A file cannot be analysed", report, report.traceback.strip())
        prints = fingerprints(report.findings, lambda path: report.texts.get(path, ""), self.folder)
        self.results += map(_Writer(self, report).result, report.findings, prints)

    def notify(self, name: str, summary: str, report: Report, text: str) -> None:
        if name not in self.notified:
            self.notified[name] = {"id": name, "shortDescription": _message(summary)}
        location = {"physicalLocation": self.physical(report.source.path, TOP)}
        self.notifications.append(
            {
                "descriptor": {"id": name, "index": [*self.notified].index(name)},
                "level": "error",
                "message": _message(text),
                "locations": [location],
            }
        )

    def rule_index(self, finding: Finding) -> int:
        if finding.code not in self.rules:
            self.rules[finding.code] = _rule(finding)
        return [*self.rules].index(finding.code)

    def artifact(self, path: str) -> Json:
        """What is known of a file, from its first mention on."""
        self.indexes.setdefault(path, len(self.indexes))
        return self.artifacts.setdefault(path, {"location": self.location(path), "sourceLanguage": "python"})

    def location(self, path: str) -> Json:
        relative = relative_path(path, self.folder)
        if relative.startswith("../") or os.path.isabs(relative):
            return {"uri": Path(path).as_uri()}
        return {"uri": quote(os.fsencode(relative)), "uriBaseId": _BASE}

    def physical(self, path: str, region: Region) -> Json:
        self.artifact(path)
        location = {**self.location(path), "index": self.indexes[path]}
        return {"artifactLocation": location, "region": _region(region)}


class _Writer:
    """The results of one report."""

    def __init__(self, run: _Run, report: Report) -> None:
        self.run = run
        self.report = report
        self.texts = Texts(report)
        self.regions = Regions(report, self.texts)
        self.words = Wording(report, self.texts)
        self.encoder = Encoder(report)

    def result(self, finding: Finding, fingerprint: str) -> Json:
        related = [
            {"id": number, **self.location(step.place, step.message)}
            for number, step in enumerate(finding.related, start=1)
        ]
        flow = self.flow(finding)
        return {
            "ruleId": finding.code,
            "ruleIndex": self.run.rule_index(finding),
            "level": _LEVELS[finding.severity],
            "message": _message(finding.message),
            "locations": [self.location(finding.place)],
            "partialFingerprints": {FINGERPRINT: fingerprint},
            **({"relatedLocations": related} if related else {}),
            **({"codeFlows": [{"threadFlows": [{"locations": flow}]}]} if len(flow) > 1 else {}),
            **({"fixes": [self.fix(fix) for fix in finding.fixes]} if finding.fixes else {}),
            "properties": {"raises": self.encoder.raises(finding), "effect": finding.effect},
        }

    def location(self, place: Place, message: str | None = None) -> Json:
        spot = self.texts.spot(place)
        location: Json = {"physicalLocation": self.run.physical(place.path, self.regions.of(place))}
        if spot.cell is not None:
            location["logicalLocations"] = [{"name": f"cell {spot.cell}", "kind": "cell"}]
            location["properties"] = {"cell": spot.cell, "region": _region(Region(spot.begins, spot.ends))}
        if message is not None:
            location["message"] = _message(message)
        return location

    def flow(self, finding: Finding) -> list[Json]:
        """From the place to edit over the trace to where torch raises."""
        steps = [(step.place, step.message) for step in finding.related]
        if all(place != finding.place for place, _ in steps):
            steps.insert(0, (finding.place, finding.message))
        if finding.raises is not None:
            place, told = finding.raises.place, self.words.raises(finding.raises)
            if steps[-1][0] == place:
                told = f"{steps.pop()[1]}: {told}"
            steps.append((place, told))
        return [{"location": self.location(place, message)} for place, message in steps]

    def fix(self, fix: Fix) -> Json:
        changes: dict[str, list[Json]] = {}
        for edit in sorted(fix.edits, key=lambda edit: edit.place):
            is_json = self.texts.spot(edit.place).cell is not None
            replacement = {
                "deletedRegion": _region(self.regions.of(edit.place)),
                "insertedContent": {"text": as_written(edit.text) if is_json else edit.text},
            }
            changes.setdefault(edit.place.path, []).append(replacement)
        return {
            "description": _message(fix.title),
            "artifactChanges": [
                {"artifactLocation": self.run.location(path), "replacements": replacements}
                for path, replacements in changes.items()
            ],
            "properties": {"safe": fix.safe},
        }


def _rule(finding: Finding) -> Json:
    """What a rule's page says; a finding that no rule made speaks for itself."""
    level = {"level": _GROUP_LEVELS.get(finding.code[:3], "note")}
    rule = next((rule for rule in RULES if rule.code == finding.code), None)
    if rule is None:
        return {"id": finding.code, "name": finding.name, "defaultConfiguration": level}
    page = rule.doc.strip()
    introduction = page.partition("\n## ")[0].strip()
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": introduction, "markdown": introduction},
        "help": {"text": page, "markdown": page},
        "helpUri": rule_page(rule.name),
        "defaultConfiguration": level,
    }


def _region(region: Region) -> Json:
    return {
        "startLine": region.begins.line,
        "startColumn": region.begins.column,
        "endLine": region.ends.line,
        "endColumn": region.ends.column,
    }


def _message(text: str) -> Json:
    """Braces would be placeholders in SARIF, and brackets before a parenthesis a link."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "\\](")}
