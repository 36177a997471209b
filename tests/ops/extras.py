"""Operators and ways of writing them that torch ships no samples for, under names of their own.

A text names its operands `t0`, `t1`, of these shapes; it binds `r`, and is run as any other sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from tests.ops.spelling import Speller

_TEXTS: dict[str, tuple[str, ...]] = {
    "detach": ("torch.detach(t0)", "t0.detach()", "torch.detach_(t0)", "t0.detach_()", "torch.detach(input=t0)"),
    "copy_": ("t0.copy_(t1)", "t0.copy_(t1[0])", "t0.copy_(t1.double())", "t0[0].copy_(t1[0])"),
    "cast": ("t0.type_as(t1.double())", "t0.type(torch.float64)", "t0.to(t1)", "t0.to(t1.double())", "t0.cpu()",
             "t0.to(\"cpu\", torch.float64)", "t0.to(\"cpu\", copy=True)", "t0.to(dtype=torch.int64)"),
    "setitem": ("t0; t0[0] = t1[0]", "t0; t0[0] = 0.0", "t0; t0[:] = t1", "t0; t0[:, 1] *= t1[:, 0]",
                "t0; t0[t1 > 0] = 0.0", "t0; t0[t1 > 0] = t1.sum()", "t0; t0[[0, 1]] = t1[:2]", "t0; t0[..., 0] += 1",
                "t0; t0[t1 > 0] += 1", "t0; t0[None] = t1", "t0; t0[0][1] = 2.0", "t0; t0[1:, ::2] = t1[1:, ::2]",
                "t0; t0[:] = t1[0]", "t0; t0[0] = t1[0, :1]", "t0; t0[0] = t1[:1]", "t0; t0[True] = t1",
                "t0; t0[1:, [0]] = t1[1:, :1]", "t0; t0[0, [1]] = t1[:1, :1]", "t0; t0[0, t1[0] > 0] = 1.0",
                "t0; t0[torch.tensor(1)] = t1[0]", "t0; t0[:, [0, 1]] = t1[:, :2]", "t0; t0[None, [0]] = t1[:1]"),
    "getitem": ("t0[0]", "t0[..., None]", "t0[:, 1]", "t0[t1 > 0]", "t0[[0, 2]]", "t0[None, 1:]", "t0[-1, -1]",
                "t0[(0, 1)]", "t0[t1.argmax(0)]", "t0[:, [1]]", "t0[::2]", "t0[0:0]", "t0[True]", "t0[1:, [0]]",
                "t0[0, [1]]", "t0[None, [0]]", "t0[..., [0]]", "t0[[0], 1:]", "t0[0, t1[0] > 0]", "t0[True, 0]",
                "t0[torch.tensor(1)]", "t0[torch.tensor(0), [1]]", "t0[[0, 1], None]", "t0[range(2)]",
                "t0[[[0, 1], [1, 2]]]",
                "t0[t1 > 0, None]", "t0[torch.tensor(1), torch.tensor(0)]", "t0[[True, False, True]]"),
    "attribute": ("t0.T", "t0.mT", "t0.H", "t0.data", "t0.real", "t0.grad", "t0.shape", "t0.mH"),
    "operator": ("1 / t0", "2 - t0", "2 ** t0", "2 // t0", "2 % t0", "abs(t0)", "-t0", "+t0", "t0 @ t1.T", "t0 < t1",
                 "0 < t0", "t0 == 1", "3.0 * t0 + 1", "divmod(t0, 2)[0]", "round(t0)", "t0 and t1"),
    "fill_diagonal_": ("t0.fill_diagonal_(1.0)", "t0.fill_diagonal_(0, wrap=True)"),
    "random_": ("t0.random_()", "t0.random_(3)", "t0.random_(1, 4)"),
    "poisson": ("torch.poisson(t0.abs())", "torch.binomial(t0.abs(), t1.sigmoid())"),
    "window": ("torch.hann_window(5)", "torch.hamming_window(5, requires_grad=True)", "torch.blackman_window(5)",
               "torch.bartlett_window(5, dtype=torch.float64)", "torch.kaiser_window(5)", "torch.hann_window(1)"),
    "frequencies": ("torch.fft.fftfreq(8)", "torch.fft.rfftfreq(8, d=0.5)"),
    "random": ("torch.rand(3)", "torch.rand(2, 3, requires_grad=True)", "torch.randperm(4)", "torch.rand_like(t0)",
               "torch.rand(())", "torch.rand([2])"),
    "embedding_renorm_": ("torch.embedding_renorm_(t0, torch.tensor([0, 2]), 1.0, 2.0)",
                          "torch.nn.functional.embedding(torch.tensor([0, 2]), t0, max_norm=1.0)"),
    "grid": ("torch.nn.functional.affine_grid(t0.view(2, 2, 3), (2, 1, 4, 4), align_corners=False)",
             "torch.nn.functional.grid_sample(t0.view(1, 1, 3, 4), t1[:2].view(1, 2, 2, 2), align_corners=True)"),
    "norm": ("torch.norm_except_dim(t0, 2, 0)", "t0.norm()", "t0.norm(1)", "t0.norm(dim=0)",
             "torch.norm(t0, p=\"nuc\")"),
    "dropout": ("torch.native_dropout(t0, 0.5, True)", "torch.feature_dropout(t0, 0.5, True)",
                "torch.feature_dropout_(t0, 0.5, True)", "torch.nn.functional.dropout1d(t0, 0.5)"),
    "copies": ("torch.select_copy(t0, 0, 1)", "torch.slice_copy(t0, 0, 1, 2)", "torch.split_copy(t0, 2)",
               "torch.detach_copy(t0)", "torch.unsafe_split_with_sizes(t0, [1, 2])"),
    "functional": ("torch.nn.functional.gumbel_softmax(t0)", "torch.nn.functional.gumbel_softmax(t0, hard=True)",
                   "torch.nn.functional.softmin(t0, 1)", "torch.nn.functional.cosine_similarity(t0, t1, 1)",
                   "torch.nn.functional.lp_pool1d(t0, 2.0, 2)", "torch.nn.functional.normalize(t0)",
                   "torch.nn.functional.log_softmax(t0, -1)", "torch.nn.functional.softmax(t0, dim=-1)"),
    "cells": ("torch.rnn_tanh_cell(t0, t1, t0.new_ones(4, 4), t0.new_ones(4, 4))",
              "torch.gru_cell(t0, t1, t0.new_ones(12, 4), t0.new_ones(12, 4))",
              "torch.lstm_cell(t0, (t1, t1), t0.new_ones(16, 4), t0.new_ones(16, 4))"),
    "flags": ("t0.requires_grad_()", "t0.retain_grad()", "t0.requires_grad_(False)", "t0.is_leaf", "t0.numel()"),
    "loops": ("[row * 2 for row in t0]", "list(t0)", "torch.stack([row for row in t0])", "sum(t0)"),
    "keywords": ("torch.sum(input=t0, dim=1)", "torch.add(input=t0, other=t1)", "torch.mul(t0, other=t1)",
                 "torch.cat(tensors=[t0, t1], dim=0)", "torch.matmul(input=t0, other=t1.T)", "t0.sum(axis=0)",
                 "t0.mean(axis=1, keepdims=True)", "torch.max(input=t0, dim=0)", "torch.where(t0 > 0, t0, 0.0)",
                 "torch.where(condition=t0 > 0, input=t0, other=t1)", "torch.clamp(t0, min=0.0)", "t0.clamp(max=1)"),
}  # fmt: skip


BY_HAND = "by hand"


@dataclass(frozen=True)
class _Text:
    text: str
    input: tuple[()] = ()
    args: tuple[()] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Extra:
    """What is asked of an entry of `op_db`, for texts."""

    name: str
    texts: tuple[str, ...]
    variant_test_name: str = BY_HAND
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.complex64)
    aliases: tuple[()] = ()
    supports_out: bool = False

    @property
    def sample_inputs_func(self) -> Callable[..., Iterator[Any]]:
        return lambda *_, **__: map(_Text, self.texts)


EXTRAS = [Extra(name, texts) for name, texts in _TEXTS.items()]


def spelled(speller: Speller, sample: _Text) -> str:
    """The statement, with its operands."""
    before, _, last = sample.text.rpartition("; ")
    for i in (0, 1):
        if f"t{i}" in sample.text:
            speller.value(torch.rand(3, 4))
    return f"{last}; r = {before}" if before else f"r = {last}"
