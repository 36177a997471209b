"""What a program costs grows with its length, whichever construct it repeats: by count of calls, not by clock."""

from __future__ import annotations

import itertools
from unittest import mock

import pytest

from analyzers.host import Host
from analyzers.machine.core.replay import summaries
from tests.security.programs import EXPRESSIONS, HEAD, LOOPS, STATEMENTS
from tests.support.steps import calls_of

FLAT = {**STATEMENTS, **EXPRESSIONS}

FREE = 12_000
"""Calls that a program may cost beyond its share: what is made once, and what is not worth bounding."""


SQUARED = {"if else of tensors", "comprehension inside"}
"""States with other graphs are compared by all that was written since they parted, until that is so much that they are
joined; and each comprehension over one whose length is not known is taken to be longer by one."""


def calls(text: str) -> int:
    """How many functions are called to find what there is in a program."""
    host = Host()
    host.set_text("m.py", text)
    snapshot = host.snapshot()
    return calls_of(lambda: snapshot.findings("m.py"))


@pytest.fixture(scope="module", autouse=True)
def _prepared() -> None:
    """What is made once for all programs is not counted."""
    calls(HEAD)


@pytest.mark.parametrize("name", FLAT)
def test_twice_as_many_cost_little_more_than_twice_as_much(name: str) -> None:
    costs = [calls(FLAT[name](n)) for n in (10, 20, 40, 80)]
    most = 4.0 if name in SQUARED else 2.7
    for fewer, more in itertools.pairwise(costs):
        assert more <= most * fewer + FREE, costs


@pytest.mark.parametrize("name", LOOPS)
def test_loops_inside_one_another_do_not_double(name: str) -> None:
    costs = {n: calls(LOOPS[name](n)) for n in (5, 10, 19)}
    assert costs[10] <= 8 * costs[5], costs
    assert costs[19] <= 8 * costs[10], costs


def _doubling(n: int) -> str:
    functions = [f"def h{i}(v):\n    h{i - 1}(v)\n    h{i - 1}(v)\n" for i in range(1, n)]
    return HEAD + "def h0(v):\n    return f(v)\n" + "".join(functions) + f"h{n - 1}(x)\n"


def test_a_program_that_doubles_is_noticed() -> None:
    with mock.patch.object(summaries, "key_of", lambda m, func: None):
        assert calls(_doubling(8)) > 2.7 * calls(_doubling(4)) + FREE


HEADS = """\
import library
import torch

class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {begun}
        self.value = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.key(x) @ self.encode(x).mT + self.decode(x) + self.value(x)

class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleList([Head() for _ in range(3)])

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)

model = Heads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in library.loader:
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_parts_that_a_library_gives_cost_little_more_than_ones_that_are_seen() -> None:
    layers = "; ".join(f"self.{name} = torch.nn.Linear(8, 8)" for name in ("key", "encode", "decode"))
    seen, unseen = (calls(HEADS.format(begun=begun)) for begun in (layers, "library.equip(self)"))
    assert unseen <= 4 * seen, (seen, unseen)
