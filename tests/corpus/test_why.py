"""The corpus explained, by tracebacks made of the labels; `python -m tests.corpus.why` has torch raise them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograd_lsp.config import Configuration
from autograd_lsp.why.answer import Answer, answers, told_in
from autograd_lsp.why.program import Finder
from tests.corpus.labels import PARTS, Labelled, corpus

# How many causes are named or told at least, of all programs that raise. Raise these when more are; never lower them.
FLOORS = {"a": 36, "b": 16}


def traceback_of(program: Labelled) -> str:
    """As Python prints it, without what is between the outermost frame and the innermost."""
    folder = program.path if program.path.is_dir() else program.path.parent
    at = program.truth.at
    assert at is not None
    line = (folder / at.file).read_text(encoding="utf-8").splitlines()[at.number - 1]
    entry = [f'  File "{folder / "main.py"}", line 1, in <module>\n'] if program.path.is_dir() else []
    return "".join([
        "Traceback (most recent call last):\n",
        *entry,
        f'  File "{folder / at.file}", line {at.number}, in step\n    {line.strip()}\n',
        '  File "/usr/lib/python3/dist-packages/torch/_tensor.py", line 623, in backward\n',
        f"RuntimeError: {program.truth.message}\n",
    ])  # fmt: skip


def explained(program: Labelled) -> Answer | None:
    told = told_in(traceback_of(program))
    return next(answers(told, Finder(), Configuration(isolated=True), every=False, cached=False), None)


def lines_of(answer: Answer) -> set[tuple[str, int]]:
    """Where the first cause and its trace are."""
    cause = answer.causes[0]
    found = set()
    for place in (cause.place, *(step.place for step in cause.trace)):
        before = cause.report.texts[place.path].encode()
        first, last = before[: place.start].count(b"\n") + 1, before[: place.end].count(b"\n") + 1
        found |= {(os.path.basename(place.path), line) for line in range(first, last + 1)}
    return found


@pytest.mark.parametrize("part", PARTS)
def test_causes_are_named(part: str) -> None:
    programs = [program for program in corpus((part,)) if program.truth.outcome == "raises"]
    missed = []
    for program in programs:
        answer = explained(program)
        causes = {(Path(line.file).name, line.number) for line in program.causes}
        if answer is None or not answer.causes or not lines_of(answer) & causes:
            missed.append(program.name)
    assert len(programs) - len(missed) >= FLOORS[part], missed
