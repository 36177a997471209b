"""Runs every program of this folder's Markdown by torch and by the analyzer: cause and crash lie in different files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import Program, Run, run_batch
from tests.packages.programs import PackageProgram, programs_in
from tests.support.analyzer import Edit, Finding, Line, Sources, Way, analyze
from tests.support.judge import raised_as_said

PROGRAMS = [program for page in sorted(Path(__file__).parent.glob("*.md")) for program in programs_in(page)]
every_program = pytest.mark.parametrize("index", range(len(PROGRAMS)), ids=[program.heading for program in PROGRAMS])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [program.write(tmp_path_factory.mktemp("program")) for program in PROGRAMS]


@pytest.fixture(scope="module")
def runs(folders: list[Path]) -> list[Run]:
    return run_batch([Program.at(folder) for folder in folders])


@every_program
def test_torch(index: int, runs: list[Run]) -> None:
    said = [(file, item) for file, found in PROGRAMS[index].expected.items() for item in found.raises]
    raised = runs[index].raised
    if not said:
        assert raised is None
        return
    [(file, item)] = said
    assert raised is not None
    assert (raised.file, raised.line, raised.exception) == (file, item.line, item.exception)
    assert item.message in raised.message


@every_program
def test_analyzer(index: int, folders: list[Path], runs: list[Run], way: Way) -> None:
    program = PROGRAMS[index]
    findings = _once(analyze(Sources.at(folders[index]), way).findings)
    wanted = {(f, r.line, r.severity, r.rule) for f, found in program.expected.items() for r in found.reports}
    assert {(f.at.file, f.at.number, f.severity, f.name) for f in findings} == wanted
    for finding in findings:
        assert finding.raises is None or raised_as_said(finding, runs[index])
        assert program.marked("trace").get(finding.name, set()) <= {*finding.related}


@pytest.mark.parametrize("index", [i for i, program in enumerate(PROGRAMS) if program.marked("edited")])
def test_fix(index: int, folders: list[Path], runs: list[Run], tmp_path: Path, way: Way) -> None:
    program = PROGRAMS[index]
    findings = {finding.name: finding for finding in analyze(Sources.at(folders[index]), way).findings}
    files = program.files
    for rule, lines in program.marked("edited").items():
        edits = findings[rule].fixes[0]
        assert {_line(program, edit) for edit in edits} == lines
        files = _edited(files, edits)
    run = run_batch([Program.at(replace(program, files=files).write(tmp_path))], jobs=1)[0]
    assert run.raised is None
    before = runs[index]
    assert before.raised is not None or before.learnt != run.learnt or _keeps_memory(findings.values())


def _keeps_memory(findings: Sequence[Finding]) -> bool:
    """What a run learns does not show how much memory it keeps."""
    return {finding.effect for finding in findings} == {"graph-grows"}


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """Each finding, whichever file's run came upon it, with the longest of its traces."""
    raised = {(f.name, f.at) for f in findings if f.raises}
    told = [f for f in findings if f.raises or f.effect or (f.name, f.at) not in raised]
    by_length = sorted(told, key=lambda f: len(f.related))
    return list({(f.name, f.at, f.raises and f.raises.at): f for f in by_length}.values())


def _line(program: PackageProgram, edit: Edit) -> Line:
    return Line(edit.file, program.files[edit.file].count("\n", 0, edit.start) + 1)


def _edited(files: dict[str, str], edits: Sequence[Edit]) -> dict[str, str]:
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = files[edit.file]
        files = {**files, edit.file: text[: edit.start] + edit.text + text[edit.end :]}
    return files
