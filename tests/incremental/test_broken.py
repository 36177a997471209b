"""What is half typed or damaged is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.host import Host
from tests.incremental.broken import Answer, damaged, hollow, mutated, tell, timed, typed

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gan.py"


def test_every_prefix_is_answered() -> None:
    answers = list(typed("/typed.py", EXAMPLE.read_text(encoding="utf-8"), 13))
    assert [answer for answer in answers if answer.failure is not None] == []
    assert answers[-1].what == f"/typed.py, its first {len(EXAMPLE.read_text(encoding='utf-8'))} characters"


HEADERS = """\
import torch
from torch.autograd import Function


class Scale(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * ctx.factor


class Plain(Function):
    def forward(ctx, x):
        return x * 2

    def backward(ctx, grad):
        return grad


class Net(torch.nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.first = torch.nn.Linear(2, 2 if wide else 1)

    def forward(self, x):
        return self.first(x)


first, second = (torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1) for _ in range(2))
w = h = torch.ones(2, requires_grad=True)
for step in range(4):
    if step % 2:
        first.step()
    else:
        second.step()
    h = h * w
    h.sum().backward()
for _ in range(3):
    h.sum().backward()
Plain()(w)
Scale.apply(w).sum().backward()
"""


UNWRITTEN = [
    """\
import torch

def make():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):

        @staticmethod
        def backward(ctx, grad):
            return grad

    return Scale

x = torch.ones(2, requires_grad=True)
make().apply(x, x)
""",
    """\
import torch

class Scale(torch.autograd.Function):
    def forward(ctx, x):
        return x * 2

    def backward(ctx, grad):

x = torch.ones(2, requires_grad=True)
Scale()(x)
""",
    """\
import torch

w = torch.ones(2, requires_grad=True)
first, second = torch.optim.SGD([w], lr=0.1), torch.optim.SGD([w], lr=0.1)
for step in range(4):
    second.zero_grad()
    (w * w).sum().backward()
    if step % 2:
    else:
        first.step()
        second.step()
""",
]
"""What is told of them, and how it is mended, asks for the block that is not there."""


@pytest.mark.parametrize("text", [*hollow(HEADERS), *UNWRITTEN])
def test_a_block_that_is_yet_to_be_written_is_answered(text: str) -> None:
    host = Host(lambda path: None)
    host.set_text("/hollow.py", text)
    assert timed("a block without a body", lambda: host.snapshot().findings("/hollow.py")).failure is None


@pytest.mark.parametrize("seed", range(24))
def test_damaged_bytes_are_answered(seed: int) -> None:
    assert mutated(EXAMPLE.read_bytes(), seed) != EXAMPLE.read_bytes()
    assert damaged("/damaged.py", EXAMPLE.read_bytes(), seed).failure is None


def test_a_failure_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    answer = timed("what fails", lambda: {}["missing"])
    assert answer.failure is not None
    assert tell("files", [answer, Answer("what is slow", 2.5, None)])
    out = capsys.readouterr().out
    assert "2 answers, 1 failures" in out
    assert "1 over 1 s, the slowest 2.50 s (what is slow)" in out
    assert "KeyError: 'missing'" in out
