"""What an edit replaces is freed at once, without the garbage collector."""

from __future__ import annotations

import gc

import pytest

from analyzers.host import Host
from analyzers.machine.core import machine

SCRIPT = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.Adam(model.parameters(), lr={rate})
for epoch in range(10):
    optimizer.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
"""


@pytest.mark.skipif(not machine.__file__.endswith(".py"), reason="what mypyc makes of closures leads back to itself")
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
