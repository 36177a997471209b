"""The one place where byte offsets become lines and columns, and back.

The analyzer speaks in *offsets*: bytes into the UTF-8 text. A terminal speaks in a 1-based line and column counted in
characters; an editor in a 0-based line and a column in the code units of the encoding that it negotiated. Lines end at
`\\n`, `\\r\\n` and `\\r` only, as they do for Python, for torch's tracebacks and for LSP; `str.splitlines` also cuts at
form feeds and Unicode separators, and would put everything below one of those on the wrong line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A 1-based line and a 1-based column in characters."""

    line: int
    column: int


class LineIndex:
    """Every conversion for one text; anything out of range is moved to the nearest place inside."""

    def __init__(self, text: str) -> None:
        self.text = text
        if "\r" in text:
            self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
        else:
            self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]

    @property
    def line_count(self) -> int:
        """A text that ends in a line break has an empty last line."""
        return len(self._starts)

    def start(self, line: int) -> int:
        """Where in `text` the 0-based `line` starts; the end of the text for a line that is not there."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def line_text(self, line: int) -> str:
        """The 0-based `line` without its line break; empty for a line that is not there."""
        if not 0 <= line < len(self._starts):
            return ""
        if line + 1 == len(self._starts):
            return self.text[self._starts[line] :]
        return self.text[self._starts[line] : self._starts[line + 1]].rstrip("\r\n")

    def position(self, offset: int) -> Position:
        line, column = self._line_and_column(offset)
        return Position(line + 1, column + 1)

    def offset(self, position: Position) -> int:
        line = position.line - 1
        return self._offset(line, position.column - 1)

    def lsp_position(self, offset: int, encoding: Encoding) -> tuple[int, int]:
        line, column = self._line_and_column(offset)
        return line, _units(self.text[self._starts[line] : self._starts[line] + column], encoding)

    def lsp_offset(self, line: int, character: int, encoding: Encoding) -> int:
        """The byte offset; a character inside a code point stands for the start of that code point."""
        return self._offset(line, _characters(self.line_text(line), character, encoding))

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        line = max(bisect_right(self._byte_starts, offset) - 1, 0)
        into_line = max(offset - self._byte_starts[line], 0)
        return line, _characters(self.line_text(line), into_line, "utf-8")

    def _offset(self, line: int, column: int) -> int:
        if line < 0:
            return 0
        if line >= len(self._starts):
            return self._byte_starts[-1] + _units(self.line_text(len(self._starts) - 1), "utf-8")
        return self._byte_starts[line] + _units(self.line_text(line)[: max(column, 0)], "utf-8")

    @cached_property
    def _byte_starts(self) -> list[int]:
        if self.text.isascii():
            return self._starts
        starts = [0]
        for begin, end in zip(self._starts, self._starts[1:], strict=False):
            starts.append(starts[-1] + _units(self.text[begin:end], "utf-8"))
        return starts


def lsp_index(
    text: str, line: int, character: int, encoding: Encoding, known: tuple[int, int] = (0, 0)
) -> tuple[int, int]:
    """The index into `text`, for an edit that an editor sends, and that at which its line starts. `known` is a line and
    where it starts: the next keystroke is mostly near the last."""
    if "\r" in text:
        index = LineIndex(text)
        start = index.start(line)
        return start + _characters(index.line_text(line), character, encoding), start
    near, start = known if line >= known[0] else (0, 0)
    for _ in range(line - near):
        end = text.find("\n", start)
        if end < 0:
            return len(text), len(text)
        start = end + 1
    end = text.find("\n", start)
    found = text[start:] if end < 0 else text[start:end]
    return start + _characters(found, character, encoding), start


def without_lone_surrogates(text: str) -> str:
    """The same text in valid Unicode. Every offset stays true: the replacement is as long in each encoding."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _units(text: str, encoding: Encoding) -> int:
    """How many code units `text` has."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text) + sum(character > "\uffff" for character in text)
    return len(text.encode("utf-8", "surrogatepass"))


def _characters(line: str, units: int, encoding: Encoding) -> int:
    """How many characters of `line` lie wholly before the code unit `units`."""
    if encoding == "utf-32" or line.isascii():
        return min(max(units, 0), len(line))
    left = units
    for index, character in enumerate(line):
        left -= _units(character, encoding)
        if left < 0:
            return index
    return len(line)
