"""How claims and findings are held against what torch did."""

from __future__ import annotations

import pytest

from tests.oracle import Caught, Observation, Raised, Run
from tests.support.analyzer import Analysis, Claim, Finding, Line, Raises
from tests.support.judge import false_errors, foretold, judge_facts

SEEN = Observation(
    "p.py", 3, "f", "y", 2, (True,), (False,), ("AddBackward0", "MulBackward0"), ((2, 3), (4, 3)), ("float32",), (0,)
)
RAISED = Raised("RuntimeError", "element 0 of tensors does not", "p.py", 5, 9)


def claim(**said: object) -> Claim:
    fields = dict.fromkeys(("requires_grad", "is_leaf", "grad_fn", "shape", "dtype"))
    return Claim(Line("p.py", 3), "f", "y", **{**fields, **said})  # type: ignore[arg-type]


def finding(line: int, message: str, severity: str = "error") -> Finding:
    raises = Raises(Line("p.py", line), "RuntimeError", message, True, False, False)
    return Finding("AG101", "backward-without-graph", severity, "", Line("p.py", 1), raises, None, (), ())


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ({"requires_grad": True}, True),
        ({"requires_grad": False}, False),
        ({"grad_fn": ("AddBackward0", "MulBackward0", "ExpBackward0")}, True),
        ({"grad_fn": ("AddBackward0",)}, False),
        ({"grad_fn": ()}, False),
        ({"shape": (None, 3)}, True),
        ({"shape": (2, 3)}, False),
        ({"shape": (None,)}, False),
        ({"dtype": "float64"}, False),
    ],
)
def test_a_claim_must_hold_for_every_visit(said: dict[str, object], right: bool) -> None:
    score = judge_facts([claim(**said)], [SEEN])
    assert sum(score.known.values()) == 1
    assert (not score.wrong) == right


def test_a_claim_about_what_nobody_saw_is_neither() -> None:
    score = judge_facts([claim(requires_grad=True)], [])
    assert (score.unobserved, score.wrong) == (1, [])


@pytest.mark.parametrize(
    ("said", "false"),
    [
        (finding(5, "element 0 of tensors"), False),
        (finding(4, "element 0 of tensors"), True),
        (finding(5, "Trying to backward"), True),
        (finding(4, "element 0 of tensors", "warning"), False),
    ],
)
def test_an_error_must_come_true(said: Finding, false: bool) -> None:
    analysis = Analysis((said,))
    assert bool(false_errors(analysis, Run("raises", RAISED))) == false
    assert (foretold(analysis, RAISED) is None) == (false or said.severity != "error")


def test_an_error_that_a_handler_takes_came_true() -> None:
    caught = Caught("RuntimeError", "element 0 of tensors does not", "p.py", 5, 5)
    assert not false_errors(Analysis((finding(5, "element 0"),)), Run("ok", caught=(caught,)))
