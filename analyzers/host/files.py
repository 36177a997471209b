"""From a file's text to its chunks, and to the files that it imports."""

from __future__ import annotations

import re
from collections.abc import Mapping

from analyzers.host.world import MOST_TEXT, exists, source, world_of
from analyzers.program import imports, prelude
from analyzers.queries.engine import Database, query
from analyzers.syntax import nodes as n
from analyzers.syntax.lower import lower, lower_head
from analyzers.syntax.outline import Outline, outline_of
from analyzers.syntax.parse import parse
from analyzers.syntax.resplit import resplit
from analyzers.syntax.split import Module, split

LONE_RETURN = re.compile(rb"\r(?!\n)")


KEPT_TREES, KEPT_TEXTS, KEPT_CHUNKS = 200, 4_000, 24_000
"""Files whose syntax tree is kept, which takes more memory than all else that is known of an imported file; files that
are kept cut into texts; and chunks that are kept lowered."""


@query(capacity=KEPT_TREES)
def module(db: Database, path: str) -> Module:
    text = source(db, path) or b""
    if len(text) > MOST_TEXT:
        text = b""
    if b"\r" in text:
        # A lone carriage return ends a line for Python and for editors, but not in the grammar.
        text = LONE_RETURN.sub(b"\n", text)
    kept = world_of(db).cut
    before = kept.pop(path, None)
    if len(kept) >= KEPT_TREES:
        del kept[next(iter(kept))]
    kept[path] = _split(path, text) if before is None else resplit(before, text)
    return kept[path]


def _split(path: str, text: bytes) -> Module:
    """Names in our descriptions of libraries come from other files, and those in a notebook from its session."""
    return split(text, parse(text), is_closed=not (prelude.is_prelude(path) or path.endswith(".ipynb")))


@query(eager=1)
def body(db: Database, path: str) -> tuple[n.ChunkRef, ...]:
    return module(db, path).body


@query(eager=1)
def moves_search_path(db: Database, path: str) -> bool:
    return module(db, path).moves_search_path


@query(eager=1)
def search_folders(db: Database, path: str) -> tuple[str, ...]:
    return module(db, path).search_folders


@query(eager=1)
def outline(db: Database, path: str) -> Outline:
    cut = module(db, path)
    kept, keys = world_of(db).outlines, tuple(cut.spans)
    before = kept.get(path)
    if before is None or before[0] != keys:
        if len(kept) >= KEPT_TREES:
            del kept[next(iter(kept))]
        before = kept[path] = keys, outline_of(cut)
    return before[1]


@query(capacity=KEPT_TEXTS, eager=1)
def texts(db: Database, path: str) -> Mapping[str, bytes]:
    """The text of each chunk of a file."""
    return {key: span.text for key, span in module(db, path).spans.items()}


@query(capacity=KEPT_TEXTS, eager=1)
def heads(db: Database, path: str) -> Mapping[str, bytes]:
    """The text of each chunk that is a function, up to where its body begins."""
    return {key: span.text[: span.head] for key, span in module(db, path).spans.items() if span.head}


@query(capacity=KEPT_CHUNKS)
def chunk(db: Database, path: str, key: str) -> n.Chunk:
    """One chunk, lowered; it has read no more of its file than its own text."""
    db.entry(texts, key, path)
    return lower(db.peek(module, path), key)


@query(capacity=KEPT_CHUNKS)
def head(db: Database, path: str, key: str) -> n.Chunk:
    """A chunk as far as its definition needs it: a function without its body, all of anything else."""
    try:
        db.entry(heads, key, path)
    except KeyError:
        return chunk(db, path, key)
    return lower_head(db.peek(module, path), key)


def find_import(db: Database, path: str, name: str, level: int) -> str | None:
    """The file of the workspace that an import in `path` leads to; `level` counts the dots before `name`."""
    if prelude.is_prelude(path):
        return None
    moves, added = moves_search_path(db, path), search_folders(db, path)
    return imports.find_import(lambda candidate: exists(db, candidate), path, name, level, moves=moves, added=added)


@query
def imports_of(db: Database, path: str) -> tuple[str, ...]:
    """The files of the workspace that a file imports as it is imported itself."""
    found: dict[str, None] = {}
    stack: list[n.Stmt] = []
    for key in outline(db, path).importing:
        stack += chunk(db, path, key).body
    while stack:
        statement = stack.pop()
        match statement:
            case n.Import(names=names):
                wanted = [(alias.name, 0) for alias in names]
            case n.ImportFrom(module=name, names=names, level=level):
                prefix = f"{name}." if name else ""
                wanted = [(name or "", level), *((prefix + alias.name, level) for alias in names)]
            case n.If(test=test, body=inner, orelse=other):
                if not (
                    isinstance(test, n.Name | n.Attribute)
                    and "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
                ):
                    stack += inner
                stack += other
                continue
            case n.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                stack += (*inner, *(s for h in handlers for s in h.body), *other, *last)
                continue
            case n.With(body=inner):
                stack += inner
                continue
            case _:
                continue
        for name_, level_ in wanted:
            target = find_import(db, path, name_, level_)
            if target is not None and target != path:
                found[target] = None
    return tuple(found)


@query
def reach(db: Database, path: str) -> frozenset[str]:
    """The files that importing a file imports, by any number of steps."""
    seen: set[str] = set()
    stack = [path]
    while stack:
        for target in imports_of(db, stack.pop()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return frozenset(seen)


def may_import(db: Database, importer: str, path: str) -> bool:
    """Whether `importer` sees what is in `path`. Of files that import each other, each sees only those before it by
    name: a rule that does not depend on where the analysis begins."""
    return path < importer or importer not in reach(db, path)
