"""Blinding as a test: the programs stay what they were, and nothing that is said of them is false."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.blinding.measure import Measured, measure, worst
from tests.blinding.programs import known, pairs
from tests.blinding.wrap import blinded, candidates
from tests.oracle import Pool, Program
from tests.support.analyzer import Sources, analyze

TWO_REASONS = """\
import hidden
import torch

x = torch.ones(2, 3, requires_grad=True)
first = (x * 2).sum()
first.backward()
y = first.abs() ** torch.ones(2, 3)
z = y * y
y[0] = 1.0
part = hidden.same(y.T)
(z * 2).sum().backward()
"""
"""What was saved has been written, and the graph behind it was freed: torch names the former."""

SEED, COUNT = 700_000, 120
KINDS = {
    "base", "call", "condition", "constant", "container", "function", "iterable", "module", "name", "operation", "part",
}  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as workers:
        yield workers


def test_torch_does_what_it_did(pool: Pool) -> None:
    """The same end, on the same line, with the same numbers learnt."""
    chosen = list(islice(pairs(SEED, 200), 60))
    before = pool.run([Program.from_text(text) for text, _ in chosen])
    after = pool.run([Program.from_text(hidden) for _, hidden in chosen])
    for (_, hidden), plain, blind in zip(chosen, before, after, strict=True):
        assert (blind.outcome, blind.raised, blind.learnt) == (plain.outcome, plain.raised, plain.learnt), hidden


@pytest.mark.parametrize("seed", range(20))
def test_no_line_moves(seed: int) -> None:
    dice = random.Random(seed)
    text = dice.choice(known())
    hidden = blinded(text, dice, 5)
    assert hidden is not None
    assert hidden.count("\n") == text.count("\n")
    assert 1 <= hidden.count("hidden.same(") - text.count("hidden.same(") <= 5
    ast.parse(hidden)


def test_expressions_of_every_kind_are_hidden() -> None:
    assert {kind for text in known() for kind in candidates(ast.parse(text), text.encode())} == KINDS


def test_nothing_is_false() -> None:
    *_, measured = measure(pairs(SEED, COUNT, random_share=1.0), jobs=2)
    assert measured.programs > 0.9 * COUNT
    assert not measured.false, [*worst(measured, 3)]


def test_what_is_false_is_told(pool: Pool) -> None:
    """An error where torch raises nothing; but not where torch never comes."""
    text = "import torch\nw = torch.ones(3)\nif {}:\n    w.sum().backward()\n"
    said = analyze(Sources.of_text(text.format("w is not None")))
    known = text.replace("ones(3)", "ones(3, requires_grad=True)")
    for condition, false in (("True", ["false error: backward-without-graph"]), ("False", [])):
        (run,) = pool.run([Program.from_text(known.format(condition))])
        measured = Measured()
        measured.add(known, said, said, run)
        assert [key for key in measured.false if key.startswith("false error")] == false


HEAD = "import hidden, torch\nx = torch.ones(3, requires_grad=True)\n"
TWICE = "(x**2).sum().backward(create_graph=True)\nhidden.same(x**3).sum().backward(create_graph=True)\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD
        + "t = x * 2\nmade = hidden.same(t) / t\n",  # a number is multiplied by the reciprocal, a tensor is divided
        HEAD + TWICE + "made = x.grad\n",  # the second backward may have put another tensor there
        HEAD
        + TWICE.replace("hidden.same(x**3).sum().backward", "hidden.same((x**3).sum().backward)")
        + "made = x.grad\n",
        HEAD + "with hidden.same(torch).no_grad():\n    made = x[0]\n",
    ],
)
def test_no_node_is_named_where_there_may_be_another(text: str) -> None:
    claims = analyze(Sources.of_text(text)).claims
    assert not [claim.grad_fn for claim in claims if claim.name == "made" and claim.grad_fn is not None]


def test_a_reason_that_may_come_first_leaves_open_what_torch_says() -> None:
    """The line raises either way."""
    (found,) = analyze(Sources.of_text(TWO_REASONS)).findings
    assert (found.name, found.severity) == ("backward-twice", "error")
    assert found.raises is not None
    assert not found.raises.message
