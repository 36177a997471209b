"""The adapter turns what the doors give, in bytes or in JSON, into the same lines."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from analyzers import report
from tests.support import analyzer
from tests.support.analyzer import Claim, Edit, Line, Sources

TEXT = 'print("é")\nw.add_(1)\nw.sum().backward()\n'
PATH = "/nowhere/program.py"
START, END = TEXT.encode().index(b"w.add_"), TEXT.encode().index(b"w.sum")

FINDING = report.Finding(
    code="AG105",
    name="leaf-modified-in-place",
    severity="error",
    message="m",
    place=report.Place(PATH, START, START + 1),
    raises=report.Raises(report.Place(PATH, END, END + 1), "RuntimeError", "a leaf", True, False, False),
    related=(report.Related(report.Place(PATH, 0, 5), "here"),),
    fixes=(report.Fix("f", True, (report.Edit(report.Place(PATH, START, END - 1), "w = w + 1"),)),),
)
FACT = report.Fact(report.Place(PATH, START, START + 1), "f", "w", True, False, ("AddBackward0",), (3, None), "float32")


class _Host:
    """A host, and its own snapshot."""

    def set_text(self, path: str, text: str) -> None:
        assert (path, text) == (PATH, TEXT)

    def snapshot(self) -> _Host:
        return self

    def findings(self, path: str) -> tuple[report.Finding, ...]:
        return (FINDING,)

    def facts(self, path: str) -> tuple[report.Fact, ...]:
        return (FACT,)


def test_places_become_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("analyzers.host")
    vars(module)["Host"] = _Host
    monkeypatch.setitem(sys.modules, "analyzers.host", module)
    _check(analyzer.analyze(Sources.of_text(TEXT)))


def test_json_is_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        path, name = command[-1], command[3]
        first = {"start": {"line": 2, "column": 1}, "end": {"line": 2, "column": 10}}
        finding = {
            "code": "AG105",
            "name": "leaf-modified-in-place",
            "severity": "error",
            "message": "m",
            "range": first,
            "raises": {
                "path": path,
                "line": 3,
                "exception": "RuntimeError",
                "message": "a leaf",
                "certain": True,
                "caught": False,
                "expected": False,
                "iteration": 1,
            },
            "effect": None,
            "related": [{"path": path, "line": 1, "message": "here"}],
            "fixes": [{"title": "f", "safe": True, "edits": [{"path": path, "range": first, "text": "w = w + 1"}]}],
        }
        fact = {
            "line": 2,
            "scope": "f",
            "name": "w",
            "requires_grad": True,
            "is_leaf": False,
            "grad_fn": ["AddBackward0"],
            "shape": [3, None],
            "dtype": "float32",
        }
        items = {"findings": [finding]} if name == "check" else {"facts": [fact]}
        data = {"version": 1, "files": [{"path": path, **items}]}
        return subprocess.CompletedProcess(command, 1, json.dumps(data), "")

    monkeypatch.setattr(subprocess, "run", answer)
    _check(analyzer.analyze(Sources.of_text(TEXT), "cli"))


def test_a_crash_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(analyzer, "analyze", crash)
    said = analyzer.analyze_or_tell(Sources.of_text(TEXT))
    assert isinstance(said, str)
    assert said.startswith("KeyError: 'lost' (test_analyzer.py:")


def _check(analysis: analyzer.Analysis) -> None:
    (finding,) = analysis.findings
    assert finding.at == Line("program.py", 2)
    assert finding.raises
    assert finding.raises.at == Line("program.py", 3)
    assert finding.related == (Line("program.py", 1),)
    start = TEXT.index("w.add_")
    assert finding.fixes == ((Edit("program.py", start, start + 9, "w = w + 1"),),)
    assert analysis.claims == (
        Claim(Line("program.py", 2), "f", "w", True, False, ("AddBackward0",), (3, None), "float32"),
    )
