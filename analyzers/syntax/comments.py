"""Comments that silence findings.

    y.add_(1)  # autograd: ignore[AG104, AG101]    these findings on this line, by code or by name
    y.add_(1)  # autograd: ignore                  every finding on this line
    y.add_(1)  # noqa: AG104                       as other linters spell the first
    # autograd: ignore-file[AG104]                 this finding in the whole file

The same words inside a string silence nothing: only what the tree calls a comment counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_DIRECTIVE = re.compile(
    rb"#[ \t]*(?:(?:autograd:[ \t]*(?P<ignore>ignore(?:-file)?)\b(?P<list>[ \t]*\[(?P<codes>[^\]\n]*)\])?)"
    rb"|(?:noqa[ \t]*:[ \t]*(?P<noqa>[A-Za-z]+[0-9]+(?:[ \t]*[, \t][ \t]*[A-Za-z]+[0-9]+)*)))",
    re.IGNORECASE,
)
_CODE = re.compile(rb"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Code:
    """One code named by a suppression, at bytes `start` to `end` of the file."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Suppression:
    """One directive: on `line` (from 0), at bytes `start` to `end` of the file. `codes` None silences every finding.

    A `shared` directive, `noqa`, is read by other linters too, whose codes may stand in it.
    """

    line: int
    start: int
    end: int
    codes: tuple[Code, ...] | None
    whole_file: bool
    shared: bool = False

    def silences(self, code: str, name: str = "") -> bool:
        """Whether it names the rule `code`, which is also called `name`."""
        return self.codes is None or any(one.name in (code, name.upper()) for one in self.codes)


def has_directive(text: bytes) -> bool:
    """Whether there may be one, without a tree."""
    return _DIRECTIVE.search(text) is not None


def suppressions(text: bytes, is_comment: Callable[[int, int], bool]) -> tuple[Suppression, ...]:
    """Every directive of a file, in order; `is_comment` says whether bytes `start` to `end` are a part of one."""
    found: list[Suppression] = []
    line = counted = 0
    for match in _DIRECTIVE.finditer(text):
        start, end = match.span()
        if not is_comment(start, end):
            continue
        line += text.count(b"\n", counted, start)
        counted = start
        group = "noqa" if match["noqa"] else "codes"
        codes = None if match[group] is None else _codes(match[group], match.start(group))
        whole_file = (match["ignore"] or b"").lower() == b"ignore-file"
        found.append(Suppression(line, start, end, codes, whole_file, shared=match["noqa"] is not None))
    return tuple(found)


def _codes(text: bytes, offset: int) -> tuple[Code, ...]:
    return tuple(
        Code(match[0].decode("utf-8", "replace").upper(), offset + match.start(), offset + match.end())
        for match in _CODE.finditer(text)
    )
