"""A baseline: existing findings, recorded in a file so that only new ones are reported.

    {"version": 1,
     "files": {"train.py": [{"code": "AG104", "name": "saved-tensor-modified",
                             "line": "y.add_(1)", "fingerprint": "5b1e..."}]}}

Findings are known again by their fingerprints, which hold no line number. Paths count from the folder of the baseline.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from analyzers.program.disk import read_regular_file
from analyzers.report import Choice, Finding
from autograd_lsp.process.drafts import reason, write_whole
from autograd_lsp.process.exits import UsageError
from autograd_lsp.reports.fingerprints import fingerprints, relative_path
from autograd_lsp.reports.report import Report
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.words import plural

_VERSION = 1
Entry: TypeAlias = dict[str, Any]
"""A finding as it is recorded: `code`, `name`, `line` and `fingerprint`."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Baseline:
    """`files` has the codes of known findings, by path and fingerprint."""

    shown: str
    folder: str
    """Of the baseline: paths count from there."""
    files: Mapping[str, Mapping[str, str]]

    def without_known(
        self, reports: Sequence[Report], asked: Collection[str], choose: Callable[[str], Choice]
    ) -> tuple[list[Report], tuple[str, ...]]:
        """What is new, and a remark about what is recorded and no longer found, as far as it was asked for."""
        left: list[Report] = []
        gone = 0
        for report in reports:
            path = report.source.path
            known = self.files.get(relative_path(path, self.folder), {})
            if report.failure is not None or not known:
                left.append(report)
                continue
            prints = _fingerprints(report, self.folder)
            new = [finding for finding, made in zip(report.findings, prints, strict=True) if made not in known]
            left.append(replace(report, findings=tuple(new)))
            if path in asked:
                off = choose(path).off
                gone += sum(made not in prints and code not in off for made, code in known.items())
        gone += sum(len(known) for path, known in self.files.items() if not self._is_there(path))
        if not gone:
            return left, ()
        verb = "is" if gone == 1 else "are"
        said = f"{plural(gone, 'finding')} recorded in {self.shown} {verb} no longer found"
        return left, (f"{said}; `--write-baseline {self.shown}` records the current findings.",)

    def _is_there(self, path: str) -> bool:
        return os.path.exists(os.path.join(self.folder, path))


def read_baseline(shown: str) -> Baseline:
    try:
        document = json.loads(read_regular_file(shown).decode("utf-8-sig"))
        files = _files(document)
    except FileNotFoundError as error:
        raise UsageError(f"{shown}: no such baseline; `--write-baseline {shown}` creates it") from error
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {reason(error)}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown}: not valid JSON: {error}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(f"{shown}: not a baseline of version {_VERSION}") from error
    return Baseline(shown, _folder_of(shown), files)


def write_baseline(shown: str, reports: Sequence[Report]) -> str:
    """Record all that was found; what to say of that. A file that cannot be read is no finding to get used to."""
    folder = _folder_of(shown)
    recorded = [report for report in reports if report.findings and report.failure is None]
    files = {
        relative_path(report.source.path, folder): entries(report.findings, report.texts.__getitem__, folder)
        for report in recorded
    }
    try:
        write_whole(shown, _LONE_SURROGATE.sub(_escaped, _rendered(files)).encode())
    except OSError as error:
        raise UsageError(f"{shown}: cannot be written: {reason(error)}") from error
    return f"Recorded {plural(sum(len(report.findings) for report in recorded), 'finding')} in {shown}."


def with_entry(text: str, path: str, entry: Entry) -> str | None:
    """The text of a baseline with one finding more, of the file at `path`; None where that is no baseline."""
    try:
        document = json.loads(text)
        _files(document)
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None
    files: dict[str, list[Entry]] = document["files"]
    files.setdefault(path, []).append(entry)
    return _rendered(files)


def entries(findings: Sequence[Finding], text_of: Callable[[str], str], folder: str) -> list[Entry]:
    """What is recorded of the findings of one file, in their order."""
    rows = []
    for finding, made in zip(findings, fingerprints(findings, text_of, folder), strict=True):
        index = LineIndex(text_of(finding.place.path))
        line = index.line_text(index.position(finding.place.start).line - 1).strip()
        rows.append({"code": finding.code, "name": finding.name, "line": line, "fingerprint": made})
    return rows


def _files(document: Any) -> dict[str, dict[str, str]]:
    """Whatever is not as it was written raises one of the errors that stand for that."""
    if document["version"] != _VERSION:
        raise TypeError
    files: dict[str, dict[str, str]] = {}
    for path, recorded in document["files"].items():
        files[path] = {str(entry["fingerprint"]): str(entry["code"]) for entry in recorded}
    return files


def _rendered(files: Mapping[str, list[Entry]]) -> str:
    """One line for each finding, in an order that stays as it is when lines move."""
    lists = []
    for path, recorded in sorted(files.items()):
        ordered = sorted(recorded, key=lambda entry: (entry["code"], str(entry.get("line")), entry["fingerprint"]))
        rows = ",\n".join("   " + json.dumps(entry, ensure_ascii=False) for entry in ordered)
        lists.append(f"  {json.dumps(path, ensure_ascii=False)}: [\n{rows}\n  ]")
    return f'{{\n "version": {_VERSION},\n "files": {{' + ",".join(f"\n{one}" for one in lists) + "\n }\n}\n"


def _fingerprints(report: Report, folder: str) -> list[str]:
    return fingerprints(report.findings, report.texts.__getitem__, folder)


def _folder_of(shown: str) -> str:
    return os.path.dirname(os.path.abspath(shown))


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"
