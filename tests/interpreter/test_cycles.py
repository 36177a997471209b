"""Objects that hold each other are gone through once, however they are told to be walked."""

from __future__ import annotations

from unittest import mock

from analyzers.host import Host
from analyzers.machine.interpreter import closures

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


def test_the_text_of_a_function_is_read_once_however_often_it_is_handed_over() -> None:
    count = 12
    functions = "".join(f"def f{i}(x):\n    return f{(i + 1) % count}(x)\n" for i in range(count))
    handed = "".join(f"    use(f{i})\n" for i in range(count))
    read = mock.Mock(wraps=closures.captured_by)
    with mock.patch.object(closures, "captured_by", read):
        assert codes(f"import torch\nfrom somewhere import use\n{functions}while use():\n{handed}{FAULT}") == ["AG104"]
    assert read.call_count == count
