"""Edits as they fit into the lines of a file: its line endings, no line left empty, no statement torn from its line.

A rule writes edits against chunks, and there a statement seems to have its line to itself, and lines end in `\\n`. Here
the file is at hand: `x = 1; y.add_(1)` has two statements on one line, of which neither can be given lines of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from analyzers.report import Edit


def laid_out(edits: Sequence[Edit], source: Callable[[str], bytes]) -> tuple[Edit, ...] | None:
    """The edits as the files take them; None where they overlap or break a line."""
    whole = sorted((_whole_line(edit, source(edit.place.path)) for edit in edits), key=lambda e: e.place)
    apart = all(a.place.path != b.place.path or a.place.end <= b.place.start for a, b in pairwise(whole))
    if not apart or any(_breaks(edit, source(edit.place.path)) for edit in whole):
        return None
    return tuple(replace(edit, text=_ended(edit.text, source(edit.place.path))) for edit in whole)


def _line(edit: Edit, text: bytes) -> tuple[bytes, bytes]:
    """What stands on the lines of an edit, before it and behind it."""
    start, end = edit.place.start, edit.place.end
    before = text[max(text.rfind(b"\n", 0, start), text.rfind(b"\r", 0, start)) + 1 : start]
    ends = [at for at in (text.find(b"\n", end), text.find(b"\r", end)) if at >= 0]
    return before, text[end : min(ends, default=len(text))]


def _whole_line(edit: Edit, text: bytes) -> Edit:
    """An edit that would leave an empty line takes the line, and one that leaves a comment the space before that."""
    before, after = _line(edit, text)
    if edit.text or before.strip() or not text[edit.place.start : edit.place.end].strip():
        return edit
    end = edit.place.end + len(after) - len(after.lstrip())
    if after.strip():
        return replace(edit, place=replace(edit.place, end=end)) if after.lstrip().startswith(b"#") else edit
    for ending in (b"\r\n", b"\n", b"\r"):
        if text.startswith(ending, end):
            return replace(edit, place=replace(edit.place, start=edit.place.start - len(before), end=end + len(ending)))
    return edit


def _breaks(edit: Edit, text: bytes) -> bool:
    """Whether an edit takes a statement, or makes lines of its own, where several statements share a line."""
    if edit.text and "\n" not in edit.text:
        return False
    before, after = _line(edit, text)
    return before.rstrip().endswith(b";") or (b";" in after if edit.text else after.lstrip().startswith(b";"))


def _ended(text: str, source: bytes) -> str:
    """A text with the line endings of a file."""
    at = min((at for at in (source.find(b"\n"), source.find(b"\r")) if at >= 0), default=-1)
    if at < 0 or source[at : at + 1] == b"\n":
        return text
    ending = "\r\n" if source[at : at + 2] == b"\r\n" else "\r"
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", ending)
