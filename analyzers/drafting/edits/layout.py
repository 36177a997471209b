"""Turns changes into edits of a file, preserving its comments and line endings and leaving no empty lines behind.

A rule writes changes against chunks, where a statement seems to have its line to itself, there are no comments between
statements, and lines end in `\\n`. The file itself may differ: `x = 1; y.add_(1)` has two statements on one line, and
neither can get lines of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Change, Indented, Moved, Places
from analyzers.report import Edit, Place


def laid_out(changes: Sequence[Change], places: Places) -> tuple[Edit, ...] | None:
    """The edits as the files take them; None where they overlap, break a line or lose a comment."""
    source = places.source
    moved = {part.loc for _, what in changes if isinstance(what, tuple) for part in what if isinstance(part, Moved)}
    if any(not isinstance(what, Indented) and loc not in moved and _loses(loc, places) for loc, what in changes):
        return None
    edits = [edit for loc, what in changes for edit in _edits(loc, what, places, is_moved=loc in moved)]
    whole = sorted((_whole_line(edit, source(edit.place.path)) for edit in edits), key=lambda e: e.place)
    apart = all(a.place.path != b.place.path or a.place.end <= b.place.start for a, b in pairwise(whole))
    if not apart or any(_breaks(edit, source(edit.place.path)) for edit in whole):
        return None
    return tuple(replace(edit, text=_ended(edit.text, source(edit.place.path))) for edit in whole)


def _edits(
    loc: Loc, what: str | Indented | tuple[Moved | str, ...], places: Places, *, is_moved: bool
) -> Iterator[Edit]:
    place = places.place(loc)
    text = places.source(place.path)
    if isinstance(what, Indented):
        yield from _reindented(place, text, what)
        return
    if isinstance(what, tuple):
        what = "".join([part if isinstance(part, str) else _text_of(part, places) for part in what])
    yield Edit(_with_comment(place, text) if is_moved else place, what)


def _loses(loc: Loc, places: Places) -> bool:
    """Whether there is more in the file at a place than in the chunk: a comment, or what does not parse."""
    place = places.place(loc)
    there = places.source(place.path)[place.start : place.end].decode("utf-8", "replace")
    return there.split() != places.text(loc).split()


def _text_of(moved: Moved, places: Places) -> str:
    place = places.place(moved.loc)
    text = places.source(place.path)
    place = _with_comment(place, text)
    there = text[place.start : place.end].decode("utf-8", "replace")
    return there.replace("\n" + moved.was, "\n" + moved.now)


def _with_comment(place: Place, text: bytes) -> Place:
    """A place and the comment after it on its line."""
    rest = text[place.end :].partition(b"\n")[0].rstrip()
    return replace(place, end=place.end + len(rest)) if rest.lstrip().startswith(b"#") else place


def _reindented(place: Place, text: bytes, how: Indented) -> Iterator[Edit]:
    was, now = how.was.encode(), how.now.encode()
    start = text.find(b"\n", place.start, place.end) + 1
    while start:
        line = text[start : place.end].partition(b"\n")[0]
        if line.strip() and line.startswith(was):
            gone = max(len(was) - len(now), 0)
            yield Edit(replace(place, start=start, end=start + gone), how.now[len(how.was) :])
        start = text.find(b"\n", start, place.end) + 1


def _line(edit: Edit, text: bytes) -> tuple[bytes, bytes]:
    """The text on the lines of an edit, before it and after it."""
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
