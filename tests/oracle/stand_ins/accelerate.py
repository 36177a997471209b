"""What `accelerate` does to a training loop on one device, for programs that the oracle runs without it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch


class Accelerator:
    def __init__(self, gradient_accumulation_steps: int = 1) -> None:
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.sync_gradients = True

    def prepare(self, *args: Any) -> Any:
        return args[0] if len(args) == 1 else args

    def backward(self, loss: torch.Tensor, **options: Any) -> None:
        (loss / self.gradient_accumulation_steps).backward(**options)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def accumulate(self, *models: torch.nn.Module) -> Iterator[None]:
        yield

    def clip_grad_norm_(self, parameters: Any, max_norm: float) -> torch.Tensor:
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm)

    def gather(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor
