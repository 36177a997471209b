"""Cutting a module into chunks.

A *chunk* is a statement of the module, a class without its methods, or one method. Its *text* is what it is made of
and nothing else: for a class, the header and the plain statements, with one line naming each method where that method
stands. So an edit inside a method leaves the text of its class equal, and a line added above leaves every chunk equal.
A *segment* is a stretch of chunk text that lies in one piece in the file.

    @dataclass                  chunk `Net`: segment `@dataclass ... Net:`, line `-> Net.f`, segment `size = 3`
    class Net:
        def f(self): ...        chunk `Net.f`
        size = 3
    net = Net()                 chunk `stmt:91c2...`, named after its text
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from tree_sitter import Node, Tree

from analyzers.syntax import parse
from analyzers.syntax.literals import identifier
from analyzers.syntax.nodes import ChunkRef
from analyzers.syntax.repair import Repaired, is_broken, repair

_CLASS = parse.kind("class_definition")
_FUNCTION = parse.kind("function_definition")
_DECORATED = parse.kind("decorated_definition")
_NAME = parse.field("name")
_BODY = parse.field("body")


class Segment(NamedTuple):
    """`length` bytes at `chunk_offset` of the chunk are those at `file_offset` of the file."""

    chunk_offset: int
    file_offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """Where a chunk lies in the file: bytes `start` to `end`; `children` are the methods and classes cut out of it.

    `name` is the function's or class's own name, None for another statement; `head` is where the body of a function
    begins, 0 for anything else.
    """

    key: str
    start: int
    end: int
    text: bytes
    segments: tuple[Segment, ...]
    children: tuple[ChunkSpan, ...] = ()
    name: str | None = None
    is_class: bool = False
    head: int = 0

    def to_file(self, offset: int) -> int:
        """The place in the file of a place in the chunk."""
        at = bisect_right(self.segments, offset, key=lambda segment: segment.chunk_offset) - 1
        segment = self.segments[max(at, 0)]
        return segment.file_offset + min(max(offset - segment.chunk_offset, 0), segment.length)

    def from_file(self, file_offset: int) -> int:
        """The place in the chunk of a place in the file; between two segments, the end of the first."""
        at = bisect_right(self.segments, file_offset, key=lambda segment: segment.file_offset) - 1
        segment = self.segments[max(at, 0)]
        return segment.chunk_offset + min(max(file_offset - segment.file_offset, 0), segment.length)


@dataclass(frozen=True, slots=True)
class Module:
    """A file cut into chunks; nothing of it is lowered yet. `mended` is the text of which `nodes` are the tree."""

    text: bytes
    mended: bytes = field(repr=False)
    holes: dict[int, int] = field(repr=False)
    chunks: tuple[ChunkSpan, ...]
    body: tuple[ChunkRef, ...]
    spans: dict[str, ChunkSpan] = field(repr=False)
    nodes: dict[str, Node] = field(repr=False, compare=False)

    def locate(self, file_offset: int) -> tuple[str, int] | None:
        """The innermost chunk around a place in the file, and the place in that chunk; None between statements."""
        spans, found = self.chunks, None
        while True:
            at = bisect_right(spans, file_offset, key=lambda span: span.start) - 1
            if at < 0 or file_offset > spans[at].end:
                break
            found = spans[at]
            spans = found.children
        return None if found is None else (found.key, found.from_file(file_offset))

    def to_file(self, key: str, offset: int) -> int:
        return self.spans[key].to_file(offset)


def split(text: bytes, tree: Tree) -> Module:
    """Cut a file into chunks; what it costs grows with the statements of the module and of its classes alone."""
    repaired = repair(text) if is_broken(text, tree) else Repaired(text, tree, {})
    cutter = _Cutter(text, repaired.holes)
    chunks = tuple(cutter.cut(parse.parts(repaired.tree.root_node), ""))
    body = tuple(ChunkRef(0, 0, span.key) for span in chunks)
    return Module(text, repaired.text, repaired.holes, chunks, body, cutter.spans, cutter.nodes)


def is_chunk_of_class(node: Node) -> bool:
    """Whether a statement in a class body is a chunk of its own."""
    return node.kind_id in (_FUNCTION, _CLASS, _DECORATED)


class _Cutter:
    def __init__(self, text: bytes, holes: dict[int, int]) -> None:
        self.text = text
        self.holes = holes
        self.spans: dict[str, ChunkSpan] = {}
        self.nodes: dict[str, Node] = {}
        self.seen: dict[str, int] = {}

    def cut(self, nodes: Iterable[Node], prefix: str) -> Iterator[ChunkSpan]:
        for node in nodes:
            inner = node.named_children[-1] if node.kind_id == _DECORATED else node
            is_class = inner.kind_id == _CLASS
            named = inner.child_by_field_id(_NAME) if is_class or inner.kind_id == _FUNCTION else None
            start, end = node.start_byte, self.end(node)
            if named is None:
                text = self.text[start:end]
                key = self.key(prefix + "stmt:" + blake2b(text, digest_size=6).hexdigest())
                span = ChunkSpan(key, start, end, text, (Segment(0, start, end - start),))
            else:
                name = identifier(self.text[named.start_byte : named.end_byte])
                key = self.key(prefix + name)
                if is_class:
                    span = self.cut_class(key, name, node, inner)
                else:
                    text = self.text[start:end]
                    suite = inner.child_by_field_id(_BODY)
                    head = end if suite is None else suite.start_byte
                    span = ChunkSpan(
                        key, start, end, text, (Segment(0, start, end - start),), (), name, head=head - start
                    )
            self.spans[key] = span
            self.nodes[key] = node
            yield span

    def cut_class(self, key: str, name: str, node: Node, inner: Node) -> ChunkSpan:
        suite = inner.child_by_field_id(_BODY)
        statements = [] if suite is None else parse.parts(suite)
        header_end = next((child.end_byte for child in inner.children if child.type == ":"), node.end_byte)
        text = bytearray(self.text[node.start_byte : header_end])
        segments = [Segment(0, node.start_byte, len(text))]
        children: list[ChunkSpan] = []
        for statement in statements:
            text += b"\n"
            if is_chunk_of_class(statement):
                (child,) = self.cut([statement], key + ".")
                children.append(child)
                segments.append(Segment(len(text), child.start, 0))
                text += b"-> " + child.key.encode()
            else:
                start, end = statement.start_byte, self.end(statement)
                segments.append(Segment(len(text), start, end - start))
                text += self.text[start:end]
        return ChunkSpan(
            key, node.start_byte, self.end(node), bytes(text), tuple(segments), tuple(children), name, is_class=True
        )

    def end(self, node: Node) -> int:
        """Where a statement ends, and the hole in it if it ends in one."""
        return self.holes.get(node.end_byte - 1, node.end_byte) if self.holes else node.end_byte

    def key(self, wanted: str) -> str:
        count = self.seen[wanted] = self.seen.get(wanted, 0) + 1
        return wanted if count == 1 else f"{wanted}#{count}"
