"""Recognizes a finding after the lines around it have moved: a hash without line numbers.

It is made of the file's path, the rule's code and the text of the lines that the finding covers, without their white
space. Findings that are equal in all of these are numbered from the top of the file.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from analyzers.report import Finding, Place
from autograd_lsp.text.positions import LineIndex


def fingerprints(findings: Sequence[Finding], text_of: Callable[[str], str], folder: str | None = None) -> list[str]:
    """One for each of `findings`, in their order, no two of them equal.

    `text_of` gives the text that a path's places count in. Paths count from `folder`, by default the working directory,
    so that every machine makes the same of the same files.
    """
    index_of = cache(lambda path: LineIndex(text_of(path)))
    root = os.getcwd() if folder is None else folder
    made = [""] * len(findings)
    seen: Counter[tuple[str, ...]] = Counter()
    for number in sorted(range(len(findings)), key=lambda number: _order(findings[number])):
        finding = findings[number]
        place = finding.place
        parts = (relative_path(place.path, root), finding.code, _lines(index_of(place.path), place))
        whole = "\0".join((*parts, str(seen[parts])))
        seen[parts] += 1
        made[number] = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return made


def relative_path(path: str, folder: str) -> str:
    """From `folder`, with slashes on every system; as it is where no way leads from one to the other."""
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # another drive
        relative = path
    return relative.replace(os.sep, "/")


def _order(finding: Finding) -> tuple[Place, Place, str]:
    raises = finding.raises
    return finding.place, finding.place if raises is None else raises.place, finding.message


def _lines(index: LineIndex, place: Place) -> str:
    """The lines that a place covers; an end before the first character of a line does not reach it."""
    begin, end = index.position(place.start), index.position(place.end)
    last = end.line if end.column > 1 or end.line == begin.line else end.line - 1
    return "".join("".join(index.line_text(line - 1).split()) for line in range(begin.line, last + 1))
