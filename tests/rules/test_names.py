"""A message names what the user wrote, whoever did it to it, and never what merely stands near."""

from __future__ import annotations

import pytest

from analyzers.host import Host
from analyzers.report import Finding

PATH = "/lab/train.py"

HEAD = """\
import torch
import lightning
from torch import nn
from torch.nn import functional as F

"""

DRIVEN = """\
class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)

    def training_step(self, batch, index):
        with torch.no_grad():
            loss = self.head(batch).mean()
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""


def found(text: str) -> Finding:
    host = Host(read=lambda _: None)
    host.set_text(PATH, HEAD + text)
    [finding] = host.snapshot().findings(PATH)
    return finding


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("w = torch.ones(3, requires_grad=True)\nF.relu(w, inplace=True)", "writes to `w`"),
        ("w = torch.ones(3, requires_grad=True)\nnn.ReLU(inplace=True)(w)", "writes to `w`"),
        ("F.relu(torch.ones(3, requires_grad=True), True)", "writes to `torch.ones(3, requires_grad=True)`"),
        ("torch.tensor([1], requires_grad=True)", "` asks for gradients, and its elements (int64)"),
        ("nn.Parameter(torch.arange(3))", "` asks for gradients, and its elements (int64)"),
        (
            "from matplotlib.pyplot import plot\nx, w = ['a'], [torch.ones((), requires_grad=True)]\nplot(x, w)",
            "`w` requires grad",
        ),
        ("n = torch.arange(3)\nn.requires_grad = True", "gradients of `n`, whose elements (int64)"),
        (
            "net, other = nn.Linear(2, 1), nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=1)\n"
            "best = torch.optim.SGD(other.parameters(), lr=1)\nfor _ in range(3):\n    opt.zero_grad()\n"
            "    (net(torch.ones(2)) + other(torch.ones(2))).sum().backward()\n    opt.step()\n",
            "fills gradients for `best`, which never steps",
        ),
        (
            DRIVEN + "trainer = lightning.Trainer()\ntrainer.fit(Net(), [torch.ones(3, 4)])",
            "so `self.head(batch).mean()`",
        ),
    ],
)
def test_what_is_named_is_what_the_user_wrote(text: str, named: str) -> None:
    assert named in found(text).message


def test_where_a_trainer_stands_in_nothing_is_called() -> None:
    assert "called from here" not in [step.message for step in found(DRIVEN).related]
