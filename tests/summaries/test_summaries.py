"""A replayed call and one that runs leave the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import pytest

from analyzers.domain.state import State
from analyzers.host import Host
from analyzers.host.runs import module_run
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.replay import replays
from analyzers.machine.interpreter import calls, dispatch
from analyzers.machine.interpreter.flow import Flow
from analyzers.syntax import nodes as n
from tests.corpus.labels import corpus
from tests.summaries.perturbed import perturbed, programs
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


def test_what_changes_between_calls_counts(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    for one in perturbed(programs(), 12, seed=1):
        file.write_text(one.changed)
        assert list(compared(file)) == [], one.change


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


ATTENTION = """\
import hidden
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = self.first(x).split(8, dim=2)
        q = q.contiguous()
        scores = q * q
        again = q.contiguous()
        return self.second(again) + scores

x = hidden.data()
for block in [Block() for _ in range(12)]:
    x = block(x)
x.sum().backward()
"""


def test_what_a_call_has_saved_itself_is_not_asked_of_another() -> None:
    """Of a tensor that may be a view: it is saved, and may then be written through what may be a view of it."""
    assert bodies_run(ATTENTION).count("Block.forward") == 2


TRAINED = """\
import hidden
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        LOOK
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return x

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(100):
    optimizer.zero_grad()
    loss = net(torch.ones(4, 8)).sum()
    AGAIN
    loss.backward()
    optimizer.step()
"""


def forwards(look: str = "", again: str = "") -> int:
    text = TRAINED.replace("LOOK", look or "pass").replace("AGAIN", again or "pass")
    return bodies_run(text).count("Net.forward")


def test_a_round_is_replayed_whose_sums_go_on_from_layer_to_layer() -> None:
    """One real round and the one that stands for all later ones: their weights have been written unlike."""
    assert forwards() == 2


def test_a_function_is_replayed_from_wherever_it_is_called() -> None:
    assert forwards(again="loss = loss + net(torch.ones(4, 8)).sum() + net(torch.ones(4, 8)).mean()") == forwards()


@pytest.mark.parametrize("device", ["hidden.device()", "'cuda'"])
def test_a_function_is_replayed_where_autocast_may_be_on(device: str) -> None:
    """Which copies autocast keeps is known on the CPU alone, where nothing is replayed."""
    cast = TRAINED.replace("    loss = net", f"    with torch.autocast({device}):\n        loss = net")
    again = "with torch.autocast(DEVICE):\n        loss = loss + net(torch.ones(4, 8)).sum()".replace("DEVICE", device)
    assert bodies_run(cast.replace("LOOK", "pass").replace("AGAIN", again)).count("Net.forward") == forwards()


def test_a_function_is_replayed_that_asserts_what_nobody_knows() -> None:
    assert forwards(look="assert x.size(0) <= hidden.LIMIT") == forwards()


def test_a_function_is_replayed_that_lists_what_it_computes() -> None:
    collects = "found = []\n        for layer in self.layers:\n            found.append(layer(x))"
    assert forwards(look=collects) == forwards()


def test_a_function_is_replayed_after_unknown_code_was_given_something() -> None:
    shown = bodies_run(TRAINED.replace("LOOK", "pass").replace("AGAIN", "hidden.show(hidden.grid(loss))"))
    assert shown.count("Net.forward") <= 2 * forwards()


def test_states_that_are_apart_share_what_ran() -> None:
    """Two states come to one call: on which visit makes no difference."""
    apart = TRAINED.replace("for step in", "used = [torch.ones(2)] if hidden.FLAG else []\nfor step in")
    assert bodies_run(apart.replace("LOOK", "pass").replace("AGAIN", "pass")).count("Net.forward") == forwards()


def test_what_nothing_leads_to_is_left_out() -> None:
    """The steps between a call's arguments and its results are gone where no graph holds them."""
    text = program(12, "with torch.no_grad():\n    out = net(torch.ones(4, 8))") + "done = out\n"
    sizes = []
    for temporary in (replays.TEMPORARY, ()):
        with mock.patch.object(replays, "TEMPORARY", temporary):
            host = Host()
            host.set_text("/train.py", text)
            sizes.append(len(module_run(host.world, "/train.py").state.heap))
    assert sizes[0] < sizes[1]
