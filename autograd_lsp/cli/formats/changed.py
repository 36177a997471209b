"""The lines that a fix changes, as a reader is shown them beside its title."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from analyzers.report import Fix
from autograd_lsp.reports.report import Texts
from autograd_lsp.text.edits import edited

_MOST = 6
"""Lines that are shown of a fix; of a longer one, none."""
_MOST_BETWEEN = 200
"""Lines from the first edit to the last."""


@dataclass(frozen=True, slots=True)
class Line:
    """`number`, from 1, counts in the text before the fix for a line that goes, and after it for all others."""

    path: str
    number: int
    sign: Literal["+", "-", "|"]
    text: str


def changed_lines(texts: Texts, fix: Fix) -> list[Line]:
    """Those that go and those that come. Where lines only come in between, the one before them is there, too.

    None of a notebook, or of a fix that is no matter of few lines in one file.
    """
    paths = {edit.place.path for edit in fix.edits}
    if len(paths) != 1 or any(texts.spot(edit.place).cell is not None for edit in fix.edits):
        return []
    [path] = paths
    index = texts[path]
    try:
        after = edited(index.text, fix.edits).splitlines()
    except ValueError:
        return []
    before = index.text.splitlines()
    first = min(index.position(edit.place.start).line for edit in fix.edits) - 1
    rest = len(before) - max(index.position(edit.place.end).line for edit in fix.edits)
    old, new = before[first : len(before) - rest], after[first : len(after) - rest]
    if max(len(old), len(new)) > _MOST_BETWEEN:
        return []
    shown = list(_lines(path, first, old, new))
    if all(line.sign == "+" for line in shown) and shown and (at := shown[0].number - 2) >= 0:
        shown = [Line(path, at + 1, "|", after[at]), *shown]
    return shown if len(shown) <= _MOST else []


def _lines(path: str, first: int, old: list[str], new: list[str]) -> Iterator[Line]:
    """At each place the lines that go, and those that come."""
    for kind, begin, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (Line(path, first + at + 1, "-", old[at]) for at in range(begin, end))
            yield from (Line(path, first + at + 1, "+", new[at]) for at in range(start, stop))
