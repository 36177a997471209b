"""Random programs as a test: no error is false, and no fact is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.compare import Comparison, compare, disagree, programs, smallest
from tests.differential.generate import LEVELS, generate
from tests.differential.minimise import minimise
from tests.oracle import Pool, Program
from tests.support.analyzer import Sources, Way, analyze_or_tell

COUNT = 150
SEED = 2026
FALSE = ("crash", "false error", "wrong fact")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Workers for the whole file."""
    with Pool(2) as workers:
        yield workers


@pytest.fixture(scope="module")
def comparison(pool: Pool, way: Way) -> Comparison:
    """A fixed set of programs, seen by both."""
    return compare(programs(SEED, COUNT), pool, way)


def test_programs_are_worth_running(comparison: Comparison) -> None:
    assert 0.25 * COUNT < comparison.raising < 0.6 * COUNT
    assert comparison.ordinary < 0.05 * COUNT
    assert comparison.facts.facts > 4 * COUNT


def test_outcomes_agree(comparison: Comparison) -> None:
    assert comparison.agreeing >= 0.97 * COUNT


@pytest.mark.parametrize("kind", FALSE)
def test_nothing_is_false(comparison: Comparison, pool: Pool, way: Way, kind: str) -> None:
    for text, disagreement in comparison.worst(10):
        if disagreement.kind == kind:
            small, disagreement = smallest(text, disagreement, pool, way)
            pytest.fail(f"{disagreement.key}\n{disagreement.detail}\n\n{small}", pytrace=False)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), level=st.sampled_from(LEVELS))
def test_nothing_is_false_for_any_seed(pool: Pool, way: Way, seed: int, level: int) -> None:
    text = generate(seed, level)
    said = analyze_or_tell(Sources.of_text(text), way)
    (run,) = pool.run([Program.from_text(text)])
    assert not [item.detail for item in disagree(said, run) if item.kind in FALSE], text


def test_minimise_keeps_what_matters() -> None:
    text = "a = 1\nif a:\n    b = 2\n    c = 3\nd = 4\n"
    assert minimise(text, lambda candidates: ["c = 3" in candidate for candidate in candidates]) == "c = 3\n"
