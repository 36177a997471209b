"""Where the characters of a notebook's cell stand in the file: code review and CI count lines of the JSON.

```text
   "source": [
    "y = x.exp()\\n",
    "y.add_(1)"          <- line 2 of the cell
```
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from autograd_lsp.text.positions import Position, without_lone_surrogates

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_VALUE = re.compile(_STRING + r"|[^\s,\]}]+", re.DOTALL)
_NESTING = re.compile(_STRING + r"|[\[\]{}]", re.DOTALL)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
"""One character in a string of JSON; one outside the first 65536 may be written as a pair."""


class CellSource:
    """The source of one cell, character by character, in the text of its file."""

    def __init__(self, data: str, at: int, spans: list[tuple[int, int]], is_exact: bool) -> None:
        """`at` is where the whole source begins in `data`, a string or a list of them.

        What was read `is_exact` unless it has halves of characters, which no text can hold.
        """
        self._data = data
        self._at = at
        self._spans = spans
        self._is_exact = is_exact

    def replaced(self, source: str) -> str:
        """The text of the file with another source for the cell, written as the old one is: in one string, or in one
        for each line, each as far to the right as the first.

        Raises:
            ValueError: the old one could not be read as it is.
        """
        if not self._is_exact:
            raise ValueError("the cell has halves of characters")
        end = _end(self._data, self._at)
        is_ascii = self._data[self._at : end].isascii()
        if self._data[self._at] == '"':
            new = json.dumps(source, ensure_ascii=is_ascii)
        else:
            first = _after_space(self._data, self._at + 1)
            before = self._data[self._at + 1 : first]
            after = self._data[self._data.rindex('"', first, end) + 1 : end - 1]
            lines = [json.dumps(line, ensure_ascii=is_ascii) for line in _LINES.findall(source)]
            new = f"[{before}{f',{before or chr(32)}'.join(lines)}{after}]"
        return self._data[: self._at] + new + self._data[end:]

    def range(self, start: int, end: int) -> tuple[Position, Position]:
        """Of the characters `start` to `end` of the source. It ends with the last of them, before any quotes."""
        begin = self._spans[start][0] if start < len(self._spans) else self._spans[-1][1]
        return self._position(begin), self._position(self._spans[end - 1][1] if end > start else begin)

    def _position(self, offset: int) -> Position:
        line_start = self._data.rfind("\n", 0, offset) + 1
        return Position(self._data.count("\n", 0, offset) + 1, offset - line_start + 1)


def find_cell(data: str, number: int, source: str) -> CellSource | None:
    """Of the cell with that number, from 1; None if `data` is no notebook in which it has this source."""
    data = data.removeprefix("\ufeff")
    try:
        return _find_cell(data, json.loads(data), number, source)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, StopIteration):
        return None


def as_written(text: str) -> str:
    """`text` as it stands inside a string of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _find_cell(data: str, document: Any, number: int, source: str) -> CellSource | None:
    cell = dict(_members(data, next(islice(_cells(data, document), number - 1, None))))
    at = cell["input"] if "input" in cell else cell["source"]
    strings = [at] if data[at] == '"' else [at for _, at in _members(data, at)]
    spans: list[tuple[int, int]] = []
    written: list[str] = []
    for start in strings:
        end = _end(data, start)
        spans += (match.span() for match in _CHARACTER.finditer(data, start + 1, end - 1))
        written.append(json.loads(data[start:end]))
    whole = "".join(written)
    is_same = without_lone_surrogates(whole) == source and len(spans) == len(source)
    return CellSource(data, at, spans, whole == source) if is_same and spans else None


def _cells(data: str, document: Any) -> Iterator[int]:
    """Where each cell begins, those of format 3 from sheet to sheet."""
    top = dict(_members(data, _SPACE.match(data).end()))  # type: ignore[union-attr]
    if "worksheets" not in document:
        yield from (at for _, at in _members(data, top["cells"]))
        return
    for _, sheet in _members(data, top["worksheets"]):
        yield from (at for _, at in _members(data, dict(_members(data, sheet))["cells"]))


def _members(data: str, at: int) -> Iterator[tuple[str, int]]:
    """The key and the place of each value in the array or object at `at`; an array has empty keys."""
    is_object = data[at] == "{"
    at = _after_space(data, at + 1)
    while data[at] not in "]}":
        key = ""
        if is_object:
            end = _end(data, at)
            key = json.loads(data[at:end])
            at = _after_space(data, _after_space(data, end) + 1)
        yield key, at
        at = _after_space(data, _end(data, at))
        if data[at] == ",":
            at = _after_space(data, at + 1)


def _after_space(data: str, at: int) -> int:
    match = _SPACE.match(data, at)
    return match.end() if match else at


def _end(data: str, at: int) -> int:
    """Where the value that begins at `at` ends. It looks into no string and keeps no stack, however deep it nests."""
    if data[at] not in "[{":
        match = _VALUE.match(data, at)
        return match.end() if match else len(data)
    depth = 0
    for match in _NESTING.finditer(data, at):
        depth += (match[0] in "[{") - (match[0] in "]}")
        if depth == 0:
            return match.end()
    return len(data)
