"""What the benchmarks type is Python in the end, at places that exist; what they generate is always the same."""

from __future__ import annotations

import ast
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import generate
from benchmarks.cases import CASES, TypingCase
from benchmarks.edits import edits
from benchmarks.places import Place, find, keystrokes
from tests.support.analyzer import findings

ROOT = Path(__file__).parents[2]

TYPING = [case for case in CASES if isinstance(case, TypingCase) and case.size <= 10_000]


@pytest.mark.parametrize("case", TYPING, ids=lambda case: case.name)
def test_a_case_types_python_where_it_says(case: TypingCase, tmp_path: Path) -> None:
    scene = case.build(tmp_path)
    text = scene.file.read_text(encoding="utf-8")
    place = find(text, scene.place)
    lines = text.split("\n")
    lines.insert(place.line, " " * place.indent)
    for stroke in islice(keystrokes(place, case.text), len(case.text) - 1):
        before, after = lines[stroke.line][: stroke.column], lines[stroke.line][stroke.column :]
        lines[stroke.line : stroke.line + 1] = (before + stroke.text + after).split("\n")
    typed = "\n".join(lines)
    ast.parse(typed)
    assert [line.strip() for line in typed.split("\n")[place.line :]][:2] == case.text.split("\n")[:2]
    assert abs(text.count("\n") - case.size) <= 40 or case.group == "project"


def test_a_place_is_found_by_its_dotted_name() -> None:
    text = "class A:\n    def f(self):\n        return 1\n"
    text += "for i, j in []:\n    for k in j:\n        i()\n        print(k)\n"
    assert find(text, "A.f") == Place(2, 8)
    assert find(text, "for j.for k") == Place(6, 8)
    with pytest.raises(LookupError):
        find(text, "A.g")


def test_a_source_is_the_same_each_time_and_has_its_size() -> None:
    for lines in (100, 1_000):
        text = generate.source(lines)
        assert text == generate.source(lines)
        assert abs(text.count("\n") - lines) < 40


def test_what_is_generated_has_no_faults(tmp_path: Path) -> None:
    path = tmp_path / "layers.py"
    path.write_text(generate.source(200))
    package = generate.package(tmp_path / "lab", 5)
    for file in (path, *package):
        assert not list(findings(file, file.read_text()))


def test_edits_mean_something_and_can_be_taken_back() -> None:
    text = (ROOT / "benchmarks/programs/train.py").read_text(encoding="utf-8")
    drawn = edits(text, 40)
    assert drawn == edits(text, 40)
    for edit in drawn:
        changed = edit.applied(text)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
        assert edit.undone().applied(changed) == text
    assert {edit.text == "pass" for edit in drawn} == {True, False}


def test_a_text_without_statements_has_no_edits() -> None:
    with pytest.raises(LookupError):
        edits("import torch\n", 1)
