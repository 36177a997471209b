"""The rooms of the machine: what each may import, what it may not name, and how large it may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from analyzers.domain.objects import HeapObject
from analyzers.machine import assembly
from analyzers.machine.core.registries import ANSWERS, MODELS, answers
from tests.project.test_imports import ANALYZERS, GROUND, REPOSITORY, imports_of, sources

MACHINE = ANALYZERS / "machine"

MAY: dict[str, tuple[set[str], set[str]]] = {
    "core": (set(), {"domain", "syntax"}),
    "objects": ({"core"}, {"domain"}),
    "autograd": ({"core"}, {"domain", "ops"}),
    "interpreter": ({"core", "objects"}, {"domain", "syntax"}),
    "operators": ({"core", "autograd"}, {"domain", "ops"}),
    "libraries": ({"core", "objects", "autograd", "interpreter", "operators"}, {"domain", "ops", "syntax"}),
    "observers": ({"core", "objects", "autograd", "interpreter"}, {"domain", "ops", "syntax"}),
    "entries": (
        {"core", "objects", "autograd", "interpreter", "operators", "libraries", "observers"},
        {"domain", "syntax"},
    ),
}
"""By room, the rooms of the machine that it may import, and the rooms of the analyzer outside of it. `assembly` may
import them all."""

SEEN_FROM_OUTSIDE = {
    "rules": {"core.events", "core.causes"},
    "host": {"assembly", "entries", "core.events", "core.program", "interpreter.captured"},
    "graph": {"assembly", "core", "autograd", "entries", "interpreter.loops"},
    "views": {"assembly", "core"},
}
"""What the rooms outside may import of the machine, by the beginning of its dotted name."""

TYPES_ONLY = {("core/probe.py", "core/machine.py")}
"""What a file names in annotations though it never imports it."""

TENSORS = {"Tensor", "Node", "Edge", "Saved", "Storage", "Counter", "Array"}
UNNAMED = {"objects": TENSORS, "interpreter": TENSORS}
"""The types that a room may not name: Python knows no tensors."""

WORDLESS = {"core", "objects", "interpreter"}
WORDS = re.compile(r"(torch|numpy|matplotlib|pytest)\b|_modules$|_parameters$|_buffers$|param_groups$")
"""What no string may begin with in the rooms that know no library."""

PARTS = {"config", "st", "ids", "extent", "budget", "record", "indexes", "notebooks"}
"""The attributes of a `Machine`."""

MOST_LINES = 500
MOST_LINES_OF_A_FUNCTION = 60
MOST_FILES = 25


def files() -> list[Path]:
    return sources(MACHINE)


def room_of(path: Path) -> str:
    return path.relative_to(MACHINE).parts[0].removesuffix(".py")


def modules_imported(path: Path, *, types: bool = True) -> Iterator[Path]:
    """The files of the machine that a file imports."""
    for dotted in imports_of(path, types=types):
        if dotted.startswith("analyzers.machine."):
            at = REPOSITORY.joinpath(*dotted.split("."))
            yield at.with_suffix(".py") if at.with_suffix(".py").exists() else at / "__init__.py"


def test_every_room_is_listed() -> None:
    assert {room_of(path) for path in files()} == {*MAY, "assembly", "__init__"}


@pytest.mark.parametrize("room", MAY)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    inside, outside = MAY[room]
    for path in files():
        if room_of(path) == room:
            assert {room_of(other) for other in modules_imported(path)} <= inside | {room}, path
            others = {dotted.split(".")[1] for dotted in imports_of(path) if dotted.startswith("analyzers.")}
            assert others <= outside | {"machine", *GROUND}, path


@pytest.mark.parametrize("room", SEEN_FROM_OUTSIDE)
def test_the_rooms_outside_see_only_what_they_may(room: str) -> None:
    folder = ANALYZERS / room
    for path in sources(folder) if folder.is_dir() else [folder.with_suffix(".py")]:
        for dotted in imports_of(path):
            part = dotted.removeprefix("analyzers.machine.")
            if part != dotted:
                allowed = any(part == may or part.startswith(may + ".") for may in SEEN_FROM_OUTSIDE[room])
                assert allowed, f"{path}: {dotted}"


def test_no_file_imports_one_that_imports_it() -> None:
    edges = {
        path: {other for other in modules_imported(path) if (_short(path), _short(other)) not in TYPES_ONLY}
        for path in files()
    }
    done: set[Path] = set()

    def visit(path: Path, way: tuple[Path, ...]) -> None:
        assert path not in way, " -> ".join(map(_short, [*way[way.index(path) :], path]))
        if path not in done:
            for other in sorted(edges.get(path, ())):
                visit(other, (*way, path))
            done.add(path)

    for path in edges:
        visit(path, ())


def _short(path: Path) -> str:
    return path.relative_to(MACHINE).as_posix()


def test_nothing_is_imported_inside_a_function() -> None:
    found = []
    for path in sources(ANALYZERS):
        for function in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                late = [n for n in ast.walk(function) if isinstance(n, ast.Import | ast.ImportFrom)]
                found += [f"{path}:{node.lineno}" for node in late]
    assert found == []


@pytest.mark.parametrize("room", UNNAMED)
def test_python_names_no_type_of_torch(room: str) -> None:
    found = []
    for path in files():
        if room_of(path) == room:
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Name) and node.id in UNNAMED[room]:
                    found.append(f"{_short(path)}:{node.lineno} {node.id}")
    assert found == []


@pytest.mark.parametrize("room", sorted(WORDLESS))
def test_python_speaks_no_word_of_a_library(room: str) -> None:
    found = []
    for path in files():
        if room_of(path) == room:
            tree = ast.parse(path.read_bytes())
            sentences = {id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in sentences:
                    if WORDS.match(node.value):
                        found.append(f"{_short(path)}:{node.lineno} {node.value!r}")
    assert found == []


def test_everything_on_the_heap_has_a_model() -> None:
    assert assembly.TABLES_OF
    assert set(get_args(HeapObject)) <= MODELS.keys()


def test_the_assembly_imports_every_file() -> None:
    """Whatever enters itself into a table is there once the machine is put together."""
    code = (
        "import sys, analyzers.machine.assembly; print(*(m for m in sys.modules if m.startswith('analyzers.machine')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    dotted = {".".join(path.relative_to(REPOSITORY).with_suffix("").parts) for path in files()}
    assert {name for name in dotted if not name.endswith("__init__")} <= set(loaded.stdout.split())


def test_a_name_is_answered_for_once() -> None:
    name = next(iter(ANSWERS))
    with pytest.raises(ValueError, match="registered twice"):
        answers(name)(ANSWERS[name])
    for path in files():
        for node in ast.walk(ast.parse(path.read_bytes())):
            targets = node.targets if isinstance(node, ast.Assign) else []
            tables = [t.value.id for t in targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)]
            assert not any(name.isupper() for name in tables), f"{path}:{getattr(node, 'lineno', 0)}"


def test_the_machine_is_its_parts() -> None:
    tree = ast.parse((MACHINE / "core" / "machine.py").read_bytes())
    targets = [t for node in ast.walk(tree) if isinstance(node, ast.Assign) for t in node.targets]
    targets += [node.target for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
    own = {t.attr for t in targets if isinstance(t, ast.Attribute) and getattr(t.value, "id", "") == "self"}
    assert own == PARTS


def test_nothing_is_known_by_its_address() -> None:
    for path in files():
        for node in ast.walk(ast.parse(path.read_bytes())):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
            assert not called, f"{path}:{getattr(node, 'lineno', 0)}"


def test_files_functions_and_folders_are_small() -> None:
    found = []
    for path in sources(ANALYZERS):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > MOST_LINES:
            found.append(f"{path}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES_OF_A_FUNCTION:
                    found.append(f"{path}:{node.lineno} {node.name}: {lines} lines")
    for folder in {path.parent for path in sources(ANALYZERS)}:
        if len(list(folder.glob("*.py"))) > MOST_FILES:
            found.append(f"{folder}: {len(list(folder.glob('*.py')))} files")
    assert found == []
