"""What follows from another finding is not told besides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzers.drafting.judging import unsettled
from analyzers.host import Host
from analyzers.report import Choice, Finding, Place, Related, Severity
from analyzers.rules import RULES

A = "/lab/a.py"

WRONG_STEP = """\
import torch
one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_one = torch.optim.SGD(one.parameters(), lr=0.1)
opt_two = torch.optim.SGD(two.parameters(), lr=0.1)
for step in range(3):
    opt_one.zero_grad()
    two(one(torch.ones(1, 2))).pow(2).sum().backward()
    opt_two.step()
    opt_two.zero_grad()
    two(one(torch.ones(1, 2)).detach()).pow(2).sum().backward()
    opt_two.step()
"""


def told(text: str, off: frozenset[str] = frozenset()) -> list[Finding]:
    host = Host(choose=lambda _: Choice(off=off))
    host.set_text(A, text)
    return list(host.snapshot().findings(A))


def test_one_cause_is_told_once() -> None:
    """That the wrong optimizer steps, and not that gradients add up for the same reason."""
    assert [finding.code for finding in told(WRONG_STEP)] == ["AG307"]


def test_what_follows_from_one_that_is_off_is_told() -> None:
    assert [finding.code for finding in told(WRONG_STEP, frozenset({"AG307"}))] == ["AG301"]
    reached = "one(torch.ones(1, 2))).pow(2).sum().backward()"
    silenced = WRONG_STEP.replace(reached, f"{reached}  # noqa: AG307")
    assert [finding.code for finding in told(silenced)] == ["AG301"]


@pytest.mark.parametrize(
    ("cause", "other", "left"),
    [("error", "warning", ["AG115"]), ("warning", "warning", ["AG115"]), ("warning", "error", ["AG115", "AG103"])],
)
def test_what_weighs_more_is_told(cause: Severity, other: Severity, left: list[str]) -> None:
    """An optimizer over what is no leaf, and a warning, or an error, of the graph behind it."""
    there = Place(A, 10, 20)
    [example] = told(WRONG_STEP)
    settling = replace(example, code="AG115", severity=cause, related=(Related(there, "the tensor is computed here"),))
    follows = replace(example, code="AG103", severity=other, place=there)
    assert [finding.code for finding in unsettled([settling, follows], RULES)] == left
    elsewhere = replace(follows, place=Place(A, 30, 40))
    assert len(unsettled([settling, elsewhere], RULES)) == 2
