"""The pages on torch's messages: which message each of their programs raises, and the list of them all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import DOCS, Block, blocks, read
from tests.mdtest.expect import expectations
from tests.mdtest.snippets import Snippet, in_markdown
from tests.oracle import Program, Run, run_batch

FOLDER = DOCS / "errors"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
INDEX = FOLDER / "index.md"

_MESSAGE = re.compile(r"^(?:\w+(?:Error|Exception): |$)")


@dataclass(frozen=True, slots=True)
class Told:
    """A program of a page that torch refuses, and the block above it that shows how; None where there is none."""

    snippet: Snippet
    message: Block | None


def told(path: Path) -> Iterator[Told]:
    """The programs of a page that raise, without the mended ones."""
    messages = [block for block in blocks(read(path)) if block.language == "text" and _MESSAGE.match(block.text)]
    for snippet in in_markdown(path):
        above = [block for block in messages if block.first < snippet.line]
        if expectations(snippet.text).raises:
            yield Told(snippet, above[-1] if above else None)


def all_told() -> dict[Path, list[Told]]:
    return {path: list(told(path)) for path in PAGES}


def run_all(programs: dict[Path, list[Told]]) -> dict[Snippet, Run]:
    """What torch does with each program, in one batch."""
    snippets = [item.snippet for items in programs.values() for item in items]
    return dict(zip(snippets, run_batch([Program.from_text(item.text) for item in snippets]), strict=True))


def as_raised(page: str, items: list[Told], runs: dict[Snippet, Run]) -> str:
    """The page, with each message as the first program below it raises it."""
    lines = page.splitlines(keepends=True)
    for item in reversed([item for n, item in enumerate(items) if item.message not in [i.message for i in items[:n]]]):
        raised = runs[item.snippet].raised
        if item.message is not None and raised is not None:
            lines[item.message.first : item.message.end] = [f"{raised.exception}: {raised.message}\n"]
    return "".join(lines)


def title(path: Path) -> str:
    return read(path).partition("\n")[0].removeprefix("# ")


def index() -> str:
    """The list of the pages: symptoms first, then messages in the order of the alphabet."""
    silent = [path for path in PAGES if title(path).endswith("?")]
    loud = sorted((path for path in PAGES if path not in silent), key=lambda path: title(path).lower().lstrip("'"))
    return "\n".join(
        [
            "# Autograd errors explained",
            "",
            "One page for each message of torch's autograd: what it means, how it arises, and how to fix it. The tests",
            "of this repository run every program here on torch 2.13.0: it raises exactly the message shown above it,",
            "and the fixed program that follows it runs. Comments show where torch raises, and where `autograd-lsp`",
            "points before the program runs.",
            "",
            "Do you have a traceback? [`autograd-lsp why`](../why.md) reads it and finds the line.",
            "",
            "## Nothing is raised",
            "",
            *(f"- [{title(path)}]({path.name})" for path in silent),
            "",
            "## Torch raises",
            "",
            *(f"- [{title(path)}]({path.name})" for path in loud),
            "",
        ]
    )
