"""What the `Trainer` of `transformers` does around `compute_loss`, for programs that the oracle runs without it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from accelerate import Accelerator


class Trainer:
    def __init__(self, model: Any = None, train_dataset: Iterable[Any] = ()) -> None:
        self.model = model
        self.accelerator = Accelerator()
        self.batches = train_dataset

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False) -> Any:
        raise NotImplementedError

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: int | None = None) -> torch.Tensor:
        model.train()
        loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        return loss.detach()  # type: ignore[no-any-return]

    def train(self) -> None:
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for inputs in self.batches:
            self.training_step(self.model, inputs)
            optimizer.step()
            self.model.zero_grad()
