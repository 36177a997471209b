"""Which files concern autograd at all: the others are parsed, and never run for what rules would say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import Literal, NamedTuple

from analyzers.host.world import MOST_TEXT, exists, looked_at_together, source
from analyzers.program import imports, signs
from analyzers.program.signs import Import
from analyzers.queries.engine import Database, query
from analyzers.syntax.split import SEARCH_PATH, search_folders

MOST_FOLLOWED = 5_000
"""Files whose imports are followed for one answer; of a program with more, each file is taken to concern autograd."""


class Imports(NamedTuple):
    statements: tuple[Import, ...]
    moves_search_path: bool
    search_folders: tuple[str, ...]


@query(eager=1)
def sign(db: Database, path: str) -> Literal["makes tensors", "speaks", "none"]:
    """What the text of a file itself says."""
    text = _text(db, path)
    return "makes tensors" if signs.makes_tensors(text) else "speaks" if signs.speaks(text) else "none"


@query(eager=1)
def imports_of_text(db: Database, path: str) -> Imports:
    text = _text(db, path)
    moves = SEARCH_PATH in text
    return Imports(tuple(dict.fromkeys(signs.imports(text))), moves, search_folders(text) if moves else ())


def _text(db: Database, path: str) -> bytes:
    text = source(db, path) or b""
    return text if len(text) <= MOST_TEXT else b""


@query
def concerns(db: Database, path: str) -> bool:
    """Whether a run of a file may come by a tensor, or by a word of autograd's about objects from elsewhere: it has one
    of these signs itself, what it imports has one, or what functions there import makes tensors."""
    if sign(db, path) != "none":
        return True
    together = looked_at_together(db)
    at_once = path in together and len(together) <= MOST_FOLLOWED
    return path in (concerned(db) if at_once else _concerned(db, [path]))


@query
def concerned(db: Database) -> frozenset[str]:
    """The files that concern autograd, of those that are looked at together and all that they reach."""
    return _concerned(db, looked_at_together(db))


def _concerned(db: Database, paths: Iterable[str]) -> frozenset[str]:
    importers: dict[str, list[str]] = {}
    at_once: dict[str, list[str]] = {}
    seen, stack = set(paths), list(paths)
    makers, speakers = [], []
    while stack:
        path = stack.pop()
        says = sign(db, path)
        if says == "makes tensors":
            makers.append(path)
            continue  # whatever else it imports
        if says == "speaks":
            speakers.append(path)
        for target, indented in imports_in(db, path):
            importers.setdefault(target, []).append(path)
            if not indented:
                at_once.setdefault(target, []).append(path)
            if target not in seen:
                seen.add(target)
                stack.append(target)
        if len(seen) > MOST_FOLLOWED:
            return frozenset(seen)
    return _reached_from(makers, importers) | _reached_from(speakers, at_once)


@query
def imports_in(db: Database, path: str) -> tuple[tuple[str, bool], ...]:
    """The files of the workspace that the text of a file may import, each with whether only functions may do so."""
    found: dict[str, bool] = {}
    for one in imports_of_text(db, path).statements:
        for target in _targets(db, path, one):
            if target != path:
                found[target] = found.get(target, True) and one.indented
    return tuple(found.items())


def _targets(db: Database, path: str, wanted: Import) -> Iterator[str]:
    """The files of a module, of the packages around it, and of the names that it may hold as modules of its own."""
    module, level, names, _ = wanted
    found = _find(db, path, module, level)
    if found is not None:
        yield found
    if not names:
        packages = accumulate(module.split(".")[:-1], "{}.{}".format)
        yield from (package for name in packages if (package := _find(db, path, name, level)) is not None)
    for name in names:
        if found is None:
            inside = _find(db, path, f"{module}.{name}", level)
        elif found.endswith("/__init__.py"):
            inside = imports.module_at(partial(exists, db), imports.parent(found), [name], path)
        else:
            return
        if inside is not None:
            yield inside


def _find(db: Database, path: str, module: str, level: int) -> str | None:
    _, moves, added = imports_of_text(db, path)
    return imports.find_import(partial(exists, db), path, module, level, moves=moves, added=added)


def _reached_from(starts: Iterable[str], steps: dict[str, list[str]]) -> frozenset[str]:
    seen, stack = set(starts), list(starts)
    while stack:
        for target in steps.get(stack.pop(), ()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return frozenset(seen)
