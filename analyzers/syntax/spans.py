"""Chunks by their places: which bytes each is made of.

Places count from the start of the statement of the module in which the chunk lies. So a statement that moves keeps its
spans, and only where it starts has to be known anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from tree_sitter import Node

from analyzers.syntax import parse
from analyzers.syntax.gaps import Gaps
from analyzers.syntax.literals import identifier
from analyzers.syntax.unbound import Words

_CLASS = parse.kind("class_definition")
_FUNCTION = parse.kind("function_definition")
_DECORATED = parse.kind("decorated_definition")
_NAME = parse.field("name")
_BODY = parse.field("body")


class Segment(NamedTuple):
    """`length` bytes at `chunk_offset` of the chunk are those at `offset` of the statement of the module."""

    chunk_offset: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """Where a chunk lies: bytes `start` to `end`; `children` are the methods and classes cut out of it.

    `name` is the function's or class's own name, None for another statement; `head` is where in the chunk the header of
    a function ends, 0 for anything else. `is_hole` says that it is nothing but broken text.
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
    is_hole: bool = False

    def outside(self, offset: int) -> int:
        """The place in the statement of the module of a place in the chunk; where a gap is, the place before it."""
        at = bisect_left(self.segments, offset, key=lambda segment: segment.chunk_offset)
        if at == len(self.segments) or self.segments[at].chunk_offset != offset or self._follows(at):
            at -= 1
        segment = self.segments[max(at, 0)]
        return segment.offset + min(max(offset - segment.chunk_offset, 0), segment.length)

    def _follows(self, at: int) -> bool:
        """Whether a segment is the rest of a line that the one before it began."""
        return (
            at > 0
            and self.segments[at - 1].chunk_offset + self.segments[at - 1].length == self.segments[at].chunk_offset
        )

    def inside(self, offset: int) -> int:
        """The place in the chunk of a place in the statement of the module; between segments, the end of the first."""
        return inside(self.segments, offset)

    def leaves_out(self, offset: int) -> bool:
        """Whether a place in the statement of the module lies in a gap."""
        segment = _before(self.segments, offset)
        return not self.is_class and offset > segment.offset + segment.length

    def lacks(self, offset: int) -> bool:
        """Whether what starts at a place in the statement of the module is left out."""
        segment = _before(self.segments, offset)
        return not self.is_class and offset >= segment.offset + segment.length

    def family(self) -> Iterator[ChunkSpan]:
        """The chunks cut out of it, and itself."""
        for child in self.children:
            yield from child.family()
        yield self

    def renamed(self, key: str) -> ChunkSpan:
        if not self.is_class:
            return replace(self, key=key)
        children = iter(self.children)
        parts: list[_Part] = []
        for start, at, length in self.segments:
            if length:
                parts.append((at, self.text[start : start + length]))
            else:
                child = next(children)
                parts.append((at, child.renamed(key + child.key[len(self.key) :])))
        return _class_span(key, self.start, self.end, self.name, parts)


def inside(segments: Sequence[Segment], offset: int) -> int:
    segment = _before(segments, offset)
    return segment.chunk_offset + min(max(offset - segment.offset, 0), segment.length)


def _before(segments: Sequence[Segment], offset: int) -> Segment:
    """The last segment that does not start behind a place."""
    return segments[max(bisect_right(segments, offset, key=lambda segment: segment.offset) - 1, 0)]


class Head(NamedTuple):
    """What a chunk is called: `wanted` is its key, but for the number that tells equal ones apart.

    `kept` are the stretches of the file that make up a statement that is neither a function nor a class.
    """

    node: Node
    inner: Node
    name: str | None
    wanted: str
    kept: tuple[tuple[int, int], ...] = ()


