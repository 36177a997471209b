"""The text being lowered, and the names that it binds.

`base` is what to take from an offset in the text to get an offset in the chunk, or one in the statement of the module
around `span` where the chunk is not all of one piece; `scope` collects the names that the function or class around
binds; `depth` counts how deep the lowering stands; `holes` are where `repair` blanked broken text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from tree_sitter import Node

from analyzers.syntax import literals
from analyzers.syntax import nodes as n
from analyzers.syntax.spans import ChunkSpan

MAX_DEPTH = 200
"""How deep statements and expressions nest; what is deeper is an error, so whoever walks the tree may recurse."""


@dataclass(slots=True)
class Scope:
    """Names bound so far. In a comprehension `bound` is its own and `walrus` is that of the function around it."""

    bound: set[str] = field(default_factory=set)
    walrus: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    yields: bool = False

    def locals(self) -> frozenset[str]:
        return frozenset((self.bound | self.walrus) - self.globals - self.nonlocals)


@dataclass(slots=True)
class Source:
    text: bytes
    base: int
    scope: Scope = field(default_factory=Scope)
    depth: int = 0
    names: dict[bytes, str] = field(default_factory=dict)
    holes: dict[int, int] = field(default_factory=dict)
    span: ChunkSpan | None = None

    def at(self, offset: int) -> int:
        """The place in the chunk of a place in the text."""
        return offset - self.base if self.span is None else self.span.inside(offset - self.base)

    def leaves_out(self, node: Node) -> bool:
        """Whether a statement or the value of one is half typed, so that the chunk has it not."""
        return self.span is not None and self.span.lacks(node.start_byte - self.base)

    def name(self, node: Node) -> str:
        """The identifier that `node` spells."""
        spelled = self.text[node.start_byte : node.end_byte]
        known = self.names.get(spelled)
        if known is None:
            known = self.names[spelled] = literals.identifier(spelled)
        return known


Lower: TypeAlias = Callable[[Source, Node], n.Expr]


def error(c: Source, node: Node) -> n.ErrorExpr:
    return n.ErrorExpr(c.at(node.start_byte), c.at(node.end_byte))
