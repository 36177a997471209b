"""Gaps: what stands between statements and says nothing, so that a chunk is the same with it and without it.

A gap goes from behind what stands on a line to the end of the last line before there is something again: blanks,
empty lines, comments, and statements that are half typed. These are what does not parse, a name alone, and what reads a
name that nothing binds (`analyzers/syntax/unbound.py`). Of an assignment to what may be read elsewhere only the value
is a gap, as what the name held before is lost.

    total = 0  # of the epoch           total = 0
                                        total =
    half = (                            total += f(x)
    tot
    mean = tot
    total = tot
    total += f(x)

What stands in brackets or in a string is no gap. A name in a `try` may be there to be missed. A compound statement of a
class, such as an `if`, keeps all that is in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from analyzers.syntax import parse
from analyzers.syntax.unbound import Words, end_of_targets, may_be_read, unbound_statements

_GAP = re.compile(
    rb"(?:(?<![ \t\f])[ \t\f]+(?:#[^\r\n]*)?|#[^\r\n]*)(?:\r?\n[ \t\f]*(?:#[^\r\n]*)?)*(?=\r?\n|\Z)"
    rb"|(?:\r?\n[ \t\f]*(?:#[^\r\n]*)?)+(?=\r?\n|\Z)"
)
_NAME_ALONE = re.compile(rb"(?<=\n)[ \t]*([A-Za-z_\x80-\xff][\w\x80-\xff]*)[ \t]*(?=\r?\n|#|\Z)")
_LINE_BEHIND = re.compile(rb"[ \t]*(?=\r?\n|#|\Z)")
_INK = re.compile(rb"[^\r\n]")
_IDENTIFIER = parse.kind("identifier")
_STATEMENT = parse.kind("expression_statement")
_TRY = parse.kind("try_statement")
_COMMENT = parse.kind("comment")
_AROUND_STATEMENTS = parse.kinds(
    "module",
    "block",
    "if_statement",
    "elif_clause",
    "else_clause",
    "for_statement",
    "while_statement",
    "try_statement",
    "except_clause",
    "finally_clause",
    "with_statement",
    "match_statement",
    "case_clause",
    "function_definition",
    "class_definition",
    "decorated_definition",
    "decorator",
)


class Gaps:
    """Finds the gaps of a text; `holes` are where `repair` blanked broken statements, and where each of them ends.

    `words` are those of the whole file; without them every name counts as bound.
    """

    def __init__(self, text: bytes, holes: Mapping[int, int], words: Words | None) -> None:
        self.text = text
        self.words = words
        self.holes = holes
        self.starts = sorted(holes)

    def kept(self, node: Node, end: int) -> tuple[tuple[int, int], ...]:
        """The stretches of the file that a statement consists of, up to `end`, without its gaps."""
        at = node.start_byte
        found: list[tuple[int, int]] = []
        for start, stop in self._gaps(node, at, end):
            found.append((at, start))
            at = stop
        if at < end or not found:
            found.append((at, end))
        return tuple(found)

    def _gaps(self, node: Node, start: int, end: int) -> Iterator[tuple[int, int]]:
        text, cut = self._whole_statements(node, start, end)
        at = 0
        while gap := _GAP.search(text, at):
            at = gap.end()
            comment = text.find(b"#", gap.start(), at)
            if gap.start() in cut or _is_between_statements(node, start + (gap.start() if comment < 0 else comment)):
                yield start + gap.start(), start + at
            elif comment >= 0:
                at = comment + 1

    def _whole_statements(self, node: Node, start: int, end: int) -> tuple[bytes, frozenset[int]]:
        """The text of a statement, with blanks for the half-typed statements in it, and where only values are blank."""
        text = bytearray(self.text[start:end])
        holes = self.starts[bisect_left(self.starts, start + 1) : bisect_left(self.starts, end)]
        half = [(hole - start, self.holes[hole] - start) for hole in holes]
        half += [name.span(1) for name in _NAME_ALONE.finditer(text) if _is_statement(node, start + name.start(1))]
        cut: set[int] = set()
        for low, value, high in self._unbound(node, start, bytes(text)):
            half.append((value, high))
            if value > low:
                cut.add(value)
        for low, high in half:
            text[low:high] = _INK.sub(b" ", text[low:high])
        return bytes(text), frozenset(cut)

    def _unbound(self, node: Node, start: int, text: bytes) -> Iterator[tuple[int, int, int]]:
        """Where in the text of a statement those stand that have lines of their own and read what nothing binds: where
        they start, where the half-typed part of them does, and where they end."""
        if self.words is None:
            return
        for found, name in unbound_statements(self.words, text, start, root_of(node)):
            low, high = found.start_byte - start, found.end_byte - start
            line = text.rfind(b"\n", 0, low)
            if line >= 0 and not text[line:low].strip() and _LINE_BEHIND.match(text, high):
                value = end_of_targets(found)
                if value is None or name < value or not may_be_read(self.words, self.text[found.start_byte : value]):
                    yield low, low, high
                else:
                    yield low, value - start, high


def root_of(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def is_comment(node: Node, start: int, end: int) -> bool:
    """Whether bytes `start`, where there is ink, to `end` are a part of a comment."""
    found = node.descendant_for_byte_range(start, end)
    if found is None or found.kind_id not in _AROUND_STATEMENTS:
        return found is not None and found.kind_id == _COMMENT
    # Ink between statements is one of the many comments in a row of which `parse` makes no nodes.
    first = node.descendant_for_byte_range(start, start + 1)
    return first is not None and first.kind_id in _AROUND_STATEMENTS


def _is_statement(node: Node, offset: int) -> bool:
    """Whether a name is a statement of a block that is not that of a `try`."""
    found = node.descendant_for_byte_range(offset, offset + 1)
    if found is None or found.kind_id != _IDENTIFIER or found.parent is None or found.parent.kind_id != _STATEMENT:
        return False
    block = found.parent.parent
    return (
        block is not None
        and block.kind_id in _AROUND_STATEMENTS
        and not (block.parent is not None and block.parent.kind_id == _TRY)
    )


def _is_between_statements(node: Node, offset: int) -> bool:
    found = node.descendant_for_byte_range(offset, offset + 1)
    if found is not None and found.kind_id == _COMMENT:
        found = found.parent
    return found is not None and found.kind_id in _AROUND_STATEMENTS
