"""What an edit replaces is freed at once, without the garbage collector."""

from __future__ import annotations

import gc

from analyzers.host import Host

SCRIPT = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.Adam(model.parameters(), lr={rate})
for epoch in range(10):
    optimizer.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
kept = []
left = torch.rand(1)
while left.item() > 0.1:
    kept.append(left * {rate})
    left = left / 2
for row in model[0].weight.detach()[: len(kept)]:
    kept.append(row)
"""


def test_a_former_run_leaves_no_cycles() -> None:
    host = Host()
    host.set_text("/train.py", SCRIPT.format(rate=0.1))
    host.snapshot().findings("/train.py")
    gc.collect()
    gc.disable()
    try:
        for rate in range(1, 8):  # more than are kept to come back to
            host.set_text("/train.py", SCRIPT.format(rate=rate))
            host.snapshot().findings("/train.py")
        assert gc.collect() == 0
    finally:
        gc.enable()
