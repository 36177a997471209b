"""Comments that suppress findings.

    y.add_(1)  # autograd: ignore[AG104, AG101]    these findings on this line, by code or by name
    y.add_(1)  # autograd: ignore                  every finding on this line
    y.add_(1)  # noqa: E501, AG104                 as other linters spell the first
    y.add_(1)  # noqa                              and the second
    # autograd: ignore-file[AG104]                 this finding in the whole file
    # ruff: noqa: AG104                            as other linters spell that; `flake8` is read alike

The same words inside a string silence nothing: only what the tree calls a comment counts. What ruff takes for no
directive is none: a colon without a code behind it, and `# ruff: noqa` behind a statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_DIRECTIVE = re.compile(
    rb"#[ \t]*(?:(?:autograd:[ \t]*(?P<ignore>ignore(?:-file)?)\b(?P<list>[ \t]*\[(?P<codes>[^\]\n]*)\])?)"
    rb"|(?P<noqa>(?P<linter>(?:ruff|flake8)[ \t]*:[ \t]*)?noqa"
    rb"(?:[ \t]*:[ \t]*(?P<shared>[A-Z]+[0-9]+(?:[, \t]*[A-Z]+[0-9]+)*)|(?=[\s#]|\Z)(?![ \t]*:))))",
    re.IGNORECASE,
)
_CODE = re.compile(rb"[^\s,]+")
_SHARED_CODE = re.compile(rb"[A-Z]+[0-9]+", re.IGNORECASE)

_IN_LIST = re.compile(
    rb"#[ \t]*(?:autograd:[ \t]*ignore(?:-file)?[ \t]*\[(?P<codes>(?:[^\]#\n]*[\s,])?)(?P<word>[^\]#\s,]*)"
    rb"|(?P<linter>(?:ruff|flake8)[ \t]*:[ \t]*)?noqa[ \t]*:"
    rb"(?P<shared>(?:[, \t]*[A-Z]+[0-9]+(?=[,\s]))*[, \t]*)(?P<part>[A-Z]*[0-9]*))\Z",
    re.IGNORECASE,
)
"""What stands before an offset in a list, up to there."""
_REST_OF_WORD = re.compile(rb"[^\]#\s,]*")
_REST_OF_SHARED_WORD = re.compile(rb"[A-Z0-9]*", re.IGNORECASE)
_REST_OF_LIST = re.compile(rb"[^\]#\n]*")


@dataclass(frozen=True, slots=True)
class Code:
    """One code named by a suppression, at bytes `start` to `end` of the file."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Suppression:
    """One directive: on `line` (from 0), at bytes `start` to `end` of the file. `codes` None silences every finding.

    A `shared` directive, `noqa`, is read by other linters too: their codes may stand in it, and without codes it may be
    there for them alone.
    """

    line: int
    start: int
    end: int
    codes: tuple[Code, ...] | None
    whole_file: bool
    shared: bool = False

    def moved(self, lines: int, offset: int) -> Suppression:
        """The same, that many lines and bytes further down."""
        if not offset:
            return self
        codes = self.codes
        if codes:
            codes = tuple([Code(one.name, one.start + offset, one.end + offset) for one in codes])
        start, end = self.start + offset, self.end + offset
        return Suppression(self.line + lines, start, end, codes, self.whole_file, self.shared)

    def silences(self, code: str, name: str = "") -> bool:
        """Whether it names the rule `code`, which is also called `name`."""
        return self.codes is None or any(one.name in (code, name.upper()) for one in self.codes)


@dataclass(frozen=True, slots=True)
class Listed:
    """A word in a directive's list, at bytes `start` to `end` of the file, which may be empty.

    `typed` is what of it stands before the offset that was asked about, `others` what else is in the list.
    `wants_space` says that it follows a comma or a colon at once.
    """

    start: int
    end: int
    typed: str
    others: frozenset[str]
    shared: bool
    wants_space: bool


def listed_at(text: bytes, offset: int, is_comment: Callable[[int, int], bool]) -> Listed | None:
    """The word around an offset in the list of a directive, which need not be closed: it is being typed."""
    line = text.rfind(b"\n", 0, offset) + 1
    match = _IN_LIST.search(text[line:offset])
    if match is None:
        return None
    start = line + match.start()
    if not is_comment(_first_on_line(text, start) if match["linter"] else start, offset):
        return None
    shared = match["codes"] is None
    before, word = (match["shared"], match["part"]) if shared else (match["codes"], match["word"])
    rest, code = (_REST_OF_SHARED_WORD, _SHARED_CODE) if shared else (_REST_OF_WORD, _CODE)
    end = _end(rest, text, offset)
    behind = text[end : _end(_REST_OF_LIST, text, end)]
    others = frozenset(_upper(one) for one in code.findall(before + b" " + behind))
    start = offset - len(word)
    return Listed(start, end, _upper(word), others, shared, text[start - 1 : start] in (b",", b":"))


def suppressions(text: bytes, is_comment: Callable[[int, int], bool]) -> tuple[Suppression, ...]:
    """Every directive of a text, in order; `is_comment` says whether bytes `start` to `end` are a part of one."""
    found: list[Suppression] = []
    line = counted = 0
    for match in _DIRECTIVE.finditer(text):
        start, end = match.span()
        if not is_comment(_first_on_line(text, start) if match["linter"] else start, end):
            continue
        line += text.count(b"\n", counted, start)
        counted = start
        codes = _codes(match, "shared", _SHARED_CODE) if match["noqa"] else _codes(match, "codes", _CODE)
        whole_file = match["linter"] is not None or (match["ignore"] or b"").lower() == b"ignore-file"
        found.append(Suppression(line, start, end, codes, whole_file, shared=match["noqa"] is not None))
    return tuple(found)


def _codes(match: re.Match[bytes], group: str, code: re.Pattern[bytes]) -> tuple[Code, ...] | None:
    if match[group] is None:
        return None
    offset = match.start(group)
    return tuple(Code(_upper(one[0]), offset + one.start(), offset + one.end()) for one in code.finditer(match[group]))


def _upper(word: bytes) -> str:
    return word.decode("utf-8", "replace").upper()


def _end(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    """Where it ends to match; `start` where it does not."""
    match = pattern.match(text, start)
    return start if match is None else match.end()


def _first_on_line(text: bytes, offset: int) -> int:
    """Where the line of `offset` begins, behind its indentation."""
    line = text[text.rfind(b"\n", 0, offset) + 1 : offset]
    return offset - len(line.lstrip(b" \t\f"))
