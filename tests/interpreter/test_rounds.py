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


def test_a_loop_ends_once_its_head_has_settled() -> None:
    """A loss with another graph of the same kind is no news: one round stands for all others."""
    assert rounds_of(ALIKE) == [REAL, REAL, REAL, LATER]


def test_a_loop_ends_though_what_nobody_knows_may_be_more_with_each_round() -> None:
    """A node has kept an operand of which nobody knows which it is: more candidates are no news."""
    assert rounds_of(UNKNOWN) == 2 * [REAL, REAL, REAL, LATER]  # of the run on presumed values, too


def test_a_loop_goes_on_while_its_head_grows() -> None:
    assert rounds_of(GROWING) == [REAL, REAL, REAL, LATER, LATER]


def test_loops_within_loops_run_fewer_rounds_each_time_they_are_met() -> None:
    outer = [each for each in rounds_of(NESTED) if len(each) == 1]
    inner = [each for each in rounds_of(NESTED) if len(each) == 2]
    assert outer == [REAL, REAL, LATER]
    first = [(False, False)] * 3 + [(False, True)]
    assert inner == [*first, (False, False), (False, True), (True, True)]
