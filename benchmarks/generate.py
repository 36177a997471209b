"""Made-up sources of any size: the same for the same numbers, on every machine.

A file is a row of *pieces*, classes and functions as training code has them. A piece stands on its own, so files of 100
and of 20,000 lines are of the same kind. A *package* is made of files that import each other, and of a script that
trains what the last of them makes.
"""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

_HEAD = '''\
"""Layers, losses and training steps."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import Optimizer

'''

_PERCEPTRON = '''
class Perceptron{n}(nn.Module):
    """Two layers with a gate between them."""

    def __init__(self, inputs: int = {width}, outputs: int = {width}) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, {wide})
        self.gate = nn.Linear(inputs, {wide})
        self.second = nn.Linear({wide}, outputs)
        self.scale = nn.Parameter(torch.ones(outputs))

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.silu(self.first(inputs))
        opened = torch.sigmoid(self.gate(inputs))
        outputs = self.second(hidden * opened)
        return outputs * self.scale

'''

_RESIDUAL = '''
class Residual{n}(nn.Module):
    """A convolution that is added to what it was given."""

    def __init__(self, channels: int = {width}, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1:
            self.shortcut = nn.Conv2d(channels, channels, 1, stride)

    def forward(self, images: Tensor) -> Tensor:
        outputs = self.body(images)
        outputs = outputs + self.shortcut(images)
        return functional.relu(outputs)

    def features(self, images: Tensor) -> list[Tensor]:
        found = []
        for layer in self.body:
            images = layer(images)
            found.append(images.mean(dim=(2, 3)))
        return found

'''

_ATTENTION = '''
class Attention{n}(nn.Module):
    """Looks back at what came before."""

    def __init__(self, width: int = {wide}, heads: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{{heads}} heads do not divide a width of {{width}}")
        self.heads = heads
        self.project_in = nn.Linear(width, 3 * width)
        self.project_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        batch, length, width = inputs.shape
        parts = self.project_in(inputs).chunk(3, dim=-1)
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        weights = self.dropout(scores.softmax(dim=-1))
        mixed = (weights @ value).transpose(1, 2).reshape(batch, length, width)
        return self.project_out(mixed)

'''

_LOSS = '''
def focal_loss_{n}(logits: Tensor, labels: Tensor, gamma: float = {gamma}) -> Tensor:
    """Easy examples count for less."""
    logs = functional.log_softmax(logits, dim=-1)
    chosen = logs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    weights = (1 - chosen.exp()).pow(gamma)
    return -(weights * chosen).mean()

'''

_STEP = '''
def train_step_{n}(model: nn.Module, batch: tuple[Tensor, Tensor], optimizer: Optimizer, clip: float = 1.0) -> float:
    """One step; the loss as a number."""
    model.train()
    inputs, labels = batch
    optimizer.zero_grad(set_to_none=True)
    logits = model(inputs)
    loss = functional.cross_entropy(logits, labels, label_smoothing={smoothing})
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()

'''

_EVALUATE = '''
@torch.no_grad()
def evaluate_{n}(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """Accuracy and loss over all batches."""
    model.eval()
    total, right, summed = 0, 0, 0.0
    for inputs, labels in batches:
        logits = model(inputs)
        summed += functional.cross_entropy(logits, labels, reduction="sum").item()
        right += int((logits.argmax(dim=-1) == labels).sum())
        total += len(labels)
    return {{"accuracy": right / max(total, 1), "loss": summed / max(total, 1)}}

'''

_PLAN = '''
class Plan{n}:
    """The learning rate by step: it rises, stays, and falls."""

    def __init__(self, peak: float = {gamma}e-3, steps: int = {wide}00, warm_up: int = {wide}) -> None:
        self.peak = peak
        self.steps = steps
        self.warm_up = warm_up
        self.seen: list[float] = []

    def rate(self, step: int) -> float:
        if step < self.warm_up:
            return self.peak * (step + 1) / self.warm_up
        progress = (step - self.warm_up) / max(1, self.steps - self.warm_up)
        return self.peak * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))

    def apply(self, optimizer: Optimizer, step: int) -> None:
        for group in optimizer.param_groups:
            group["lr"] = self.rate(step)
        self.seen.append(self.rate(step))

'''

_PIECES = (_PERCEPTRON, _LOSS, _STEP, _RESIDUAL, _EVALUATE, _ATTENTION, _PLAN)


def source(lines: int) -> str:
    """A module of this many lines, or of up to one piece more."""
    parts = [_HEAD]
    size = _HEAD.count("\n")
    for number, piece in enumerate(cycle(_PIECES)):
        if size >= lines:
            break
        parts.append(_filled(piece, number))
        size += piece.count("\n")
    return "".join(parts).rstrip("\n") + "\n"


def middle(text: str) -> str:
    """The place in the perceptron nearest to the middle of a generated source, as `benchmarks.places` reads it."""
    lines = text.split("\n")
    names = {at: line[6:].partition("(")[0] for at, line in enumerate(lines) if line.startswith("class Perceptron")}
    nearest = min(names, key=lambda at: abs(at - len(lines) // 2))
    return f"{names[nearest]}.forward"


def package(folder: Path, modules: int) -> list[Path]:
    """Writes a package into `folder`: its modules, the one that all others lead to first, and last the script."""
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    texts = {f"layers_{number:03}.py": _module(number) for number in range(modules - 1)}
    texts["train.py"] = _SCRIPT.format(package=folder.name, last=modules - 2)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


_LAYER = '''\
"""Layers of level {n}."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
{imports}

class Layer{n}(nn.Module):
    """Works on what other levels make of its input."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
{parts}
    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.norm(self.linear(inputs))
{calls}        return inputs + functional.gelu(hidden)


def penalty_{n}(layer: nn.Module, weight: float = 1e-{exponent}) -> Tensor:
    """The size of a layer's parameters."""
    total = torch.zeros(())
    for parameter in layer.parameters():
        total = total + parameter.pow(2).sum()
    return weight * total
'''

_SCRIPT = """\
import torch
from torch import nn

from {package}.layers_{last:03} import Layer{last}, penalty_{last}

torch.manual_seed(0)
model = nn.Sequential(Layer{last}(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
inputs = torch.randn(32, 8)
wanted = inputs.sum(dim=1, keepdim=True)

for step in range(20):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), wanted) + penalty_{last}(model[0])
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""


def _module(number: int) -> str:
    """Level n makes a layer of level n // 2, and applies a function of level n - 1: both chains end at level 0."""
    imports, parts, calls = "", "", ""
    if number:
        half, below = number // 2, number - 1
        names = {half: f"Layer{half}"}
        names[below] = ", ".join(filter(None, (names.get(below), f"penalty_{below}")))
        imports = "\n" + "".join(f"from .layers_{level:03} import {names[level]}\n" for level in sorted(names))
        parts = f"        self.inner = Layer{half}(width)\n"
        calls = f"        hidden = self.inner(hidden) * (1 + penalty_{below}(self.inner).detach())\n"
    return _LAYER.format(n=number, imports=imports, parts=parts, calls=calls, exponent=4 + number % 3)


def _filled(piece: str, number: int) -> str:
    width = 8 * (1 + number % 5)
    return piece.format(n=number, width=width, wide=4 * width, gamma=1 + number % 3, smoothing=0.01 * (number % 10))
