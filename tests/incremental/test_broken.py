"""What is half typed or damaged is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.incremental.broken import Answer, damaged, mutated, tell, timed, typed

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gan.py"


def test_every_prefix_is_answered() -> None:
    answers = list(typed("/typed.py", EXAMPLE.read_text(encoding="utf-8"), 13))
    assert [answer for answer in answers if answer.failure is not None] == []
    assert answers[-1].what == f"/typed.py, its first {len(EXAMPLE.read_text(encoding='utf-8'))} characters"


@pytest.mark.parametrize("seed", range(24))
def test_damaged_bytes_are_answered(seed: int) -> None:
    assert mutated(EXAMPLE.read_bytes(), seed) != EXAMPLE.read_bytes()
    assert damaged("/damaged.py", EXAMPLE.read_bytes(), seed).failure is None


def test_a_failure_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    answer = timed("what fails", lambda: {}["missing"])
    assert answer.failure is not None
    assert tell("files", [answer, Answer("what is slow", 2.5, None)])
    out = capsys.readouterr().out
    assert "2 answers, 1 failures" in out
    assert "1 over 1 s, the slowest 2.50 s (what is slow)" in out
    assert "KeyError: 'missing'" in out
