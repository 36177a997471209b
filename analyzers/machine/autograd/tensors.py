"""One operator step: what torch's autograd does when an operator runs.

The result requires grad iff grad mode is on, an input that the operator is differentiable to requires grad, and the
result's dtype can. What the node keeps comes from the operator's row. A write checks leaf and view rules, bumps the
version counter and rebases the history: the tensor, or the base that it is a view of, gets a new place in the graph.

    y = x.exp()        # node ExpBackward0 keeps y at version 0
    y[0] = 0.0         # y at version 1; y's place in the graph is now CopySlices
    y.sum().backward() # ExpBackward0 asks for y at version 0: modified by an inplace operation
"""

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
"""A storage, and how often it was written."""
