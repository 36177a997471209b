"""Parsing bytes with tree-sitter, again and again as they are edited.

A *tree* is tree-sitter's concrete tree of a whole file, in byte offsets of its UTF-8 text. After `edit` says what
was replaced, `parse` with that tree reuses every part of it that the edit left alone.
"""

from __future__ import annotations

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Point, Tree

LANGUAGE = Language(tree_sitter_python.language())


def parse(text: bytes, old: Tree | None = None) -> Tree:
    """The tree of `text`; `old` is the tree of the text before, already told of its edits."""
    parser = Parser(LANGUAGE)
    return parser.parse(text) if old is None else parser.parse(text, old)


def edit(  # noqa: PLR0917
    tree: Tree, start: int, old_end: int, new_end: int, old_text: bytes, new_text: bytes
) -> Tree:
    """A copy of `tree` that knows bytes `start:old_end` of `old_text` to have become `start:new_end` of `new_text`."""
    edited = tree.copy()
    edited.edit(start, old_end, new_end, _point(old_text, start), _point(old_text, old_end), _point(new_text, new_end))
    return edited


def kinds(*names: str) -> frozenset[int]:
    """The numbers that the grammar gives to these named kinds; one name can have several."""
    wanted = set(names)
    found = frozenset(
        kind
        for kind in range(LANGUAGE.node_kind_count)
        if LANGUAGE.node_kind_is_named(kind) and LANGUAGE.node_kind_for_id(kind) in wanted
    )
    missing = wanted - {LANGUAGE.node_kind_for_id(kind) for kind in found}
    if missing:
        raise ValueError(f"the grammar has no {sorted(missing)}")
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


def _point(text: bytes, offset: int) -> Point:
    line_start = text.rfind(b"\n", 0, offset) + 1
    point: Point = Point(text.count(b"\n", 0, offset), offset - line_start)
    return point
