"""Gaps: what stands between statements and says nothing, so that a chunk is the same with it and without it.

A gap goes from behind what stands on a line to the end of the last line before there is something again: blanks,
empty lines, comments, and statements that do not parse.

    total = 0  # of the epoch           total = 0
                                        total += f(x)
    half = (
    total += f(x)

What stands in brackets or in a string is no gap.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from analyzers.syntax import parse

_GAP = re.compile(
    rb"(?:(?<![ \t\f])[ \t\f]+(?:#[^\r\n]*)?|#[^\r\n]*)(?:\r?\n[ \t\f]*(?:#[^\r\n]*)?)*(?=\r?\n|\Z)"
    rb"|(?:\r?\n[ \t\f]*(?:#[^\r\n]*)?)+(?=\r?\n|\Z)"
)
_INK = re.compile(rb"[^\r\n]")
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
)


class Gaps:
    """Finds the gaps of a text; `holes` are where `repair` blanked broken statements, and where each of them ends."""

    def __init__(self, text: bytes, holes: Mapping[int, int]) -> None:
        self.text = text
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
        text = self._without_holes(start, end)
        at = 0
        while gap := _GAP.search(text, at):
            at = gap.end()
            comment = text.find(b"#", gap.start(), at)
            if _is_between_statements(node, start + (gap.start() if comment < 0 else comment)):
                yield start + gap.start(), start + at
            elif comment >= 0:
                at = comment + 1

    def _without_holes(self, start: int, end: int) -> bytes:
        """The text of a statement, with blanks for the broken statements in it."""
        text = self.text[start:end]
        for hole in self.starts[bisect_left(self.starts, start + 1) : bisect_left(self.starts, end)]:
            low, high = hole - start, self.holes[hole] - start
            text = text[:low] + _INK.sub(b" ", text[low:high]) + text[high:]
        return text


def _is_between_statements(node: Node, offset: int) -> bool:
    found = node.descendant_for_byte_range(offset, offset + 1)
    if found is not None and found.kind_id == _COMMENT:
        found = found.parent
    return found is not None and found.kind_id in _AROUND_STATEMENTS
