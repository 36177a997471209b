"""Hiding all data, models or lengths: torch does what it did, and no error is false."""

from __future__ import annotations

import ast
from itertools import islice

import pytest

from tests.blinding.parts import KINDS, without
from tests.blinding.programs import known
from tests.blinding.understood import pairs, understand
from tests.oracle import Pool, Program

TRAINING = """\
import numpy as np
import torch
from torch.utils.data import DataLoader

net = torch.nn.Linear(2, 1)
sizes = [3] * 2
layers = [torch.nn.Linear(2, 2) for _ in range(4)]
w = torch.ones(2, requires_grad=True)
for x in DataLoader(torch.randn(4, 2)):
    loss = (net(x) - torch.from_numpy(np.zeros(1))).sum()
"""


@pytest.mark.parametrize(
    ("kind", "hidden"),
    [
        ("data", ["DataLoader(torch.randn(4, 2))", "torch.from_numpy(np.zeros(1))"]),
        ("models", ["torch.nn.Linear(2, 1)"]),
        ("lengths", ["2", "4"]),
    ],
)
def test_all_of_a_kind_is_hidden(kind: str, hidden: list[str]) -> None:
    text = without(TRAINING, kind)
    assert text is not None
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    same = [call for call in calls if ast.unparse(call.func) == "hidden.same"]
    assert sorted(ast.unparse(call.args[0]) for call in same) == sorted(hidden)
    assert text.count("\n") == TRAINING.count("\n")


def test_a_program_without_any_is_left_out() -> None:
    assert without("import torch\n", "data") is None


@pytest.mark.parametrize("kind", KINDS)
def test_no_error_is_false(kind: str) -> None:
    found = understand(islice(pairs(0, 0, kind), 60), 2)
    assert found.running + found.told.total() > 20
    assert not found.wrong


def test_what_nobody_can_foresee_is_left_out() -> None:
    """How many elements hidden data have, and whether a model has made them."""
    head = "import torch\nx = torch.randn(3)\nw = torch.ones(3, requires_grad=True)\n"
    ends = [
        "(w * x).backward()",
        "x.sum().backward()",
        "w += x",
        "loss = (w.exp() * x).sum(); [loss.backward() for _ in x]",
    ]
    texts = [f"{head}{end}\n" for end in ends]
    found = understand([(text, without(text, "data") or "") for text in texts], 1)
    assert found.left_out == {"backward-on-non-scalar": 1, "for want of a graph": 1}
    assert found.told.total() == 2


def test_torch_does_what_it_did() -> None:
    plain = [text for text in known()[:40] if without(text, "data") is not None]
    hidden = [without(text, "data") or "" for text in plain]
    with Pool(2) as pool:
        before = pool.run([Program.from_text(text) for text in plain])
        after = pool.run([Program.from_text(text) for text in hidden])
    for text, one, other in zip(hidden, before, after, strict=True):
        assert (other.outcome, other.raised, other.learnt) == (one.outcome, one.raised, one.learnt), text
