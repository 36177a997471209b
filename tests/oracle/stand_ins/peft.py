"""Adapters, as `peft` loads them: with their model they are frozen, unless they are to be trained."""

from __future__ import annotations

import torch


def get_peft_model(model: torch.nn.Module, config: object) -> PeftModel:
    del config
    return PeftModel(model.requires_grad_(False))


class PeftModel(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.base_model = model
        self.adapter = torch.nn.Parameter(torch.zeros(()))

    @classmethod
    def from_pretrained(
        cls, model: torch.nn.Module, model_id: str, adapter_name: str = "default", is_trainable: bool = False
    ) -> PeftModel:
        del model_id, adapter_name
        made = cls(model.requires_grad_(False))
        made.adapter.requires_grad_(is_trainable)
        return made

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.base_model(*args)
        return out + self.adapter
