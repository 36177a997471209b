"""A finding says what it rests on that nothing in the program says."""

from __future__ import annotations

from analyzers.host import Host
from analyzers.report import Finding

A = "/lab/a.py"

TRAIN = """\
def train(net, batches, optimizer, criterion):
    net.train()
    for x, y in batches:
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
"""

KNOWN = """\
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(5, 3, 2):
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
"""

HELPERS = """\
def score(critic, batch):
    critic.eval()
    return critic(batch)


"""


def found(text: str) -> list[Finding]:
    host = Host()
    host.set_text(A, text)
    return [finding for finding in host.snapshot().findings(A) if finding.code == "AG301"]


def assumed(text: str) -> list[tuple[str, str]]:
    """What stands where something is assumed, and what that is."""
    [finding] = found(text)
    return [(text[step.place.start : step.place.end], step.message) for step in finding.assumes]


def test_what_stands_for_names_is_said_where_they_are() -> None:
    assert assumed(TRAIN) == [
        ("net", "`net` is a model that learns"),
        ("optimizer", "`optimizer` trains `net`"),
        ("criterion(net(x), y)", "`loss` is a loss with a graph"),
    ]


def test_what_another_function_assumes_is_not_said() -> None:
    assert [message for _, message in assumed(HELPERS + TRAIN)] == [message for _, message in assumed(TRAIN)]


def test_what_is_known_rests_on_nothing() -> None:
    assert assumed(KNOWN) == []


def test_what_the_program_says_settles_it() -> None:
    settled = TRAIN.replace("criterion(net(x), y)", "(net(x) - y).pow(2).mean()")
    assert [message for _, message in assumed(settled)] == ["`net` is a model that learns", "`optimizer` trains `net`"]
