"""Imports point one way: each room of `analyzers` may import only the rooms listed for it here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ANALYZERS = REPOSITORY / "analyzers"

GROUND = {"maps"}
"""What every room may import, as it may the standard library."""

ALLOWED: dict[str, set[str]] = {
    "maps": set(),
    "syntax": set(),
    "queries": set(),
    "ops": set(),
    "domain": set(),
    "program": {"syntax"},
    "machine": {"domain", "ops", "syntax"},
    "graph": {"domain", "machine", "ops", "report", "syntax"},
    "drafting": {"domain", "machine", "report", "syntax"},
    "rules": {"domain", "drafting", "machine", "report", "syntax"},
    "report": set(),
    "host": {"domain", "drafting", "graph", "machine", "program", "queries", "report", "rules", "syntax"},
    "views": {"domain", "host", "machine", "program", "queries", "report", "syntax"},
}
"""By room, the other rooms that it may import. `host` is the one door: only `views`, which asks it what editors want to
know of a file as a whole, imports it, and nothing in `analyzers` imports `views`."""

FOR_TYPES_ONLY = {("domain", "syntax")}
"""What a room may name in annotations, under `TYPE_CHECKING`, though it never imports it at run time."""

ABSENT = {"autograd_lsp", "lsprotocol", "numpy", "pygls", "torch", "torchgen"}
"""What `analyzers` knows nothing of."""


def room_of(path: Path) -> str:
    return path.relative_to(ANALYZERS).parts[0].removesuffix(".py")


def sources(folder: Path) -> list[Path]:
    """The modules that are imported; the prelude is data, which only the machine runs."""
    return [path for path in sorted(folder.rglob("*.py")) if ANALYZERS / "prelude" not in path.parents]


def imports_of(path: Path, *, types: bool = True) -> Iterator[str]:
    """The dotted names of the modules that a file imports, wherever in the file; without `types`, at run time only."""
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                parent = path.relative_to(REPOSITORY).with_suffix("").parts[:-level] if level else ()
                dotted = ".".join([*parent, *([module] if module else [])])
                # `from analyzers import rules` imports a room by its name.
                yield from (f"{dotted}.{alias.name}" for alias in names) if dotted == "analyzers" else (dotted,)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse) if not types:
                waiting += orelse
            case _:
                waiting += ast.iter_child_nodes(node)


def rooms_of(path: Path, *, types: bool = True) -> set[str]:
    """The rooms of `analyzers` that a file imports, without its own."""
    found = [dotted.split(".") for dotted in imports_of(path, types=types)]
    return {parts[1] for parts in found if parts[0] == "analyzers" and len(parts) > 1} - {room_of(path), *GROUND}


def test_every_room_is_listed() -> None:
    assert {room_of(path) for path in sources(ANALYZERS)} - {"__init__"} == set(ALLOWED)


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    typed = ALLOWED[room] | {other for here, other in FOR_TYPES_ONLY if here == room}
    for path in sources(ANALYZERS):
        if room_of(path) == room:
            assert rooms_of(path) <= typed, path
            assert rooms_of(path, types=False) <= ALLOWED[room], path


def test_the_analyzer_knows_neither_torch_nor_an_editor() -> None:
    for path in sources(ANALYZERS):
        assert {dotted.partition(".")[0] for dotted in imports_of(path)}.isdisjoint(ABSENT), path


def test_only_the_server_knows_the_protocol() -> None:
    server = REPOSITORY / "autograd_lsp" / "server"
    for path in sources(REPOSITORY / "autograd_lsp"):
        knows = {dotted.partition(".")[0] for dotted in imports_of(path)} & {"pygls", "lsprotocol"}
        assert not knows or path.is_relative_to(server), path


def test_the_prelude_imports_only_what_it_models() -> None:
    """It stands for torch's own Python, so it imports what that does, and nothing of ours."""
    for path in (ANALYZERS / "prelude").rglob("*.py"):
        assert {dotted.partition(".")[0] for dotted in imports_of(path)}.isdisjoint({"analyzers", "autograd_lsp"}), path
