"""Which safe fixes go together, and what a text is with their edits made.

    y.add_(1)      Replace [9:18] by "y = y.add(1)"      y = y.add(1)

A fix is made whole or not at all. Edits that several fixes share, such as the `zero_grad()` that two losses want, are
made once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from analyzers.report import Edit, Finding, Fix

_LINE_END = re.compile(rb"\r\n|\n|\r")
_NEWLINE = re.compile(rb"(?<!\r)\n")


def safe_fix(finding: Finding) -> Fix | None:
    """The best of the fixes that nobody need look at."""
    return next((fix for fix in finding.fixes if fix.safe), None)


def compatible(fixes: Iterable[Fix]) -> tuple[list[Fix], list[Edit]]:
    """As many fixes as do not touch each other, earlier ones first, and the edits that they come to."""
    taken: list[Fix] = []
    edits: dict[str, dict[Edit, None]] = defaultdict(dict)
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in edits[edit.place.path]]
        if not any(_collide(edit, other) for edit in new for other in edits[edit.place.path]):
            taken.append(fix)
            for edit in new:
                edits[edit.place.path][edit] = None
    return taken, [edit for there in edits.values() for edit in there]


def _collide(one: Edit, other: Edit) -> bool:
    """Of two edits of the same file."""
    a, b = one.place, other.place
    return (a.start < b.end and b.start < a.end) or a.start == b.start


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits made, or a `ValueError` if they overlap. New lines end as the one does where they are put."""
    data = text.encode("utf-8", "surrogateescape")
    parts: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.place.start, edit.place.end)):
        if edit.place.start < at or edit.place.end > len(data):
            raise ValueError(f"no room for {edit}")
        new = edit.text.encode("utf-8", "surrogateescape")
        if b"\n" in new:
            line_end = _line_end(data, edit.place.start)
            new = _NEWLINE.sub(lambda _, line_end=line_end: line_end, new)  # type: ignore[misc]
        parts += (data[at : edit.place.start], new)
        at = edit.place.end
    parts.append(data[at:])
    return b"".join(parts).decode("utf-8", "surrogateescape")


def _line_end(data: bytes, at: int) -> bytes:
    """How the line at an offset ends; the last line as the one before it."""
    here = _LINE_END.search(data, at)
    if here is not None:
        return here[0]
    before = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at))
    if before < 0:
        return b"\n"
    return b"\r\n" if data[before - 1 : before + 1] == b"\r\n" else data[before : before + 1]
