"""The pages on torch's messages show what torch raises, each message has a page, and `check` agrees with both.

That each program raises where its comments say, and is mended by the one that follows, is for `tests/mdtest`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.rules import RULES
from autograd_lsp.why.messages import SAYINGS, read_message
from tests.docs.errors import INDEX, PAGES, Told, all_told, as_raised, index, run_all, title
from tests.docs.pages import blocks, commands, read
from tests.mdtest.expect import expectations
from tests.mdtest.snippets import Snippet
from tests.oracle import Raised, Run

each_page = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])

WITHOUT_A_PAGE = {
    ("__enter__",): "Python 3.10's words for a `with` of what is no context manager",
    ("is not differentiable",): "operators that few programs call; the page on missing derivatives says what to do",
}


@pytest.fixture(scope="module")
def programs() -> dict[Path, list[Told]]:
    return all_told()


@pytest.fixture(scope="module")
def runs(programs: dict[Path, list[Told]]) -> dict[Snippet, Run]:
    return run_all(programs)


@each_page
def test_each_program_raises_exactly_the_message_above_it(
    page: Path, programs: dict[Path, list[Told]], runs: dict[Snippet, Run]
) -> None:
    for item in programs[page]:
        raised = runs[item.snippet].raised
        shown = item.message.text.rstrip("\n") if item.message else None
        assert (raised and f"{raised.exception}: {raised.message}") == shown, item.snippet.id
    assert as_raised(read(page), programs[page], runs) == read(page)


@each_page
def test_messages_of_one_page_are_of_one_kind(
    page: Path, programs: dict[Path, list[Told]], runs: dict[Snippet, Run]
) -> None:
    """And `why` reads them all as of the rules that the page names."""
    for item in programs[page]:
        raised = runs[item.snippet].raised
        if raised is not None:
            reading = read_message(raised.message, line=_line(item.snippet, raised))
            assert reading is not None, raised.message
            named = {rule.name for rule in RULES if rule.code == reading.code}
            reported = {report.rule for report in expectations(item.snippet.text).reports}
            # A second backward has two rules, by whether a loop is the cause.
            assert not reported or reading.code == "AG102" or reported & named


def test_every_message_that_is_known_has_a_page(programs: dict[Path, list[Told]], runs: dict[Snippet, Run]) -> None:
    raised = [
        (runs[item.snippet].raised, item.snippet) for items in programs.values() for item in items if item.message
    ]
    left = [
        saying.words
        for saying in SAYINGS
        if not any(
            one is not None and _in_order(saying.words, one.message) and _evident(saying.evidence, _line(snippet, one))
            for one, snippet in raised
        )
    ]
    assert set(left) == set(WITHOUT_A_PAGE)


@each_page
def test_a_page_shows_its_parts(page: Path) -> None:
    """A message or a question, what it means, what `check` says, and a mended program for each."""
    found = list(blocks(read(page)))
    silent = title(page).endswith("?")
    assert silent or found[0].language == "text"
    assert [command.text for command in commands(read(page))] == ["autograd-lsp check train.py"]
    python = [block for block in found if block.language == "python"]
    assert len(python) % 2 == 0
    assert all("raises:" not in mended.text for mended in python[1::2])
    assert silent or all("raises:" in wrong.text for wrong in python[::2])


def test_the_list_is_as_written() -> None:
    assert read(INDEX) == index(), "run python -m tests.docs"


def _line(snippet: Snippet, raised: Raised) -> str:
    return snippet.text.splitlines()[(raised.line or 1) - 1]


def _in_order(words: tuple[str, ...], message: str) -> bool:
    at = 0
    for word in words:
        at = message.find(word, at)
        if at < 0:
            return False
    return True


def _evident(evidence: tuple[str, ...], line: str) -> bool:
    return not evidence or any(part in line for part in evidence)
