"""A library that changes models of others; the analyzer cannot see this module."""

from collections.abc import Iterator

import torch
from torch import nn


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Inputs, and what a model is to make of them."""
    for _ in range(2):
        yield torch.ones(3, 2), torch.ones(3, 2)


def add_adapters(model: nn.Module) -> None:
    """Puts a layer that learns at the end of a model, in place."""
    assert isinstance(model, nn.ModuleList)
    model.append(nn.Linear(2, 2))


def adapted(model: nn.Module) -> nn.Module:
    """A model with a layer that learns at its end."""
    return nn.Sequential(model, nn.Linear(2, 2))


def distance(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """How far the result of a model is from what it should be."""
    return (model(x) - y).norm()


class Summary:
    """Says what a model is made of."""

    def __init__(self, model: nn.Module) -> None:
        self.names = [name for name, _ in model.named_modules()]
