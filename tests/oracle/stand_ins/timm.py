"""Models as `timm` makes them: with blocks, a norm and a head, all of which learn."""

from __future__ import annotations

import torch


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])
        self.norm = torch.nn.LayerNorm(2)
        self.head = torch.nn.Linear(2, 2)
        self.scale = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        out: torch.Tensor = self.head(self.norm(x)) * self.scale.exp()
        return out

    def forward_features(self, x: torch.Tensor, attn_mask: torch.Tensor | None = None) -> torch.Tensor:
        return self.forward(x if attn_mask is None else x + attn_mask)

    def scaled(self, width: int) -> torch.Tensor:
        """The weights of `width` features."""
        return self.scale.exp().expand(width)

    def get_classifier(self) -> torch.nn.Module:
        return self.head


def create_model(name: str, pretrained: bool = False) -> Model:
    del name, pretrained
    return Model()
