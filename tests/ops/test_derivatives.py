"""The graphs of gradients: what the machine says of `create_graph=True`, against what torch records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential import vocabulary as ops
from tests.oracle import Pool, Program
from tests.support.analyzer import Sources, Way, analyze
from tests.support.judge import judge_facts

EXPRESSIONS = sorted(
    {
        *(
            text
            for text in (*ops.ELEMENTWISE, *ops.ALONG_LAST, *ops.REDUCTION, *ops.ALONG_FIRST)
            if "_like" not in text
        ),
        *ops.BINARY,
        *(text for text, _ in ops.PAIRED),
        *(
            "{x} @ {y}.t()",
            "{x}.t()",
            "F.linear({x}, {y})",
            "{x}.reshape(-1)",
            "{x}.unsqueeze(0)",
            "{x}[0]",
            "{x}[:, 0]",
        ),
        *("{x}.expand(2, 2, 3)", "{x}[:1].squeeze()", "{x}.mean(1, keepdim=True)", "{x} * {x}[0]", "{x} + {y}[:1]"),
    }
)
PROGRAM = """import torch
import torch.nn.functional as F

a = torch.rand(2, 3, requires_grad=True)
b = torch.rand(2, 3, requires_grad=True)
out = {expression}
(g, h) = torch.autograd.grad(out.sum(), [a, b], create_graph=True, allow_unused=True)
total = (g * a).sum()
k = torch.autograd.grad(total, a, create_graph=True)[0]
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(1) as workers:
        yield workers


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_of_gradients(pool: Pool, way: Way, expression: str) -> None:
    text = PROGRAM.format(expression=expression.format(x="a", y="b"))
    (run,) = pool.run([Program.from_text(text)])
    said = analyze(Sources.of_text(text), way)
    score = judge_facts(said.claims, run.observations)
    assert not [str(wrong) for wrong in score.wrong]
    certain = [finding.message for finding in said.findings if finding.severity == "error"]
    assert bool(certain) <= bool(run.raised), certain
