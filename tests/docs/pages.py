"""A page of the documentation as its fenced blocks, and what its commands print.

In a block of `console`, `text` or `sh`, a line that begins with `$ ` is a command, and the lines below it, up to the
next one, are what it prints, first on standard output and then on standard error; in a block of `sh` without such a
line, each line is a command. Commands run one after the other in one folder. There, `train.py` is the last program that
the page shows above the command, as its author would have written it: without what its comments expect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.cli.command import REPOSITORY
from tests.mdtest.expect import without_expectations

DOCS = REPOSITORY / "docs"

_FENCE = re.compile(r"^(?P<fence>```+)(?P<language>[\w+-]*) ?(?P<options>.*)$")
_MENDED = {"fixed", "right"}


@dataclass(frozen=True, slots=True)
class Block:
    """The fenced block whose text is `lines[first:end]` of its page, counted from 0."""

    language: str
    options: tuple[str, ...]
    first: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a page; what it prints stands in `lines[first:end]`, and `train` is the program it finds.

    `silent` is one whose output the page leaves out: nothing stands below it, and the block is not a whole `console`.
    """

    text: str
    first: int
    end: int
    silent: bool
    train: str | None


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.splitlines(keepends=True)
    numbered = iter(enumerate(lines))
    for number, line in numbered:
        opened = _FENCE.match(line.rstrip("\n"))
        if opened is None:
            continue
        end = next((n for n, inner in numbered if inner.rstrip("\n") == opened["fence"]), len(lines))
        text = "".join(lines[number + 1 : end])
        yield Block(opened["language"], tuple(opened["options"].split()), number + 1, end, text)


def commands(page: str) -> Iterator[Command]:
    """The commands of a page, in order."""
    train: str | None = None
    for block in blocks(page):
        if block.language == "python" and not _MENDED & set(block.options):
            train = without_expectations(block.text)
        elif block.language in ("console", "text", "sh"):
            yield from _commands(block, train)


def _commands(block: Block, train: str | None) -> Iterator[Command]:
    lines = block.text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    if block.language == "sh" and not starts:
        for number, line in enumerate(lines, block.first):
            if line.strip():
                yield Command(line.strip(), number + 1, number + 1, True, train)
        return
    for start, end in pairwise([*starts, len(lines)]):
        silent = block.language != "console" and start + 1 == end
        yield Command(lines[start][2:].strip(), block.first + start + 1, block.first + end, silent, train)
