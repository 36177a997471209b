"""Sparse tensors: which results, and which gradients, hold only the elements that are not zero.

table = torch.nn.Embedding(10, 3, sparse=True)
table(torch.tensor([1])).sum().backward()     # the gradient of its weight is sparse: Adam refuses it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzers.domain import truth
from analyzers.domain.objects import Node
from analyzers.domain.values import NONE, TRUE, Builtin, Const, Ref, Value
from analyzers.machine.core import Machine
from analyzers.machine.tensors import tensor_at
from analyzers.ops.table import Row

_MAKERS = frozenset(
    [
        *(start + end for start in ("to_sparse", "_to_sparse") for end in ("", "_csr", "_csc", "_bsr", "_bsc")),
        *(f"sparse_{kind}_tensor" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed")),
    ]
)
_DENSE = frozenset({"to_dense", "_to_dense", "values", "indices", "_values", "_indices", "crow_indices", "col_indices"})
_ASKED = {"embedding": "sparse", "embedding_bag": "sparse", "_embedding_bag": "sparse", "gather": "sparse_grad"}
"""The argument by which an operator's gradient becomes sparse."""


def note_layouts(
    m: Machine, row: Row, bound: Mapping[str, Value], operands: Sequence[int], made: Sequence[Ref]
) -> None:
    """Note which of the tensors that an operator has made are sparse."""
    sparse = _result_is_sparse(m, row, bound, operands)
    for result in made:
        tensor_at(m, result.id).sparse = sparse


def _result_is_sparse(m: Machine, row: Row, bound: Mapping[str, Value], operands: Sequence[int]) -> truth.Truth:
    if row.base in _MAKERS:
        return True
    layout = bound.get("layout", NONE)
    if layout != NONE:
        return None if not isinstance(layout, Builtin) else layout.name.startswith("torch.sparse_")
    if row.base in _DENSE:
        return False
    return False if all(tensor_at(m, i).sparse is False for i in operands) else None


def gradient_is_sparse(node: Node, arriving: truth.Truth) -> truth.Truth:
    """Whether what a node gives along its edges is sparse, where `arriving` is told of what comes to it."""
    base = node.payload.value if isinstance(node.payload, Const) else None
    asked = dict(node.scalars).get(_ASKED.get(str(base), ""))
    if asked == TRUE:
        return True
    return False if arriving is False and node.kind in {"op", "copy-slices"} else None


def summed(one: truth.Truth, other: truth.Truth) -> truth.Truth:
    """A sum with something dense is dense."""
    if one is False or other is False:
        return False
    return True if one and other else None
