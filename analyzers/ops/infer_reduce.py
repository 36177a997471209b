"""Reductions and scans: which dimensions disappear, and what dtype the accumulated value has.

int32[2, 3].sum(dim=-1, keepdim=True)  ->  int64[2, 1]
float32[2, 3].max(dim=0)               ->  float32[3], int64[3]
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.ops.infer_core import (
    Call,
    Pieces,
    Result,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    list_rule,
    promote,
    rule,
    wrap_dim,
)
from analyzers.ops.promote import float_of, is_integral, real_of


def reduce_shape(shape: Shape, dims: Sequence[int | None] | None, keepdim: bool | None) -> Shape:
    """`dims` None: all of them; an unknown `keepdim` leaves the rank unknown unless there is nothing to reduce."""
    if shape is None:
        return () if dims is None and keepdim is False else None
    rank = len(shape)
    if dims is None:
        gone = set(range(rank))
    elif None in dims:
        if keepdim:
            return (None,) * rank
        return None if keepdim is None and rank else (None,) * max(rank - len(dims), 0)
    else:
        wrapped = [wrap_dim(dim, rank) for dim in dims if dim is not None]
        gone = set(wrapped)
        if len(gone) != len(wrapped):
            raise ShapeError("a dim appears multiple times in the list of dims")
    if keepdim is None and gone and rank:
        return None
    if keepdim:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def reduced(call: Call, shape: Shape, *, empty_is_all: bool = True) -> Shape:
    """The shape left by the call's `dim` and `keepdim`."""
    dim = call.args.get("dim")
    keepdim = call.flag("keepdim")
    if dim is None:
        return reduce_shape(shape, None, keepdim)
    dims = call.ints("dim")
    if dims is None:
        return (None,) * len(shape) if keepdim and shape is not None else None
    return reduce_shape(shape, None if empty_is_all and not dims else dims, keepdim)


def summed(dtype: str | None) -> str | None:
    """Integers and bool accumulate in int64."""
    return None if dtype is None else "int64" if is_integral(dtype) else dtype


