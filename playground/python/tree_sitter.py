"""What the analyzer uses of the package `tree_sitter`, over trees that its JavaScript form has parsed.

The registries that this is built from have no wheel of that package for Pyodide. `Parser.rows` comes from the worker:
it gives the tree of a text in preorder, six numbers for each node (see `parser.js`). A tree is parsed whole each time,
so `edit` has nothing to say.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

NUMBERS = 6
NAMED, EXTRA, BROKEN = 1, 2, 4


class Point(NamedTuple):
    row: int
    column: int


class Language:
    """`kinds` are the names of node kinds by number, None for those without, and whether each is named."""

    kinds: ClassVar[Sequence[tuple[str | None, bool]]] = ()
    fields: ClassVar[Sequence[str | None]] = ()

    def __init__(self, pointer: object) -> None:
        del pointer
        self.node_kind_count = len(self.kinds)

    def node_kind_for_id(self, kind: int) -> str | None:
        return self.kinds[kind][0]

    def node_kind_is_named(self, kind: int) -> bool:
        return self.kinds[kind][1]

    def field_id_for_name(self, name: str) -> int | None:
        return self.fields.index(name) if name in self.fields else None


class Node:
    __slots__ = (
        "children",
        "end_byte",
        "field",
        "has_error",
        "is_extra",
        "is_named",
        "kind_id",
        "parent",
        "start_byte",
    )

    def __init__(self, parent: Node | None, kind: int, start: int, end: int, field: int, flags: int) -> None:
        self.kind_id, self.start_byte, self.end_byte, self.field = kind, start, end, field
        self.is_named = bool(flags & NAMED)
        self.is_extra = bool(flags & EXTRA)
        self.has_error = bool(flags & BROKEN)
        self.parent = parent
        self.children: list[Node] = []

    @property
    def type(self) -> str:
        return (Language.kinds[self.kind_id][0] if self.kind_id < len(Language.kinds) else None) or "ERROR"

    @property
    def id(self) -> int:
        return id(self)

    @property
    def named_children(self) -> list[Node]:
        return [child for child in self.children if child.is_named]

    def named_child(self, index: int) -> Node:
        return self.named_children[index]

    @property
    def prev_sibling(self) -> Node | None:
        if self.parent is None:
            return None
        at = next(number for number, child in enumerate(self.parent.children) if child is self)
        return self.parent.children[at - 1] if at else None

    def child_by_field_id(self, field: int) -> Node | None:
        return next((child for child in self.children if child.field == field), None)

    def descendant_for_byte_range(self, start: int, end: int) -> Node:
        """The smallest that reaches from `start` to `end`."""
        for child in self.children:
            if child.end_byte < end or child.end_byte <= start:
                continue
            return child.descendant_for_byte_range(start, end) if child.start_byte <= start else self
        return self

    def walk(self) -> TreeCursor:
        return TreeCursor(self)


class TreeCursor:
    def __init__(self, root: Node) -> None:
        self.node = root
        self._root = root

    def goto_parent(self) -> bool:
        if self.node is self._root or self.node.parent is None:
            return False
        self.node = self.node.parent
        return True

    def goto_first_child_for_byte(self, byte: int) -> int | None:
        """The first child that ends behind a byte."""
        at = bisect_right(self.node.children, byte, key=lambda child: child.end_byte)
        if at == len(self.node.children):
            return None
        self.node = self.node.children[at]
        return at


class Tree:
    def __init__(self, root: Node) -> None:
        self.root_node = root

    def copy(self) -> Tree:
        return self

    def edit(self, *places: object) -> None:
        del places


class Parser:
    rows: ClassVar[Callable[[str], Sequence[int]]]

    def __init__(self, language: Language) -> None:
        del language

    def parse(self, text: bytes, old: Tree | None = None) -> Tree:
        del old
        decoded = text.decode("utf-8", "replace")
        return Tree(_built(Parser.rows(decoded), None if decoded.isascii() else _offsets(decoded)))


def _built(numbers: Sequence[int], offsets: Sequence[int] | None) -> Node:
    """The root, with all below it. No recursion: programs may be nested deeply."""
    root: Node | None = None
    open_nodes: list[tuple[Node, int]] = []
    """Those of whose children some are still to come, and how many."""
    for at in range(0, len(numbers), NUMBERS):
        kind, start, end, field, flags, count = numbers[at : at + NUMBERS]
        if offsets is not None:
            start, end = offsets[start], offsets[end]
        above, left = open_nodes.pop() if open_nodes else (None, 0)
        node = Node(above, kind, start, end, field, flags)
        root = root or node
        if above is not None:
            above.children.append(node)
        open_nodes += [(one, more) for one, more in ((above, left - 1), (node, count)) if one is not None and more > 0]
    assert root is not None  # a text without a word has a root, too
    return root


def _offsets(text: str) -> list[int]:
    """By UTF-16 code unit, as JavaScript counts, the byte of the UTF-8 text."""
    offsets: list[int] = []
    at = 0
    for char in text:
        offsets += [at] * (2 if ord(char) > 0xFFFF else 1)
        at += len(char.encode("utf-8", "surrogatepass"))
    return [*offsets, at]
