"""A metric as `torchmetrics` makes them: a module without parameters."""

from __future__ import annotations

import torch


class Accuracy(torch.nn.Module):
    def __init__(self, task: str, num_classes: int) -> None:
        super().__init__()
        self.task = task
        self.num_classes = num_classes

    def forward(self, made: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return (made.argmax(1) == wanted).float().mean()
