"""Source lines with the places of interest underlined, for a terminal.

```text
3 | y = x.exp()
  |     ------- `exp` saved its result here
4 | y.add_(1)
  | ^^^^^^^^^
```
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.sinks import printable

_WIDTH = 160
_KEPT_BEFORE = 60


@dataclass(frozen=True, slots=True)
class Mark:
    """Bytes `start` to `end` of one text; `is_primary` for the place of the finding itself."""

    start: int
    end: int
    label: str
    is_primary: bool


def excerpt(index: LineIndex, marks: Iterable[Mark], gutter: int) -> Text:
    """Each marked line once, from the top down; `gutter` is the width of the line numbers."""
    by_line: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: (mark.start, not mark.is_primary, mark.end)):
        by_line.setdefault(index.position(mark.start).line, []).append(mark)
    result = Text()
    previous: int | None = None
    for line, marked in sorted(by_line.items()):
        if previous is not None and line > previous + 1:
            result.append("...\n", "blue")
        previous = line
        _append_line(result, index, line, marked, gutter)
    return result


def _append_line(result: Text, index: LineIndex, line: int, marks: list[Mark], gutter: int) -> None:
    text = index.line_text(line - 1)
    first = index.position(marks[0].start).column - 1
    cut = max(first - _KEPT_BEFORE, 0) if len(text) > _WIDTH else 0
    shown = text[cut : cut + _WIDTH]
    result.append(f"{line:>{gutter}} | ", "blue").append(printable(shown) + "\n")
    for mark in marks:
        begin, end = (index.position(offset) for offset in (mark.start, mark.end))
        first_column = min(max(begin.column - 1 - cut, 0), len(shown))
        last_column = len(shown) if end.line > line else min(max(end.column - 1 - cut, 0), len(shown))
        before, under = printable(shown[:first_column]), printable(shown[first_column:last_column])
        sign, style = ("^", "bold red") if mark.is_primary else ("-", "cyan")
        result.append(f"{'':>{gutter}} | ", "blue").append(" " * cell_len(before))
        result.append(sign * max(cell_len(under), 1), style)
        result.append(f" {mark.label}\n" if mark.label else "\n", style)
