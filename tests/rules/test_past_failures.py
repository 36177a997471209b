"""A statement that fails for another reason than autograd's does not hide what comes after it."""

from __future__ import annotations

import pytest

from analyzers.host import Host

PATH = "/lab/train.py"

HEAD = """\
import sys
import torch

settings = {"lr": 0.1}
w = torch.ones(3, requires_grad=True)
loss = w.sum()
"""

FAULT = """
y = w.exp()
y.add_(1)
y.sum().backward()
"""


def severities(text: str) -> list[str]:
    host = Host(read=lambda _: None)
    host.set_text(PATH, HEAD + text + FAULT)
    return [finding.severity for finding in host.snapshot().findings(PATH) if finding.code == "AG104"]


@pytest.mark.parametrize(
    "failing",
    [
        'momentum = settings["momentum"]',
        "[1, 2][5]",
        "print(loss.data[0])",
        "w.view(2, 2)",
        "x, z = w @ torch.ones(4)",
        "torch.optim.SGD([w], lr=-1.0)",
        "def f(a):\n    return a[7]\nf([1])",
        "for i in range(3):\n    (1, 2)[i]\n    1 / 0",
    ],
)
def test_what_follows_a_failure_is_told_though_not_for_certain(failing: str) -> None:
    assert severities(failing) == ["warning"]


@pytest.mark.parametrize(
    "ending",
    [
        'raise ValueError("no data")',
        "sys.exit()",
        "assert False",
        'def f():\n    raise ValueError("no data")\nf()',
        "import contextlib\nwith contextlib.suppress(KeyError):\n    print()\nraise SystemExit",
    ],
)
def test_what_follows_an_end_that_is_meant_is_not_run(ending: str) -> None:
    assert severities(ending) == []


def test_a_failure_that_is_caught_takes_nothing_away() -> None:
    assert severities('try:\n    settings["momentum"]\nexcept KeyError:\n    pass') == ["error"]


def test_a_way_that_fails_is_not_taken_where_nobody_knows_that_it_is() -> None:
    """Here the setting is there, or else nothing would follow."""
    either = 'if len(sys.argv) > 1:\n    settings = {}\nif len(sys.argv) > 2:\n    settings["momentum"]\n'
    assert severities(either) == ["error"]
