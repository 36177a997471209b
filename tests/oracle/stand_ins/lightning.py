"""What `lightning` does around a module's `training_step`, for programs that the oracle runs without it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch


class MisconfigurationException(Exception):  # noqa: N818 (that is its name)
    """A module does not keep to what the trainer asks of it."""


class LightningModule(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = True
        self.made: list[torch.optim.Optimizer] = []

    def optimizers(self) -> Any:
        return self.made[0] if len(self.made) == 1 else self.made

    def log(self, name: str, value: object, **options: object) -> None:
        """Logging keeps a detached copy at most."""

    def manual_backward(self, loss: torch.Tensor, *args: Any, **options: Any) -> None:
        loss.backward(*args, **options)


class Trainer:
    def __init__(self, max_epochs: int = 1) -> None:
        self.max_epochs = max_epochs

    def fit(self, model: Any, train_dataloaders: Iterable[Any], val_dataloaders: Iterable[Any] | None = None) -> None:
        model.made = _optimizers(model.configure_optimizers())
        if val_dataloaders is not None:
            with torch.no_grad():
                model.validation_step(next(iter(val_dataloaders)), 0)
        arguments = len(inspect.signature(model.training_step).parameters)
        for _ in range(self.max_epochs):
            for index, batch in enumerate(train_dataloaders):
                outputs = model.training_step(*(batch, index)[:arguments])
                if model.automatic_optimization:
                    _optimize(model.made[0], outputs)


def _optimize(optimizer: torch.optim.Optimizer, outputs: object) -> None:
    loss = outputs["loss"] if isinstance(outputs, Mapping) else outputs
    if loss is None:
        return
    if not isinstance(loss, torch.Tensor):
        raise MisconfigurationException(
            "In automatic optimization, `training_step` must return a Tensor, a dict, or None (where the step will be "
            "skipped)."
        )
    optimizer.zero_grad()
    (loss / 1).backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def _optimizers(configured: Any) -> list[torch.optim.Optimizer]:
    if isinstance(configured, torch.optim.Optimizer):
        return [configured]
    if isinstance(configured, Mapping):
        return [configured["optimizer"]]
    if len(configured) == 2 and isinstance(configured[0], Sequence):
        return list(configured[0])
    return list(configured)
