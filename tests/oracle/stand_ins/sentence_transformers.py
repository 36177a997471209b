"""Models of `sentence_transformers`: `encode` runs without gradients, and `forward` learns."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class SentenceTransformer(torch.nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        del name
        self.body = torch.nn.Linear(1, 2)

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"sentence_embedding": self.body(features["input_ids"])}

    def tokenize(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        return {"input_ids": torch.tensor([[float(len(text))] for text in texts])}

    @torch.no_grad()
    def encode(self, texts: Sequence[str], convert_to_tensor: bool = False) -> torch.Tensor:
        assert convert_to_tensor
        return self(self.tokenize(texts))["sentence_embedding"]  # type: ignore[no-any-return]
