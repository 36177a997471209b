"""How many rounds of a loop are run."""

from __future__ import annotations

from unittest import mock

from analyzers.domain.lineage import is_blurred
from analyzers.host import Host
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter import loops
from analyzers.syntax import nodes as n

HEAD = """\
import torch
from torch import nn

net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

"""

ALIKE = """\
for k in range(100):
    optimizer.zero_grad()
    loss = net(torch.rand(1, 2)).sum()
    loss.backward()
    optimizer.step()
"""

GROWING = """\
kept = []
for k in range(100):
    loss = net(torch.rand(1, 2)).sum()
    loss.backward()
    kept.append([kept[-1:], loss])
"""

UNKNOWN = """\
from somewhere import images

for k in range(100):
    optimizer.zero_grad()
    x = torch.rand(1, 2)
    loss = (net(x) * images(x)).sum()
    loss.backward()
    optimizer.step()
"""

NESTED = """\
for epoch in range(100):
    for k in range(100):
        optimizer.zero_grad()
        net(torch.rand(1, 2)).sum().backward()
        optimizer.step()
"""


IN_A_FUNCTION = """\
def train():
    total = 0
    for k in range(100):
        optimizer.zero_grad()
        loss = net(torch.rand(1, 2)).sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return loss.detach() * total


for epoch in range(100):
    total = train()
"""

METERED = """\
class Meter:
    def __init__(self):
        self.sum = 0.0


def train():
    losses, meter = [], Meter()
    for k in range(100):
        optimizer.zero_grad()
        loss = net(torch.rand(1, 2)).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        meter.sum += loss.item()
    print(losses, meter.sum)


for epoch in range(100):
    train()
"""

EVALUATED = f"{NESTED}    net.eval()\n"

CARRIED = """\
kept = None
for epoch in range(100):
    for k in range(100):
        optimizer.zero_grad()
        loss = net(torch.rand(1, 2)).sum()
        loss.backward()
        optimizer.step()
    kept = loss
"""


def rounds_of(text: str) -> list[tuple[bool, ...]]:
    """Of each round of a loop of the program, in order, whether it stands for all later ones: of the loop itself, after
    those that it is in."""
    found: list[tuple[bool, ...]] = []
    run = loops.run_block

    def noting(m: Machine, body: tuple[n.Stmt, ...], states: object) -> object:
        if not m.frame.library and m.extent.loops and body is m.extent.loops[-1].body:
            found.append(tuple(is_blurred(index) for loc, index in m.extent.iterations if loc.module == "/train.py"))
        return run(m, body, states)  # type: ignore[arg-type]

    with mock.patch.object(loops, "run_block", noting):
        host = Host()
        host.set_text("/train.py", HEAD + text)
        host.snapshot().findings("/train.py")
    return found


REAL, LATER = (False,), (True,)


def open_ended(text: str) -> str:
    """The same, over what nobody knows: its rounds cannot be told apart."""
    return "import sys\n" + text.replace("range(100)", "sys.argv")


def test_a_loop_ends_once_its_head_has_settled() -> None:
    """A loss with another graph of the same kind is no news: one round stands for all others."""
    assert rounds_of(ALIKE) == [REAL, REAL, REAL, LATER]


def test_a_round_that_tells_nothing_new_is_the_last_real_one() -> None:
    assert rounds_of(open_ended(ALIKE)) == [REAL, REAL, LATER]
    assert rounds_of(ALIKE.replace("for k in range(100)", "while True")) == [REAL, REAL, LATER]


def test_a_round_that_counts_is_none_like_others() -> None:
    """`if step == 2` would be another way."""
    counting = "step = 0\n" + open_ended(ALIKE) + "    step += 1\n"
    assert rounds_of(counting) == [REAL, REAL, REAL, LATER]


def test_a_loop_ends_though_what_nobody_knows_may_be_more_with_each_round() -> None:
    """A node has kept an operand of which nobody knows which it is: more candidates are no news."""
    assert rounds_of(UNKNOWN) == 2 * [REAL, REAL, REAL, LATER]  # of the run on presumed values, too


def test_a_loop_goes_on_while_its_head_grows() -> None:
    assert rounds_of(GROWING) == [REAL, REAL, REAL, LATER, LATER]


def inner_rounds_of(text: str) -> list[tuple[bool, ...]]:
    return [each for each in rounds_of(text) if len(each) == 2]


def test_loops_within_loops_run_fewer_rounds_each_time_they_are_met() -> None:
    assert [each for each in rounds_of(NESTED) if len(each) == 1] == [REAL, REAL, LATER]
    first = [(False, False)] * 3 + [(False, True)]
    assert inner_rounds_of(NESTED) == [*first, (False, False), (False, True), (True, True)]


FIRST = [(False, False), (False, False), (False, True)]
"""The rounds of the inner loop when it is met for the first time."""

ANEW = [(False, False), (False, True), (True, True)]
"""Its rounds in later rounds of the outer loop."""


def test_a_loop_is_not_run_again_where_it_is_met_as_it_was_left() -> None:
    assert inner_rounds_of(open_ended(NESTED)) == FIRST
    assert inner_rounds_of(open_ended(IN_A_FUNCTION)) == FIRST
    assert inner_rounds_of(open_ended(METERED)) == [(False, False), *FIRST]  # a list of one, of two, of any number


def test_a_loop_is_run_again_where_something_has_changed() -> None:
    assert inner_rounds_of(open_ended(EVALUATED))[:5] == [*FIRST, *ANEW[:2]]
    assert inner_rounds_of(open_ended(CARRIED))[:5] == [*FIRST, *ANEW[:2]]
    begins = METERED.replace("losses, meter = []", "losses, meter = [net.weight.grad is None]")
    assert inner_rounds_of(open_ended(begins))[4:6] == ANEW[:2]
    emptied = METERED.replace("print(losses, meter.sum)", "losses.clear()")
    assert inner_rounds_of(open_ended(emptied))[4:6] == ANEW[:2]
    switched = open_ended(NESTED) + "    torch.set_grad_enabled(len(sys.argv) > 1)\n"
    assert inner_rounds_of(switched)[:5] == [*FIRST, *ANEW[:2]]


def test_what_the_loop_has_bound_is_there_after_it() -> None:
    host = Host()
    host.set_text("/train.py", HEAD + open_ended(IN_A_FUNCTION) + "    total.backward()\n")
    (found,) = host.snapshot().findings("/train.py")
    assert found.code == "AG101"


BUILT = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for k in range(COUNT):
            layers.append(nn.Linear(2, 2))
        self.layers = nn.ModuleList(layers)


Net()
"""


def test_a_loop_that_counts_the_parts_of_a_network_runs_in_full() -> None:
    """One that stands for many would be no layer that anybody knows."""
    assert rounds_of(BUILT.replace("COUNT", "36")) == 36 * [REAL]
    assert rounds_of(BUILT.replace("COUNT", "1000"))[-1] == LATER
