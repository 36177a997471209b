"""Parsing bytes with tree-sitter, again and again as they are edited.

A *tree* is tree-sitter's concrete tree of a whole file, in byte offsets of its UTF-8 text. After `edit` says what
was replaced, `parse` with that tree reuses every part of it that the edit left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Point, Tree

LANGUAGE = Language(tree_sitter_python.language())

_MANY_COMMENTS = re.compile(rb"(?m)(?:^[ \t]*#[^\n]*\n){400,}")
_INK = re.compile(rb"[^\n]")

LONG = 8_000
"""Bytes from which on it is worth its while to parse by an older tree."""


def parse(text: bytes, old: Tree | None = None) -> Tree:
    """The tree of `text`; `old` is the tree of the text before, already told of its edits.

    Of hundreds of comments in a row it has none: for each of them the grammar looks at all that follow.
    """
    text = _MANY_COMMENTS.sub(lambda run: _INK.sub(b" ", run[0]), text)
    parser = Parser(LANGUAGE)
    return parser.parse(text) if old is None else parser.parse(text, old)


def edit(tree: Tree, start: int, old_end: int, new_end: int, old_text: bytes, new_text: bytes) -> Tree:
    """A copy of `tree` that knows bytes `start:old_end` of `old_text` to have become `start:new_end` of `new_text`."""
    edited = tree.copy()
    row = old_text.count(b"\n", 0, start)
    edited.edit(
        start,
        old_end,
        new_end,
        _point(old_text, start, row),
        _point(old_text, old_end, row + old_text.count(b"\n", start, old_end)),
        _point(new_text, new_end, row + new_text.count(b"\n", start, new_end)),
    )
    return edited


class Reparser:
    """Parses texts of which some are much alike: a long one by the tree of one before it that had no error."""

    def __init__(self, text: bytes = b"", tree: Tree | None = None) -> None:
        self.text = text
        self.tree = tree

    def parse(self, text: bytes) -> Tree:
        if len(text) < LONG:
            return parse(text)
        start, old_end = changed(self.text, text)
        if self.tree is not None and old_end - start > len(self.text) // 2:
            return parse(text)
        new_end = len(text) - len(self.text) + old_end
        old = None if self.tree is None else edit(self.tree, start, old_end, new_end, self.text, text)
        tree = parse(text, old)
        if not tree.root_node.has_error:
            self.text, self.tree = text, tree
        return tree


def changed(old: bytes, new: bytes) -> tuple[int, int]:
    """The bytes of `old` that are others in `new`, as few as there may be in one piece."""
    shorter = min(len(old), len(new))
    start, limit = 0, shorter
    while start < limit:
        middle = (start + limit + 1) // 2
        if new.startswith(old[start:middle], start):
            start = middle
        else:
            limit = middle - 1
    same, limit = 0, shorter - start
    while same < limit:
        middle = (same + limit + 1) // 2
        if new.endswith(old[len(old) - middle : len(old) - same], 0, len(new) - same):
            same = middle
        else:
            limit = middle - 1
    return start, len(old) - same


def kinds(*names: str) -> frozenset[int]:
    """The numbers that the grammar gives to these named kinds; one name can have several."""
    known = _kinds_by_name()
    missing = {*names} - known.keys()
    if missing:
        raise ValueError(f"the grammar has no {sorted(missing)}")
    return frozenset(kind for name in names for kind in known[name])


def kind_names() -> Iterable[str]:
    """The named kinds of the grammar."""
    return _kinds_by_name()


@cache
def _kinds_by_name() -> dict[str, list[int]]:
    """All modules that ask for kinds do so as they are loaded, and the server is waited for meanwhile."""
    found: dict[str, list[int]] = {}
    for kind in range(LANGUAGE.node_kind_count):
        name = LANGUAGE.node_kind_for_id(kind)
        if name is not None and LANGUAGE.node_kind_is_named(kind):
            found.setdefault(name, []).append(kind)
    return found


def kind(name: str) -> int:
    (only,) = kinds(name)
    return only


def field(name: str) -> int:
    found = LANGUAGE.field_id_for_name(name)
    if found is None:
        raise ValueError(f"the grammar has no field {name}")
    return found


def parts(node: Node) -> list[Node]:
    """The named children of `node`, less comments and continued lines."""
    return [child for child in node.named_children if not child.is_extra]


def _point(text: bytes, offset: int, row: int) -> Point:
    point: Point = Point(row, offset - text.rfind(b"\n", 0, offset) - 1)
    return point
