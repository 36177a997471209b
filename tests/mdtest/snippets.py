"""Finds the Python snippets of a Markdown file, or of a rule's page, which is its module's docstring.

A fence may say more than `python`: `fixed` (the block before it, after its first fix; after its second, where it is the
second such block in a row), `right` (the block before it, as its author meant it, by hand: torch learns something
else), `cases="flag=True; flag=False"` (names that the analyzer does not know; torch runs every
case with them bound), and `driver` (what torch runs after the block before it, and the analyzer never sees: code that
calls the block's functions).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_FENCE = re.compile(r"^```python(?P<options>( .*)?)$")
_CASES = re.compile(r'cases="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Case:
    """One binding of the names that a snippet leaves open; the empty text where it leaves none."""

    text: str

    @property
    def names(self) -> dict[str, str]:
        """Each name and its value's expression."""
        pairs = (pair.partition("=") for pair in self.text.split(",") if pair.strip())
        return {name.strip(): value.strip() for name, _, value in pairs}

    def satisfies(self, condition: Case) -> bool:
        """Whether this case is one of those that `condition` speaks of."""
        return condition.names.items() <= self.names.items()


@dataclass(frozen=True, slots=True)
class Snippet:
    """`line` is that of the first line in `path`; `fixes` counts from 1, and is 0 for a snippet as written.

    `wrong` is the snippet that this one sets right by hand.
    """

    path: Path
    line: int
    heading: str
    text: str
    cases: tuple[Case, ...]
    fixes: int = 0
    broken: Snippet | None = None
    driver: str = ""
    wrong: Snippet | None = None

    @property
    def id(self) -> str:
        """How a test is called: the file and the heading, with the line to tell two of one heading apart."""
        return f"{self.path.stem}:{self.line}:{self.heading}"


def in_markdown(path: Path) -> list[Snippet]:
    """The snippets of a Markdown file."""
    return _snippets(path, path.read_text(encoding="utf-8").splitlines(), 1)


def in_rule(path: Path) -> list[Snippet]:
    """The snippets of the page that a rule's module opens with."""
    match ast.parse(path.read_text(encoding="utf-8")).body:
        case [ast.Expr(value=ast.Constant(value=str(page))) as docstring, *_]:
            return _snippets(path, page.splitlines(), docstring.lineno)
    return []


def _snippets(path: Path, lines: list[str], first: int) -> list[Snippet]:
    found: list[Snippet] = []
    heading = path.stem
    broken: Snippet | None = None
    fixes = 0
    numbered = iter(enumerate(lines, first))
    for number, line in numbered:
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        opened = _FENCE.match(line)
        if opened is None:
            continue
        options = opened["options"]
        text = "".join(f"{line}\n" for line in _until_closed(numbered))
        if "driver" in options.split():
            found[-1] = broken = replace(found[-1], driver=text)
            continue
        fixes = fixes + 1 if "fixed" in options.split() else 0
        driver = broken.driver if fixes and broken else ""
        base = broken if fixes else None
        wrong = broken if "right" in options.split() else None
        found.append(Snippet(path, number + 1, heading, text, _cases(options), fixes, base, driver, wrong))
        if not fixes:
            broken = found[-1]
    return found


def _until_closed(numbered: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in numbered:
        if line.startswith("```"):
            return
        yield line


def _cases(options: str) -> tuple[Case, ...]:
    found = _CASES.search(options)
    return tuple(Case(part.strip()) for part in found[1].split(";")) if found else (Case(""),)
