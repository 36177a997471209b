"""A replayed call and one that runs leave the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import pytest

from analyzers.domain.state import State
from analyzers.host import Host
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter import calls, dispatch
from analyzers.machine.interpreter.flow import Flow
from analyzers.syntax import nodes as n
from tests.corpus.labels import corpus
from tests.summaries.shadow import compared

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    [
        *ROOT.glob("examples/*.py"),
        *[program.path for program in corpus() if program.path.is_file()][::6],
        ROOT / "benchmarks/programs/train.py",
    ]
)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_replays_change_nothing(path: Path) -> None:
    assert list(compared(path)) == []


BLOCKS = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        first = torch.relu(self.first(x))
        second = torch.tanh(self.second(first))
        scaled = second * 2
        return x + scaled

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(DEPTH)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

net = Net()
out = net(torch.ones(4, 8))
CHANGE
out.sum().backward()
"""


def bodies_run(text: str) -> list[str]:
    """The functions whose bodies were run, in order."""
    names: list[str] = []
    run = dispatch.run_block

    def noting(m: Machine, body: Sequence[n.Stmt], states: list[State]) -> Flow:
        func = m.frame.func
        if func is not None and body is m.whole(func).body:
            names.append(m.frame.qualname)
        return run(m, body, states)

    with mock.patch.object(calls, "run_block", noting):
        host = Host()
        host.set_text("/train.py", text)
        host.snapshot().findings("/train.py")
    return names


def test_equal_blocks_run_once() -> None:
    assert bodies_run(program(12)).count("Block.forward") == bodies_run(program(4)).count("Block.forward") < 4


def program(depth: int, change: str = "") -> str:
    return BLOCKS.replace("DEPTH", str(depth)).replace("CHANGE", change)


@pytest.mark.parametrize("number", [0, 3, 11])
def test_a_write_into_a_weight_of_any_block_is_seen(number: int) -> None:
    """What a replayed call has saved is as good as what one saves that runs: its versions are told apart."""
    change = f"with torch.no_grad():\n    net.blocks[{number}].second.weight.mul_(0.5)"
    host = Host()
    host.set_text("/train.py", program(12, change))
    (finding,) = host.snapshot().findings("/train.py")
    assert finding.name == "saved-tensor-modified"


def test_blocks_are_replayed_after_a_backward_that_nobody_could_see() -> None:
    unseen = program(12).replace("net = Net()", "import hidden\n\nnet = Net()\nhidden.loss_of(net).backward()")
    runs = bodies_run(unseen).count("Net.forward")
    assert bodies_run(unseen).count("Block.forward") <= runs * 12 * 2 // 3
