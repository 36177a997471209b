"""What a step leaves out, where ways met at which an optimizer holds another number of parameters."""

from __future__ import annotations

from analyzers.host import Host
from analyzers.host.presuming import presuming
from analyzers.host.runs import run_of
from analyzers.machine.core.events import BackwardCall, LeftOut

JOINED = """\
import torch
from torch import nn
from settings import deep

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU()]
        if deep:
            self.body = nn.Sequential(*layers)
        else:
            self.body = nn.Sequential(*layers[:2])
        self.value = nn.Linear(4, 4)
        self.advantage = nn.Linear(4, 4)

    def forward(self, x):
        x = self.body(x)
        return self.value(x) + self.advantage(x)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def train():
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.ones(3, 4)).sum().backward()
        optimizer.step()
"""


def test_what_two_ways_call_alike_is_held_though_their_lists_differ_in_length() -> None:
    """By name the layers of the two ways are pairs, by their place in the list of the optimizer they are others."""
    path = "/lab/main.py"
    host = Host(read=lambda _: None)
    host.set_text(path, JOINED)
    (index,) = host.snapshot().ask(lambda db: presuming(db, path))
    events = host.snapshot().ask(lambda db: run_of(db, path, index, True)).events
    assert any(isinstance(event, BackwardCall) and len(event.reached) >= 6 for event in events)
    assert not [event for event in events if isinstance(event, LeftOut)]
