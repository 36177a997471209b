"""How often a step of an optimizer is run parameter by parameter."""

from __future__ import annotations

from unittest import mock

import pytest

from analyzers.domain.state import State
from analyzers.host import Host
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter import dispatch
from analyzers.machine.interpreter.flow import Flow
from analyzers.syntax import nodes as n
from tests.summaries.test_summaries import bodies_run

TRAINED = """\
import torch
from torch import nn

net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(6)])
optimizer = torch.optim.OPTIMIZER
BEFORE
for step in range(100):
    optimizer.zero_grad()
    net(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), "state.pt")
"""

ADAM, MOMENTUM = "Adam(net.parameters())", "SGD(net.parameters(), lr=0.1, momentum=0.9)"
RESUMED = "import sys\nif len(sys.argv) > 1:\n    optimizer.load_state_dict(torch.load('state.pt'))"


def steps(optimizer: str, before: str = "pass") -> int:
    runs = bodies_run(TRAINED.replace("OPTIMIZER", optimizer).replace("BEFORE", before))
    assert "Optimizer.step" in runs
    return runs.count("Optimizer._keep")


@pytest.mark.parametrize("optimizer", [ADAM, MOMENTUM])
@pytest.mark.parametrize("before", ["pass", RESUMED])
def test_the_state_of_known_parameters_is_written_at_once(optimizer: str, before: str) -> None:
    """Also where it was shown to somebody, or where a file that nobody knows may have been loaded."""
    assert steps(optimizer, before) == 0


SCALED = """\
import torch
from torch import nn

net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(DEPTH)])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(100):
    optimizer.zero_grad()
    scaler.scale(net(torch.ones(4, 8)).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
"""


def test_known_gradients_are_unscaled_at_once() -> None:
    assert statements_of(SCALED.replace("DEPTH", "12")) == statements_of(SCALED.replace("DEPTH", "2")) > 0


def statements_of(text: str) -> int:
    """How many statements of `unscale_` are run."""
    counted = 0
    run = dispatch.run_statement

    def noting(m: Machine, statement: n.Stmt, state: State) -> Flow:
        nonlocal counted
        counted += m.frame.qualname == "GradScaler.unscale_"
        return run(m, statement, state)

    with mock.patch.object(dispatch, "run_statement", noting):
        host = Host()
        host.set_text("/train.py", text)
        host.snapshot().findings("/train.py")
    return counted
