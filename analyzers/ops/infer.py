"""Shape and dtype of what a torch operator returns, from partly known arguments, without torch.

`infer("add", {"self": f32[None, 3], "other": 2})` is `(f32[None, 3],)`; an operator without a rule gives None. Names
are the aten base names, in place or not; arguments are named as in the schema, defaults may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.ops import (
    infer_factory,
    infer_index,
    infer_join,
    infer_linalg,
    infer_matmul,
    infer_nn,
    infer_pointwise,
    infer_pool,
    infer_reduce,
    infer_view,
)
from analyzers.ops.infer_core import (
    ANY,
    BROADCASTING,
    LIST_RULES,
    MOST_PIECES,
    NUMBERS,
    RULES,
    UNKNOWN,
    Call,
    OpenList,
    Pieces,
    Result,
    Rule,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    fits,
    numel,
    promote,
    show,
)
from analyzers.ops.infer_index import index_shape

__all__ = [
    "ANY", "MOST_PIECES", "NUMBERS", "UNKNOWN", "OpenList", "Pieces", "Shape", "ShapeError", "TensorType", "broadcast",
    "index_shape", "infer", "infer_list", "modelled", "numel", "promote",
]  # fmt: skip
RULE_MODULES = (
    infer_factory, infer_index, infer_join, infer_linalg, infer_matmul, infer_nn, infer_pointwise, infer_pool,
    infer_reduce, infer_view,
)  # fmt: skip
# In place, these change the shape of `self`; all others leave its shape and dtype alone.
_RESHAPING = frozenset(
    ("t", "transpose", "squeeze", "unsqueeze", "swapaxes", "swapdims", "as_strided", "resize", "resize_as", "addbmm")
)
_OPERATORS = frozenset(["__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"])


def infer(base: str, args: Mapping[str, object], *, default_dtype: str = "float32") -> tuple[TensorType, ...] | None:
    """One type per returned tensor, or None when the operator has no rule."""
    found = RULES.get(base)
    if found is None:
        return _infer_variant(base, args, default_dtype)
    call = Call(args, default_dtype)
    infer_linalg.refuse_integers(base, call)
    return _types(found(call))


def _types(result: Result) -> tuple[TensorType, ...] | None:
    if isinstance(result, TensorType):
        return (_possible(result),)
    return None if result is None else tuple(map(_possible, result))


def _possible(found: TensorType) -> TensorType:
    """Torch makes no tensor with a negative size: whatever it says instead, nothing is known of this one's shape."""
    if found.shape is None or all(size is None or size >= 0 for size in found.shape):
        return found
    return TensorType(None, found.dtype)


def infer_list(base: str, args: Mapping[str, object], *, default_dtype: str = "float32") -> Pieces | None:
    """The pieces of an operator that returns a list; None when there is no rule or their count is not known."""
    found = LIST_RULES.get(base)
    return None if found is None else found(Call(args, default_dtype))


def modelled(base: str) -> bool:
    return base in LIST_RULES or _rule_of(base) is not None


def _rule_of(base: str) -> Rule | None:
    if base in _OPERATORS:
        return RULES["__" + base[3:]]
    return RULES.get(base) or (RULES.get(base[:-1]) if base.endswith("_") else RULES.get(base.removesuffix("_copy")))


def _infer_variant(base: str, args: Mapping[str, object], default_dtype: str) -> tuple[TensorType, ...] | None:
    """An in-place form, or one that copies where the known form makes a view."""
    found = _rule_of(base)
    if found is None:
        return None
    result = found(Call(args, default_dtype))
    out = "__" + base[3:] if base in _OPERATORS else base[:-1]
    if not base.endswith("_") or out in _RESHAPING:
        return _types(result)
    target = Call(args, default_dtype).tensor("self")
    if out in BROADCASTING and isinstance(result, TensorType) and not fits(result.shape, target.shape):
        raise ShapeError(
            f"output with shape {show(target.shape)} doesn't match the broadcast shape {show(result.shape)}"
        )
    return (TensorType(target.shape, target.dtype),)
