"""Each fault is one, and is found in a loop that is followed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.planted.measure import plant_in
from tests.planted.plant import KINDS, lines_of_backward, plants
from tests.support.analyzer import findings

TRAINING = """\
import torch
from data import batches

net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in batches:
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("detached", "backward-without-graph"),
        ("twice", "backward-twice"),
        ("wrapped", "loss-rewrapped"),
        ("unstepped", "optimizer-not-stepped"),
        ("uncleared", "gradients-never-zeroed"),
    ],
)
def test_fault_is_found(tmp_path: Path, kind: str, code: str) -> None:
    [line] = lines_of_backward(TRAINING)
    planted = {fault.kind: fault.text for fault in plants(TRAINING, line)}
    assert set(planted) == set(KINDS)
    assert not findings(tmp_path / "program.py", TRAINING)
    assert code in {finding.name for finding in findings(tmp_path / "program.py", planted[kind])}


def test_one_loop_of_a_script(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(TRAINING)
    outcome = plant_in(path, random.Random(0))
    assert outcome is not None
    assert (outcome.line, outcome.found) == (9, True)


@pytest.mark.parametrize("text", ["def f(:\n", "loss.backward()\n", "x = 1\n"])
def test_nothing_to_plant(tmp_path: Path, text: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(text)
    assert plant_in(path, random.Random(0)) is None
