"""The graphs of gradients: what the machine says of `create_graph=True`, against what torch records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analyzers.host import Host
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
        *(
            "torch.cat([{x}, {y}], 1)",
            "torch.cat([{x}, {y} * {x}, {x}])",
            "torch.cat([{x}[:, :1], {y}[:, 1:]], dim=-1)",
        ),
        *("torch.stack([{x}, {y}])", "torch.stack([{x}, {y} * {x}], dim=-1)", "torch.hstack([{x}, {y}.exp()])"),
        *("{x}[:, 0:2] * {y}[:, 1:]", "{x}[::2]", "{x}[-1]", "{x}[..., None] * {y}[:, None]", "{x}.select(1, -1)"),
        *("{x}.narrow(1, 1, 2) * {x}[:, :2]", "{x}.chunk(3, 1)[1].sin()", "{x}.split(2, 1)[0] ** 2"),
        *("{x}.unbind(1)[0] * {x}.unbind(1)[2]", "{x}.unbind()[1].exp()", "{x}.transpose(0, 1) @ {y}"),
        *("{x}.permute(1, 0).exp()", "{x}.movedim(0, 1) * 2", "torch.einsum('ij,ij->i', {x}, {y})"),
        *("torch.where({x} > 0.5, {x} ** 2, {y})", "{x}[None].bmm({y}[None].transpose(1, 2))", "{x}.mT @ {y}"),
        *("{x}.tan()", "{x}.atan()", "{x}.sinh()", "{x}.cosh()", "{x}.flatten() ** 3"),
        *("{x}.expand(2, 2, 3)", "{x}[:1].squeeze()", "{x}.mean(1, keepdim=True)", "{x} * {x}[0]", "{x} + {y}[:1]"),
    }
)
OPAQUE = {
    *("F.layer_norm({x}, {x}.shape[-1:])", "F.smooth_l1_loss({x}, {y})", "torch.atan2({x}, {y})", "{x}.amax(0)"),
    *("torch.einsum('ij,ij->i', {x}, {y})", "{x}.chunk(3, 1)[1].sin()", "{x}.cumprod(0)", "{x}.logsumexp(0)"),
    *("{x}.mT @ {y}", "{x}.nan_to_num()", "{x}.norm(dim=0)", "{x}.prod()", "{x}.prod(0)", "{x}.split(2, 1)[0] ** 2"),
    "{x}.transpose(0, 1) @ {y}",
}
"""Expressions with a gradient of which it is not known whether it has a graph."""
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


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_whether_a_gradient_has_a_graph_is_known(expression: str) -> None:
    host = Host()
    host.set_text("train.py", PROGRAM.format(expression=expression.format(x="a", y="b")))
    facts = {fact.name: fact for fact in host.snapshot().facts("train.py")}
    assert (facts["g"].requires_grad is None) == (expression in OPAQUE)
