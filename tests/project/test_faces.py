"""How `autograd_lsp` is built: what its rooms may import, that no file imports in a circle, and what is loaded late."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograd_lsp.process.loading import BY_NAME
from tests.project.test_imports import REPOSITORY

FACES = REPOSITORY / "autograd_lsp"

ALLOWED = {
    "process": set(),
    "text": set(),
    "render": {"text"},
    "environment": {"process", "text"},
    "notebooks": {"text"},
    "config": {"process", "text"},
    "files": {"config", "notebooks", "process"},
    "reports": {"config", "environment", "files", "notebooks", "process", "text"},
    "why": {"config", "files", "notebooks", "process", "reports", "text"},
    "server": {"config", "environment", "files", "notebooks", "process", "render", "reports", "text"},
    "flake8": {"config", "environment", "files", "process", "reports", "text"},
    "jupyter": {"text"},
    "cli": {"config", "environment", "files", "notebooks", "process", "render", "reports", "server", "text", "why"},
}
"""By room, the other rooms that it may import. `cli`, `server`, `flake8` and `jupyter` are where users come in."""

LOOSE = {"__init__", "__main__"}
"""The files that lie in no room."""

LOADER = FACES / "process" / "loading.py"
"""The one place where something is imported inside a function, or by its name."""

UNDER_ANOTHER_PATH = FACES / "process" / "own.py"
"""Where `analyzers` is imported once the import path leads to ours; what `-m` starts may import nothing before."""

OPTIONAL = {
    "dask": "reports/cluster.py",
    "distributed": "reports/cluster.py",
    "flake8": "flake8/analysis.py",
    "jedi": "environment/child.py",
    "mcp": "cli/commands/mcp.py",
    "pydantic": "cli/commands/mcp.py",
    "shtab": "cli/commands/completions.py",
}
"""What may not be installed or is slow to load, and the one file that imports it, at its top."""

MOST_LINES = 500
MOST_LINES_OF_A_FUNCTION = 60
MOST_FILES = 25

SOURCES = sorted(FACES.rglob("*.py"))
TREES = {path: ast.parse(path.read_bytes()) for path in SOURCES}


def dotted(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in SOURCES}


def imports_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The line of each import below a node, and what it names; of `from a import b` the module `b`, where it is one."""
    for one in ast.walk(node):
        match one:
            case ast.Import(names=names):
                yield from ((one.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    whole = f"{module}.{alias.name}"
                    yield one.lineno, whole if whole in MODULES else module
            case ast.ImportFrom():
                raise AssertionError(f"line {one.lineno}: imports are absolute")


def functions_in(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def room_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


GRAPH = {
    module: {name for _, name in imports_in(TREES[path]) if name in MODULES} - {module}
    for module, path in MODULES.items()
}
"""Who imports whom: also for annotations alone, and inside functions."""


def test_every_room_is_listed() -> None:
    assert {room_of(module) for module in MODULES} == {*ALLOWED} | LOOSE
    assert {path.stem for path in FACES.glob("*.py")} == LOOSE


def test_the_page_has_the_same_table() -> None:
    page = (REPOSITORY / "docs" / "ARCHITECTURE.md").read_text().partition("| room of `autograd_lsp/` |")[2]
    rows = re.findall(r"^\| `(\w+)/` \| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE)
    assert {room: {*re.findall(r"`(\w+)`", others)} for room, others in rows} == ALLOWED


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    for module, imported in GRAPH.items():
        if room_of(module) == room:
            rooms = {room_of(name) for name in imported if name != "autograd_lsp"} - {room}
            assert rooms <= ALLOWED[room], module


def test_the_rooms_lie_in_one_order() -> None:
    assert [*TopologicalSorter(ALLOWED).static_order()]


def test_no_file_imports_in_a_circle() -> None:
    try:
        TopologicalSorter(GRAPH).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("path", SOURCES, ids=dotted)
def test_imports_stand_at_the_top(path: Path) -> None:
    if path in {LOADER, UNDER_ANOTHER_PATH}:
        return
    inside = {line for function in functions_in(TREES[path]) for line, _ in imports_in(function)}
    assert not inside, f"lines {sorted(inside)}: {LOADER.name} is the place for what is loaded late"
    named = [name for _, name in imports_in(TREES[path]) if name.split(".")[0] == "importlib"]
    assert not named, f"{LOADER.name} is the place for what is loaded by its name"
    assert not any(isinstance(node, ast.Name) and node.id == "__import__" for node in ast.walk(TREES[path]))


def test_every_late_import_has_its_reason() -> None:
    lines = LOADER.read_text().splitlines()
    inside = {line for function in functions_in(TREES[LOADER]) for line, _ in imports_in(function)}
    assert [line for line in sorted(inside) if "# noqa: PLC0415  (" not in lines[line - 1]] == []


def reached_from(module: str) -> set[str]:
    """What is loaded with a module, itself among it, but for the `__init__` files on the way, which hold little."""
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        if (one := waiting.pop()) not in reached:
            reached.add(one)
            waiting += GRAPH[one]
    return reached


@pytest.mark.parametrize("start", ["autograd_lsp.__main__", "autograd_lsp.cli", "autograd_lsp.flake8"])
def test_a_start_loads_nothing_that_is_loaded_by_its_name(start: str) -> None:
    assert all(find_spec(name) is not None for name in BY_NAME)
    late = {module for module in MODULES for name in BY_NAME if f"{module}.".startswith(f"{name}.")}
    assert reached_from(start) & late <= {"autograd_lsp.cli.formats"}


def test_the_server_loads_nothing_of_the_command_line() -> None:
    rooms = {room_of(module) for module in reached_from("autograd_lsp.server.transport") - {"autograd_lsp"}}
    assert rooms <= ALLOWED["server"] | {"server"}


@pytest.mark.parametrize("package", OPTIONAL)
def test_what_is_optional_is_imported_in_one_place(package: str) -> None:
    places = {
        path.relative_to(FACES).as_posix()
        for path in SOURCES
        for _, name in imports_in(TREES[path])
        if name.split(".")[0] == package
    }
    assert places == {OPTIONAL[package]}


def test_files_functions_and_folders_can_be_taken_in() -> None:
    for path in SOURCES:
        assert len(path.read_text().splitlines()) <= MOST_LINES, path
        for function in functions_in(TREES[path]):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            assert lines <= MOST_LINES_OF_A_FUNCTION, f"{path}: {function.name} has {lines} lines"
    for folder in {path.parent for path in SOURCES}:
        assert len([*folder.glob("*.py")]) <= MOST_FILES, folder