class Cutter:
    """Cuts the text of a tree; `holes` are those of the tree, `words` those of the file. A text that is `known` is that
    very object."""

    def __init__(
        self, text: bytes, holes: Mapping[int, int], words: Words | None, known: Mapping[bytes, bytes] | None = None
    ) -> None:
        self.text = text
        self.holes = holes
        self.known = known or {}
        self.gaps = Gaps(text, holes, words)

    def head(self, node: Node, prefix: str = "") -> Head:
        inner = _undecorated(node)
        named = inner.child_by_field_id(_NAME) if inner.kind_id in (_CLASS, _FUNCTION) else None
        if named is None:
            kept = self.gaps.kept(node, self.end(node))
            return Head(
                node, inner, None, f"{prefix}stmt:{blake2b(self.joined(kept), digest_size=6).hexdigest()}", kept
            )
        name = identifier(self.text[named.start_byte : named.end_byte])
        return Head(node, inner, name, prefix + name)

    def cut(self, head: Head, key: str, base: int) -> ChunkSpan:
        """A chunk; `base` is where the statement of the module around it starts."""
        start, end = head.node.start_byte, self.end(head.node)
        if head.name is not None and head.inner.kind_id == _CLASS:
            parts = list(self.class_parts(head, key, base))
            return _class_span(key, start - base, end - base, head.name, parts, self.known)
        kept = head.kept or self.gaps.kept(head.node, end)
        text, segments = self.joined(kept), _segments(kept, base)
        header = 0 if head.name is None else inside(segments, _header_end(head.inner) - base)
        return ChunkSpan(
            key,
            start - base,
            end - base,
            self.known.get(text, text),
            segments,
            (),
            head.name,
            head=header,
            is_hole=start in self.holes,
        )

    def joined(self, kept: Sequence[tuple[int, int]]) -> bytes:
        if len(kept) == 1:
            ((start, end),) = kept
            return self.text[start:end]
        return b"".join([self.text[start:end] for start, end in kept])

    def class_parts(self, head: Head, key: str, base: int) -> Iterator[_Part]:
        start = head.node.start_byte
        yield start - base, self.text[start : _header_end(head.inner)]
        seen: dict[str, int] = {}
        for statement in _suite(head.inner):
            if is_chunk_of_class(statement):
                child = self.head(statement, key + ".")
                yield statement.start_byte - base, self.cut(child, numbered(child.wanted, seen), base)
            elif statement.start_byte not in self.holes:
                start = statement.start_byte
                yield start - base, self.text[start : self.end(statement)]

    def end(self, node: Node) -> int:
        """Where a statement ends, and the hole in it if it ends in one."""
        return self.holes.get(node.end_byte - 1, node.end_byte) if self.holes else node.end_byte


_Part: TypeAlias = tuple[int, bytes | ChunkSpan]
"""A segment's text, or what was cut out in its place, and where that starts."""


def numbered(wanted: str, seen: dict[str, int]) -> str:
    """The key of the next chunk that is called so; `seen` counts them."""
    count = seen[wanted] = seen.get(wanted, 0) + 1
    return key_of(wanted, count)


def key_of(wanted: str, count: int) -> str:
    return wanted if count == 1 else f"{wanted}#{count}"


def wanted_of(key: str) -> str:
    """What the chunk is called, of a statement of the module."""
    return key.partition("#")[0]


def is_chunk_of_class(node: Node) -> bool:
    """Whether a statement in a class body is a chunk of its own."""
    return node.kind_id in (_FUNCTION, _CLASS, _DECORATED)


def chunk_nodes(node: Node) -> Iterator[Node]:
    """The statements of a class that are chunks of their own."""
    return filter(is_chunk_of_class, _suite(_undecorated(node)))


def _segments(kept: Sequence[tuple[int, int]], base: int) -> tuple[Segment, ...]:
    lengths = accumulate([end - start for start, end in kept], initial=0)
    return tuple([Segment(at, start - base, end - start) for at, (start, end) in zip(lengths, kept, strict=False)])


def _header_end(node: Node) -> int:
    """Where the colon of a function or a class stands, or where it ends if it has none."""
    return next((child.end_byte for child in node.children if child.type == ":"), node.end_byte)


def _undecorated(node: Node) -> Node:
    return node.named_children[-1] if node.kind_id == _DECORATED else node


def _suite(node: Node) -> list[Node]:
    suite = node.child_by_field_id(_BODY)
    return [] if suite is None else parse.parts(suite)


def _class_span(
    key: str, start: int, end: int, name: str | None, parts: list[_Part], known: Mapping[bytes, bytes] | None = None
) -> ChunkSpan:
    text = bytearray()
    segments: list[Segment] = []
    children: list[ChunkSpan] = []
    for offset, part in parts:
        if segments:
            text += b"\n"
        if isinstance(part, ChunkSpan):
            segments.append(Segment(len(text), offset, 0))
            children.append(part)
            text += b"-> " + part.key.encode()
        else:
            segments.append(Segment(len(text), offset, len(part)))
            text += part
    made = bytes(text)
    made = made if known is None else known.get(made, made)
    return ChunkSpan(key, start, end, made, tuple(segments), tuple(children), name, is_class=True)
