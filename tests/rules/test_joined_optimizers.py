"""An optimizer that stands for several: of states that were joined after each had made its own."""

from __future__ import annotations

from unittest import mock

from analyzers.host import Host
from analyzers.machine.core.events import OptimizerMade
from analyzers.machine.core.machine import Machine

REMADE = """\
import hidden
import torch

scale = torch.ones(3) if hidden.same(True) else torch.ones(3, requires_grad=True)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net = torch.nn.Linear(3, 1)
for _ in range(3):
    loss = net(torch.ones(2, 3)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def _apart(m: Machine, most: int) -> int:
    """As in a long program: states that each have made an optimizer are joined."""
    return 1 if sum(isinstance(event, OptimizerMade) for event in m.record.events) > 1 else most


def test_a_step_that_finds_no_gradient_is_told_where_its_optimizer_stands_for_two() -> None:
    with mock.patch.object(Machine, "apart", _apart):
        host = Host()
        host.set_text("/train.py", REMADE)
        (finding,) = host.snapshot().findings("/train.py")
    assert (finding.code, finding.severity) == ("AG203", "warning")
