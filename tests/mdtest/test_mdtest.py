"""Runs every snippet of this folder's Markdown and of every page that explains, twice: by torch and by the analyzer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mdtest.check import check_analyzer, check_fix, check_right, check_torch, described
from tests.mdtest.snippets import Snippet, in_markdown, in_rule
from tests.oracle import Program, Run, run_batch
from tests.support.analyzer import Sources, Way, analyze

HERE = Path(__file__).parent
RULES = HERE.parents[1] / "analyzers" / "rules"
DOCS = HERE.parents[1] / "docs"

PAGES = [*sorted(HERE.glob("*.md")), *sorted((DOCS / "errors").glob("*.md")), DOCS / "theory.md"]
SNIPPETS = [snippet for path in PAGES for snippet in in_markdown(path)]
SNIPPETS += [snippet for path in sorted(RULES.rglob("*.py"), key=lambda path: path.name) for snippet in in_rule(path)]
FIXED = [snippet for snippet in SNIPPETS if snippet.broken]

every_snippet = pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.id for snippet in SNIPPETS])
RIGHTED = [snippet for snippet in SNIPPETS if snippet.wrong]
every_right = pytest.mark.parametrize("snippet", RIGHTED, ids=[snippet.id for snippet in RIGHTED])
every_fix = pytest.mark.parametrize("snippet", FIXED, ids=[snippet.id for snippet in FIXED])


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest) -> dict[Snippet, list[Run]]:
    """What torch does with every case of every snippet; nothing with `--no-torch`."""
    if request.config.getoption("--no-torch"):
        return {snippet: [] for snippet in SNIPPETS}
    cases = [(snippet, case) for snippet in SNIPPETS for case in snippet.cases]
    done = run_batch([Program.from_text(snippet.text + snippet.driver, case.names) for snippet, case in cases])
    result: dict[Snippet, list[Run]] = {snippet: [] for snippet in SNIPPETS}
    for (snippet, _), run in zip(cases, done, strict=True):
        result[snippet].append(run)
    return result


@every_snippet
def test_torch(snippet: Snippet, runs: dict[Snippet, list[Run]]) -> None:
    _none(snippet, check_torch(snippet, runs[snippet]))


@every_snippet
def test_analyzer(snippet: Snippet, runs: dict[Snippet, list[Run]], way: Way) -> None:
    _none(snippet, check_analyzer(snippet, analyze(Sources.of_text(snippet.text), way), runs[snippet]))


@every_fix
def test_fix(snippet: Snippet, runs: dict[Snippet, list[Run]], way: Way) -> None:
    assert snippet.broken
    analysis = analyze(Sources.of_text(snippet.broken.text), way)
    _none(snippet, check_fix(snippet, analysis, runs[snippet.broken], runs[snippet]))


@every_right
def test_right(snippet: Snippet, runs: dict[Snippet, list[Run]]) -> None:
    assert snippet.wrong
    _none(snippet, check_right(runs[snippet.wrong], runs[snippet]))


def _none(snippet: Snippet, problems: list[str]) -> None:
    if problems:
        pytest.fail(described(snippet, problems), pytrace=False)
