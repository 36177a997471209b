"""Every command of the README and of the pages in docs/ runs, and prints what the page shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.cli.command import REPOSITORY
from tests.docs.errors import PAGES
from tests.docs.pages import DOCS, blocks, commands, read
from tests.docs.shown import NOT_RUN, outcomes, reason

HANDWRITTEN = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md")), *PAGES]
ALL = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
WITH_COMMANDS = [page for page in HANDWRITTEN if any(reason(one.text) is None for one in commands(read(page)))]


def names(pages: list[Path]) -> list[str]:
    return [page.relative_to(REPOSITORY).with_suffix("").as_posix() for page in pages]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=names(WITH_COMMANDS))
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    text, problems = outcomes(read(page), tmp_path)
    assert not problems
    assert text == read(page), "run python -m tests.docs"


def test_commands_that_are_not_run_are_named_for_a_reason() -> None:
    said = [command.text for page in HANDWRITTEN for command in commands(read(page))]
    assert {start for start in NOT_RUN if not any(text.startswith(start) for text in said)} == set()
    assert not [text for text in said if text.startswith("autograd-lsp") and reason(text) and "--watch" not in text]


@pytest.mark.parametrize("page", ALL, ids=names(ALL))
def test_links_and_headings_are_there(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([\w-]+))?\)", _prose(page)):
        if target.startswith("https://"):
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), target
        if anchor:
            assert anchor in {_slug(line) for line in read(path).splitlines() if line.startswith("#")}, anchor


@pytest.mark.parametrize("page", ALL, ids=names(ALL))
def test_programs_parse(page: Path) -> None:
    for block in blocks(read(page)):
        if block.language == "python":
            ast.parse(block.text)


def _prose(page: Path) -> str:
    """The page without its blocks."""
    lines = read(page).splitlines(keepends=True)
    for block in reversed(list(blocks(read(page)))):
        del lines[block.first : block.end]
    return re.sub(r"`[^`\n]*`", "", "".join(lines))


def _slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lstrip("# ").lower()).strip().replace(" ", "-")
