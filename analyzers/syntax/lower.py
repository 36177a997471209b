"""Lowering one chunk: from its place in tree-sitter's tree to the tree that the machine runs.

Nothing is lowered before it is asked for. A class chunk holds a `ChunkRef` for each of its methods.
"""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from analyzers.syntax.nodes import Chunk, ChunkRef, Stmt
from analyzers.syntax.source import Source
from analyzers.syntax.spans import ChunkSpan, is_chunk_of_class
from analyzers.syntax.split import Module
from analyzers.syntax.statements import class_def, function_head, statement


def lower(module: Module, key: str) -> Chunk:
    """Lower the chunk `key` of `module`; KeyError if there is none."""
    span = module.spans[key]
    source, node = _source(module, span)
    body = _class(source, span, node) if span.is_class else statement(source, node)
    return Chunk(key, span.text, (body,))


def lower_head(module: Module, key: str) -> Chunk:
    """The chunk `key`, which is a function, without that function's body."""
    span = module.spans[key]
    source, node = _source(module, span)
    return Chunk(key, span.text[: span.head], (function_head(source, node),))


def _source(module: Module, span: ChunkSpan) -> tuple[Source, Node]:
    repaired, start, node = module.node(span.key)
    if len(span.text) == span.end - span.start:
        return Source(repaired.text, start + span.start, holes=repaired.holes), node
    return Source(repaired.text, start, holes=repaired.holes, span=span), node


def _class(source: Source, span: ChunkSpan, node: Node) -> Stmt:
    """The segments of a class after its header are its statements, one each, in order."""
    segments = iter(span.segments[1:])
    children = iter(span.children)

    def body(c: Source, inner: Iterable[Node]) -> tuple[Stmt, ...]:
        lowered: list[Stmt] = []
        for one in inner:
            if one.start_byte in c.holes:
                continue
            segment = next(segments)
            if is_chunk_of_class(one):
                lowered.append(ChunkRef(segment.chunk_offset, segment.chunk_offset, next(children).key))
            else:
                lowered.append(statement(c, one))
        return tuple(lowered)

    return class_def(source, node, body)