@rule("sum nansum prod")
def _sum(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(reduced(call, operand.shape), call.cast(summed(operand.dtype)))


@rule("mean nanmean amax amin")
def _mean(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(reduced(call, operand.shape), call.cast(operand.dtype))


@rule("logsumexp special_logsumexp")
def _logsumexp(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(reduced(call, operand.shape), float_of(operand.dtype, call.default))


@rule("norm frobenius_norm nuclear_norm linalg_vector_norm linalg_norm native_norm")
def _norm(call: Call) -> Result:
    operand = call.tensor("self", "input")
    return TensorType(reduced(call, operand.shape), real_of(call.cast(operand.dtype)))


@rule("linalg_matrix_norm")
def _matrix_norm(call: Call) -> Result:
    operand = call.tensor("self")
    dims = call.ints("dim", (-2, -1)) if "dim" in call.args else (-2, -1)
    keepdim = call.flag("keepdim")
    shape = None if dims is None else reduce_shape(operand.shape, dims, keepdim)
    return TensorType(shape, real_of(call.cast(operand.dtype)))


@rule("std var")
def _std(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(reduced(call, operand.shape), real_of(operand.dtype))


@rule("std_mean var_mean")
def _std_mean(call: Call) -> Result:
    operand = call.tensor("self")
    shape = reduced(call, operand.shape)
    return TensorType(shape, real_of(operand.dtype)), TensorType(shape, operand.dtype)


@rule("any all")
def _any(call: Call) -> Result:
    operand = call.tensor("self")
    dtype = None if operand.dtype is None else "uint8" if operand.dtype == "uint8" else "bool"
    return TensorType(reduced(call, operand.shape, empty_is_all=False), dtype)


@rule("count_nonzero")
def _count_nonzero(call: Call) -> Result:
    return TensorType(reduced(call, call.tensor("self").shape), "int64")


@rule("argmax argmin")
def _argmax(call: Call) -> Result:
    return TensorType(reduced(call, call.tensor("self").shape), "int64")


@rule("max min median nanmedian")
def _max(call: Call) -> Result:
    operand = call.tensor("self")
    if "other" in call.args:
        other = call.tensor("other")
        return TensorType(broadcast(operand.shape, other.shape), promote(operand, other, default=call.default))
    if call.absent("dim"):
        return TensorType((), operand.dtype)
    shape = reduced(call, operand.shape)
    return TensorType(shape, operand.dtype), TensorType(shape, "int64")


@rule("mode kthvalue")
def _mode(call: Call) -> Result:
    operand = call.tensor("self")
    shape = reduce_shape(operand.shape, (call.number("dim", -1),), call.flag("keepdim"))
    return TensorType(shape, operand.dtype), TensorType(shape, "int64")


@rule("aminmax _aminmax")
def _aminmax(call: Call) -> Result:
    operand = call.tensor("self")
    part = TensorType(reduced(call, operand.shape), operand.dtype)
    return part, part


@rule("cummax cummin sort")
def _sort(call: Call) -> Result:
    operand = call.tensor("self")
    _check_dim(call, operand.shape, -1)
    return TensorType(operand.shape, operand.dtype), TensorType(operand.shape, "int64")


@rule("argsort")
def _argsort(call: Call) -> Result:
    operand = call.tensor("self")
    _check_dim(call, operand.shape, -1)
    return TensorType(operand.shape, "int64")


@rule("topk")
def _topk(call: Call) -> Result:
    operand, count, dim = call.tensor("self"), call.number("k"), call.number("dim", -1)
    shape = operand.shape
    if shape:
        if dim is None:
            shape = (None,) * len(shape)
        else:
            dim = wrap_dim(dim, len(shape))
            size = shape[dim]
            if size is not None and count is not None and count > size:
                raise ShapeError("selected index k out of range")
            shape = (*shape[:dim], count, *shape[dim + 1 :])
    return TensorType(shape, operand.dtype), TensorType(shape, "int64")


@rule("cumsum cumprod")
def _cumsum(call: Call) -> Result:
    operand = call.tensor("self")
    _check_dim(call, operand.shape, 0)
    return TensorType(operand.shape, call.cast(summed(operand.dtype)))


@rule("diff")
def _diff(call: Call) -> Result:
    operand, count, dim = call.tensor("self"), call.number("n", 1), call.number("dim", -1)
    shape = operand.shape
    if count == 0:
        return TensorType(shape, operand.dtype)
    if not shape or dim is None or count is None:
        return TensorType(None if shape is None else (None,) * len(shape), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    ends = [call.tensor(name).shape for name in ("prepend", "append") if call.given(name)]
    sizes = [shape[dim], *(None if end is None or len(end) != len(shape) else end[dim] for end in ends)]
    left = None if None in sizes else max(sum(size for size in sizes if size is not None) - count, 0)
    return TensorType((*shape[:dim], left, *shape[dim + 1 :]), operand.dtype)


@rule("quantile nanquantile")
def _quantile(call: Call) -> Result:
    operand, q = call.tensor("self"), call.tensor("q")
    shape = reduced(call, operand.shape)
    lead = () if q.wrapped else q.shape
    return TensorType(None if shape is None or lead is None else lead + shape, operand.dtype)


@rule("dist")
def _dist(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("other")
    broadcast(left.shape, right.shape)
    return TensorType((), real_of(promote(left, right, default=call.default)))


@rule("trace")
def _trace(call: Call) -> Result:
    operand = call.tensor("self")
    if operand.shape is not None and len(operand.shape) != 2:
        raise ShapeError("trace: expected a matrix")
    return TensorType((), summed(operand.dtype))


def _check_dim(call: Call, shape: Shape, default: int) -> None:
    dim = call.number("dim", default)
    if shape is not None and dim is not None:
        wrap_dim(dim, len(shape))


@rule("histogram")
def _histogram(call: Call) -> Result:
    operand, edges = call.tensor("self"), call.args.get("bins", 100)
    given = edges.shape if isinstance(edges, TensorType) else None
    bins = edges if isinstance(edges, int) else None
    if given is not None and len(given) == 1 and given[0] is not None:
        bins = given[0] - 1
    more = None if bins is None else bins + 1
    return TensorType((bins,), operand.dtype), TensorType((more,), operand.dtype)


@rule("_histogramdd_from_bin_cts")
def _histogram_by_counts(call: Call) -> Result:
    return TensorType(call.ints("bins"), call.tensor("self").dtype)


@rule("_histogramdd_from_bin_tensors")
def _histogram_by_edges(call: Call) -> Result:
    edges = call.tensors("bins")
    dtype = call.tensor("self").dtype
    if edges is None or any(edge.shape is None or len(edge.shape) != 1 for edge in edges):
        return TensorType(None, dtype)
    sizes = [edge.shape[0] for edge in edges if edge.shape is not None]
    return TensorType(tuple(None if size is None else size - 1 for size in sizes), dtype)


@list_rule("_histogramdd_bin_edges")
def _bin_edges(call: Call) -> Pieces | None:
    bins = call.ints("bins")
    if bins is None:
        return None
    dtype = call.tensor("self").dtype
    return Pieces(tuple(TensorType((None if size is None else size + 1,), dtype) for size in bins))


@rule("hash_tensor")
def _hash(call: Call) -> Result:
    return TensorType(reduced(call, call.tensor("self").shape), "uint64")
