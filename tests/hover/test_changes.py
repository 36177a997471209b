"""What a hover says that a line did, against what torch did: the program is run up to the line, and once over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.hover.pointing import card_of, unmarked

PROGRAMS = {
    "backward": """
import torch
w = torch.ones(3, requires_grad=True)
v = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()
#    ^
""",
    "backward once more": """
import torch
w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
(w * 2).sum().backward()
#             ^
""",
    "backward to some inputs": """
import torch
w = torch.ones(3, requires_grad=True)
v = torch.ones(3, requires_grad=True)
torch.autograd.backward((w * v).sum(), inputs=[w])
#              ^
""",
    "zero_grad": """
import torch
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.zero_grad()
#   ^
""",
    "zero_grad that keeps the tensors": """
import torch
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.zero_grad(set_to_none=False)
#   ^
""",
    "step leaves out what has no gradient": """
import torch
net = torch.nn.Linear(2, 2)
head = torch.nn.Linear(2, 2)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
#   ^
""",
    "a write in place, seen by a view and by detach": """
import torch
x = torch.ones(4)
v = x[:2]
d = x.detach()
c = x.clone()
v.mul_(2)
# ^
""",
    "an augmented assignment": """
import torch
x = torch.ones(4)
x += 1
^
""",
    "a write to an item": """
import torch
x = torch.ones(4)
x[0] = 5
^
""",
    "a module is frozen": """
import torch
net = torch.nn.Linear(2, 2)
net.requires_grad_(False)
#   ^
""",
    "a leaf is asked to require grad": """
import torch
x = torch.ones(2)
x.requires_grad_()
# ^
""",
    "a function of the program": """
import torch
w = torch.ones(3, requires_grad=True)
def train():
    (w * w).sum().backward()
    with torch.no_grad():
        w.sub_(0.1 * w.grad)
    w.grad = None
train()
^
""",
    "nothing": """
import torch
x = torch.ones(2, requires_grad=True)
y = x.exp()
^
""",
}

KINDS = {"gradient", "gradient-written", "accumulated", "cleared", "written", "requires-grad", "requires-no-grad"}


def tensors(names: dict[str, Any]) -> dict[str, torch.Tensor]:
    found = {name: value for name, value in names.items() if isinstance(value, torch.Tensor)}
    for name, value in names.items():
        if isinstance(value, torch.nn.Module):
            found |= {f"{name}.{inner}": parameter for inner, parameter in value.named_parameters()}
    return found


def looked_at(tensor: torch.Tensor) -> tuple[Any, ...]:
    grad = tensor.grad if tensor.is_leaf else None
    return tensor.requires_grad, tensor._version, grad, None if grad is None else grad._version


def differences(before: dict[str, tuple[Any, ...]], after: dict[str, tuple[Any, ...]]) -> Iterator[tuple[str, str]]:
    for name, (flag, version, grad, grad_version) in before.items():
        new_flag, new_version, new_grad, new_grad_version = after[name]
        if flag is not new_flag:
            yield "requires-grad" if new_flag else "requires-no-grad", name
        if version != new_version:
            yield "written", name
        if grad is None and new_grad is not None:
            yield "gradient", name
        elif grad is not None and new_grad is None:
            yield "cleared", name
        elif grad is new_grad and grad_version != new_grad_version:
            yield "gradient or more", name


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_line_did_what_is_said(text: str) -> None:
    program, _, line = unmarked(text)
    lines = program.splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines[: line - 1]), names)
    before = {name: looked_at(tensor) for name, tensor in tensors(names).items()}
    exec(lines[line - 1], names)
    after = {name: looked_at(tensor) for name, tensor in tensors(names).items() if name in before}
    card = card_of(text)
    assert card is not None
    said = {(c.kind, name) for c in card.changes if c.kind in KINDS for name in c.subjects}
    assert all(change.sure for change in card.changes)
    more = {"accumulated": "gradient or more", "gradient-written": "gradient or more"}
    assert {(more.get(kind, kind), name) for kind, name in said} == set(differences(before, after))
