"""The corpus as a test: nothing false, and no less found than before."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.corpus.labels import PARTS, Labelled, corpus
from tests.corpus.score import Score, analyses, score, score_facts
from tests.oracle import Run, run_batch
from tests.support.analyzer import Analysis, Way
from tests.support.judge import FactScore

# What each part must reach at least. Raise these when the analyzer does better; never lower them.
FLOORS = {
    #     raising  silent  causes  share of facts whose requires_grad is known
    "a": (38, 13, 49, 0.98),
    "b": (18, 17, 31, 0.94),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part, run by torch and read by the analyzer."""

    name: str
    programs: list[Labelled]
    runs: list[Run]
    said: list[Analysis | str]
    score: Score
    facts: FactScore


@pytest.fixture(scope="module", params=PARTS)
def part(request: pytest.FixtureRequest, way: Way) -> Part:
    """Each part in turn."""
    programs = list(corpus((request.param,)))
    runs = run_batch([item.program for item in programs])
    said = analyses(programs, way, jobs=2)
    return Part(request.param, programs, runs, said, score(programs, said, runs), score_facts(said, runs))


def test_torch_still_does_what_the_labels_say(part: Part) -> None:
    for program, run in zip(part.programs, part.runs, strict=True):
        truth, raised = program.truth, run.raised
        done = raised and (raised.message, raised.file, raised.line)
        assert (run.outcome, done) == (truth.outcome, truth.at and (truth.message, truth.at.file, truth.at.number)), (
            program.name
        )


def test_nothing_crashes(part: Part) -> None:
    assert not part.score.crashed


def test_no_error_is_false(part: Part) -> None:
    assert not part.score.false_errors


def test_no_fact_is_wrong(part: Part) -> None:
    assert not [str(wrong) for wrong in part.facts.wrong]


def test_no_less_is_found_than_before(part: Part) -> None:
    raising, silent, causes, known = FLOORS[part.name]
    assert part.score.raising_found >= raising
    assert part.score.silent_found >= silent
    assert part.score.causes_named >= causes
    assert part.facts.known["requires_grad"] >= known * part.facts.facts
