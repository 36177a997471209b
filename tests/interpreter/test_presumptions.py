"""Where what a run presumes is told."""

from __future__ import annotations

from analyzers.host import Host
from analyzers.host.runs import WHOLE, run_of

JOINED = """\
import hidden
import torch
from torch import nn

net = nn.Linear(2, 2)
one = nn.Linear(2, 1) if hidden.same(True) else nn.Conv1d(2, 1, 1)
two = nn.Linear(2, 1) if hidden.same(True) else nn.Conv1d(2, 1, 1)
three = nn.Linear(2, 1) if hidden.same(True) else nn.Conv1d(2, 1, 1)
optimizer = torch.optim.SGD([*one.parameters(), *net.parameters()], lr=0.1)
for x, y in hidden.load():
    optimizer.zero_grad()
    nn.functional.mse_loss(one(net(x)), y).backward()
    optimizer.step()
"""


def test_what_is_presumed_between_two_statements_of_a_module_has_a_place() -> None:
    host = Host()
    host.set_text("/train.py", JOINED)
    run = run_of(host.world, "/train.py", WHOLE, True)
    joined = [each for each in run.presumptions if each.message == "of two objects one is taken"]
    assert joined
    assert all(each.loc.chunk.startswith("stmt:") for each in joined)
