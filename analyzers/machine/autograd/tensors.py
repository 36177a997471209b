"""Creating tensors and finding them in the state."""

from __future__ import annotations

from typing import TypeAlias

from analyzers.domain import truth
from analyzers.domain.objects import Tensor
from analyzers.machine.core.machine import Machine

FLOATING = frozenset({"float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"})


COMPLEX = frozenset({"complex32", "complex64", "complex128"})


def can_require_grad(dtype: str | None) -> truth.Truth:
    if dtype is None:
        return None
    return dtype in FLOATING or dtype in COMPLEX


def tensor_at(m: Machine, ident: int) -> Tensor:
    found = m.st.get(ident)
    assert isinstance(found, Tensor)
    return found


Moment: TypeAlias = tuple[int, int]
"""A storage, and how often it has been written."""


def stands_for_many(m: Machine, tensor: Tensor) -> bool:
    """Whether this stands for all parameters of a presumed model."""
    return m.config.presumes and tensor.parameter and tensor.shape is None
