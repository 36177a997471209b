"""What blinded programs hide values with; the analyzer cannot see this module."""

from typing import TypeVar

import torch

T = TypeVar("T")


def same(value: T) -> T:
    """The value itself."""
    return value


def learnt(value: object) -> object:
    """The value as a model might have made it: a tensor that can have a graph has one."""
    is_plain = isinstance(value, torch.Tensor) and not value.requires_grad
    if is_plain and (value.is_floating_point() or value.is_complex()):
        return value.clone().requires_grad_() * 1
    return value
