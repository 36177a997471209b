"""Objects that hold each other are gone through once, however they are told to be walked."""

from __future__ import annotations

from analyzers.host import Host

FAULT = """\
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""

GENERATORS = f"""\
import torch
from somewhere import use

class Feed:
    def __init__(self, other):
        self.other = other
        self.items = self.produce()

    def produce(self):
        yield self

first = Feed(None)
first.other = Feed(first)
use(first)
{FAULT}"""


def codes(text: str) -> list[str]:
    host = Host()
    host.set_text("/train.py", text)
    return [finding.code for finding in host.snapshot().findings("/train.py")]


def test_unknown_code_is_given_generators_that_hold_each_other() -> None:
    """A run that recurses for ever ends there, and says nothing of what comes after."""
    assert codes(GENERATORS) == ["AG104"]
