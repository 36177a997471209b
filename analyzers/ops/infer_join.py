"""Joining and dividing: cat, stack, repeat, and the operators that return a list of pieces.

cat([[2, 3], [None, 3]], dim=0)  ->  [None, 3]
[5, 2].split(2)                  ->  [2, 2], [2, 2], [1, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from analyzers.ops.infer_core import (
    Call,
    Pieces,
    Result,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    list_rule,
    meet_sizes,
    numel,
    promote,
    range_length,
    rule,
    same_dtype,
    show,
    unknown_sizes,
    wrap_dim,
)


def cat_shape(shapes: Sequence[Shape], dim: int | None) -> Shape:
    """One-dimensional empty tensors are skipped whatever the rank of the others; an unknown shape may be such a one."""
    rank = next((len(shape) for shape in shapes if shape is not None and len(shape) > 1), None)
    if rank is None:
        if dim is not None and any(shape and shape[0] for shape in shapes):
            wrap_dim(dim, 1)
        return _cat_vectors(shapes)
    if any(shape == () for shape in shapes):
        raise ShapeError("zero-dimensional tensor cannot be concatenated")
    if dim is None:
        return (None,) * rank
    dim = wrap_dim(dim, rank)
    sizes: list[int | None] = [None] * rank
    total: int | None = 0
    for shape in shapes:
        if shape == (0,):
            continue
        if shape is None or (len(shape) == 1 and shape[0] is None):
            total = None
            continue
        if len(shape) != rank:
            raise ShapeError(f"Tensors must have same number of dimensions: got {rank} and {len(shape)}")
        for i, size in enumerate(shape):
            if i == dim:
                total = None if total is None or size is None else total + size
            elif size is not None and sizes[i] is not None and sizes[i] != size:
                raise ShapeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected {sizes[i]} but got {size} "
                    "for tensor in the list."
                )
            else:
                sizes[i] = meet_sizes(sizes[i], size)
    sizes[dim] = total
    return tuple(sizes)


def _cat_vectors(shapes: Sequence[Shape]) -> Shape:
    total: int | None = 0
    for shape in shapes:
        if shape is None:
            return None
        if not shape:
            raise ShapeError("zero-dimensional tensor (at position 0) cannot be concatenated")
        total = None if total is None or shape[0] is None else total + shape[0]
    return (total,)


@rule("cat concat concatenate")
def _cat(call: Call) -> Result:
    tensors, dim = call.tensors("tensors"), call.number("dim", 0)
    if not tensors:
        return _of_many(call, lambda shapes: _with_size(cat_shape(shapes, dim), dim, None))
    dtype = promote(*tensors, default=call.default)
    return TensorType(cat_shape([t.shape for t in tensors], dim), dtype)


def _of_many(call: Call, join: Callable[[Sequence[Shape]], Shape]) -> TensorType:
    """What is joined of a list whose length is not known."""
    tensors = call.open_tensors("tensors")
    if not tensors:
        return TensorType(None, None)
    dtypes = {t.dtype for t in tensors}
    try:
        return TensorType(join([t.shape for t in tensors]), dtypes.pop() if len(dtypes) == 1 else None)
    except ShapeError:  # the ones that may be there do not fit: perhaps there are none
        return TensorType(None, None)


def _with_size(shape: Shape, dim: int | None, size: int | None) -> Shape:
    """`shape` with another size along `dim`."""
    if not shape or dim is None:
        return shape
    dim = wrap_dim(dim, len(shape))
    return (*shape[:dim], size, *shape[dim + 1 :])


def _meet(shapes: Sequence[Shape]) -> Shape:
    """The one shape that all of them must have."""
    result: Shape = None
    for shape in shapes:
        if shape is None:
            continue
        if result is None:
            result = shape
            continue
        if len(shape) != len(result) or any(
            x is not None and y is not None and x != y for x, y in zip(result, shape, strict=True)
        ):
            raise ShapeError(f"stack expects each tensor to be equal size, but got {show(result)} and {show(shape)}")
        result = tuple(meet_sizes(x, y) for x, y in zip(result, shape, strict=True))
    return result


@rule("stack _stack")
def _stack(call: Call) -> Result:
    tensors, dim = call.tensors("tensors"), call.number("dim", 0)
    if not tensors:
        return _of_many(call, lambda shapes: _stacked(_meet(shapes), dim, None))
    dtype = promote(*tensors, default=call.default)
    return TensorType(_stacked(_meet([t.shape for t in tensors]), dim, len(tensors)), dtype)


def _stacked(shape: Shape, dim: int | None, count: int | None) -> Shape:
    if shape is None:
        return None
    if dim is None:
        return (None,) * (len(shape) + 1)
    dim = wrap_dim(dim, len(shape) + 1)
    return (*shape[:dim], count, *shape[dim:])


def _lifted(call: Call, rank: int, dim: int) -> Result:
    """`vstack` and its kin: operands are lifted to a rank, then joined along a dimension."""
    tensors = call.tensors("tensors")
    if not tensors:
        return TensorType(None, None)
    dtype = promote(*tensors, default=call.default)
    shapes: list[Shape] = []
    for shape in (t.shape for t in tensors):
        if shape is not None and len(shape) < rank:
            shape = _LIFTS[rank](shape)
        shapes.append(shape)
    if None in shapes:
        return TensorType(None, dtype)
    if rank == 1 and shapes[0] is not None and len(shapes[0]) > 1:
        dim = 1
    return TensorType(cat_shape(shapes, dim), dtype)


_LIFTS: dict[int, Callable[[tuple[int | None, ...]], tuple[int | None, ...]]] = {
    1: lambda shape: (1,),
    2: lambda shape: (1,) * (2 - len(shape)) + shape,
    3: lambda shape: ((1, 1, 1), (1, *shape, 1), (*shape, 1))[len(shape)],
}


@rule("vstack row_stack")
def _vstack(call: Call) -> Result:
    return _lifted(call, 2, 0)


@rule("hstack")
def _hstack(call: Call) -> Result:
    return _lifted(call, 1, 0)


@rule("dstack")
def _dstack(call: Call) -> Result:
    return _lifted(call, 3, 2)


@rule("column_stack")
def _column_stack(call: Call) -> Result:
    tensors = call.tensors("tensors")
    if not tensors:
        return TensorType(None, None)
    shapes = [t.shape if t.shape is None or len(t.shape) > 1 else (numel(t.shape), 1) for t in tensors]
    dtype = promote(*tensors, default=call.default)
    return TensorType(None if None in shapes else cat_shape(shapes, 1), dtype)


@rule("_chunk_cat")
def _chunk_cat(call: Call) -> Result:
    tensors, dim, chunks = call.tensors("tensors"), call.number("dim"), call.number("num_chunks")
    dtype = same_dtype(*tensors) if tensors else None
    shapes = [t.shape for t in tensors or ()]
    if not shapes or dim is None or not chunks or any(s is None or None in s for s in shapes):
        return TensorType(None, dtype)
    dim = dim % max(len(shapes[0] or ()), 1)
    total = 0
    for shape in shapes:
        assert shape is not None
        size = shape[dim]
        rest = numel(shape[dim + 1 :])
        assert size is not None and rest is not None
        total += -(-size // chunks) * rest
    first = shapes[0]
    assert first is not None
    return TensorType((*first[:dim], chunks, total), dtype)


@rule("block_diag")
def _block_diag(call: Call) -> Result:
    tensors = call.tensors("tensors")
    if not tensors:
        return TensorType(None, None)
    rows: int | None = 0
    columns: int | None = 0
    for tensor in tensors:
        if tensor.shape is None:
            rows = columns = None
            continue
        r, c = ((1,) * (2 - len(tensor.shape)) + tensor.shape)[:2]
        rows = None if rows is None or r is None else rows + r
        columns = None if columns is None or c is None else columns + c
    return TensorType((rows, columns), promote(*tensors, default=call.default))


@rule("repeat")
def _repeat(call: Call) -> Result:
    operand, repeats = call.tensor("self"), call.ints("repeats")
    if repeats is None:
        return TensorType(None, operand.dtype)
    if operand.shape is None:
        return TensorType((None,) * len(repeats), operand.dtype)
    lead = len(repeats) - len(operand.shape)
    if lead < 0:
        raise ShapeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    sizes = zip((1,) * lead + operand.shape, repeats, strict=True)
    return TensorType(tuple(numel(pair) for pair in sizes), operand.dtype)


@rule("tile")
def _tile(call: Call) -> Result:
    operand, dims = call.tensor("self"), call.ints("dims")
    shape = operand.shape
    if dims is None or shape is None:
        return TensorType(None, operand.dtype)
    rank = max(len(dims), len(shape))
    pairs = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(dims)) + dims, strict=True)
    return TensorType(tuple(numel(pair) for pair in pairs), operand.dtype)


@rule("repeat_interleave")
def _repeat_interleave(call: Call) -> Result:
    if "self" not in call.args:
        repeats = call.tensor("repeats")
        return TensorType((call.number("output_size") if numel(repeats.shape) else None,), repeats.dtype)
    operand, times, dim = call.tensor("self"), call.number("repeats"), call.args.get("dim")
    shape = operand.shape
    if dim is None:
        return TensorType((numel((numel(shape), times)),), operand.dtype)
    if not shape or not isinstance(dim, int):
        return TensorType(None, operand.dtype)
    dim = wrap_dim(dim, len(shape))
    return TensorType((*shape[:dim], numel((shape[dim], times)), *shape[dim + 1 :]), operand.dtype)


def _listed_pieces(operand: TensorType, dim: int, sizes: Sequence[int | None]) -> Pieces:
    """`operand` cut along `dim` into pieces of these sizes."""
    shape = operand.shape
    if shape is None:
        return Pieces((TensorType(None, operand.dtype),) * len(sizes))
    if not shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    at = wrap_dim(dim, len(shape))
    return Pieces(tuple(TensorType((*shape[:at], size, *shape[at + 1 :]), operand.dtype) for size in sizes))


def _pieces(operand: TensorType, dim: int, count: int, size: Callable[[int], int | None]) -> Pieces:
    """The same for any number of pieces, whose sizes never grow from one to the next."""
    return Pieces.of(count, lambda i: _listed_pieces(operand, dim, [size(i)]).first[0])


def _extent(operand: TensorType, dim: int | None) -> int | None:
    if operand.shape is None or dim is None:
        return None
    if not operand.shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    return operand.shape[wrap_dim(dim, len(operand.shape))]


@list_rule("split unsafe_split split_with_sizes unsafe_split_with_sizes split_copy split_with_sizes_copy")
def _split(call: Call) -> Pieces | None:
    operand, dim = call.tensor("self"), call.number("dim", 0)
    sizes = call.args.get("split_sizes", call.args.get("split_size"))
    extent = _extent(operand, dim)
    if isinstance(sizes, (list, tuple)):
        return _split_sizes(operand, dim, extent, sizes)
    if not isinstance(sizes, int) or extent is None or dim is None:
        return None
    if sizes <= 0:
        return _pieces(operand, dim, 1, lambda i: 0) if extent == 0 and sizes == 0 else None
    return _even_pieces(operand, dim, extent, sizes)


def _even_pieces(operand: TensorType, dim: int, extent: int, size: int) -> Pieces:
    """Pieces `size` long, the last of which may be shorter. There is one even of nothing."""
    return _pieces(operand, dim, max(-(-extent // size), 1), lambda i: min(size, extent - i * size))


def _split_sizes(operand: TensorType, dim: int | None, extent: int | None, sizes: Sequence[object]) -> Pieces:
    known = [size if isinstance(size, int) else None for size in sizes]
    if dim is None:
        return Pieces((TensorType(unknown_sizes(operand.shape), operand.dtype),) * len(known))
    total = sum(size for size in known if size is not None)
    if extent is not None and None not in known and total != extent:
        raise ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={known}"
        )
    return _listed_pieces(operand, dim, known)


@list_rule("chunk unsafe_chunk")
def _chunk(call: Call) -> Pieces | None:
    operand, chunks, dim = call.tensor("self"), call.number("chunks"), call.number("dim", 0)
    extent = _extent(operand, dim)
    if extent is None or dim is None or chunks is None or chunks < 1:
        return None
    if not extent:
        return _pieces(operand, dim, chunks, lambda i: 0)
    return _even_pieces(operand, dim, extent, -(-extent // chunks))


@list_rule("unbind unbind_copy")
def _unbind(call: Call) -> Pieces | None:
    operand, dim = call.tensor("self"), call.number("dim", 0)
    extent = _extent(operand, dim)
    if extent is None or dim is None or operand.shape is None:
        return None
    dim = wrap_dim(dim, len(operand.shape))
    piece = TensorType(operand.shape[:dim] + operand.shape[dim + 1 :], operand.dtype)
    return Pieces.of(extent, lambda i: piece)


def _tensor_split_at(call: Call, dim: int | None) -> Pieces | None:
    operand = call.tensor("self")
    where = next(
        (call.args[name] for name in ("indices", "sections", "tensor_indices_or_sections") if name in call.args), None
    )
    extent = _extent(operand, dim)
    if dim is None:
        return None
    if isinstance(where, (list, tuple)):
        if extent is None or not all(isinstance(cut, int) for cut in where):
            return _listed_pieces(operand, dim, [None] * (len(where) + 1))
        cuts = [0, *where, None]
        return _listed_pieces(operand, dim, [range_length(*slice(a, b).indices(extent)) for a, b in pairwise(cuts)])
    if not isinstance(where, int) or where < 1:
        return None
    if extent is None:
        return _pieces(operand, dim, where, lambda i: None)
    size, longer = divmod(extent, where)
    return _pieces(operand, dim, where, lambda i: size + (i < longer))


@list_rule("tensor_split")
def _tensor_split(call: Call) -> Pieces | None:
    return _tensor_split_at(call, call.number("dim", 0))


@list_rule("vsplit")
def _vsplit(call: Call) -> Pieces | None:
    return _tensor_split_at(call, 0)


@list_rule("dsplit")
def _dsplit(call: Call) -> Pieces | None:
    return _tensor_split_at(call, 2)


@list_rule("hsplit")
def _hsplit(call: Call) -> Pieces | None:
    shape = call.tensor("self").shape
    return None if shape is None else _tensor_split_at(call, 0 if len(shape) == 1 else 1)


@list_rule("broadcast_tensors")
def _broadcast_tensors(call: Call) -> Pieces | None:
    tensors = call.tensors("tensors")
    if tensors is None:
        return None
    shape = broadcast(*(t.shape for t in tensors))
    return Pieces(tuple(TensorType(shape, t.dtype) for t in tensors))


@list_rule("meshgrid")
def _meshgrid(call: Call) -> Pieces | None:
    tensors, indexing = call.tensors("tensors"), call.args.get("indexing", "ij")
    if tensors is None:
        return None
    sizes = [numel(t.shape) for t in tensors]
    if len(sizes) > 1 and indexing == "xy":
        sizes[0], sizes[1] = sizes[1], sizes[0]
    shape = tuple(sizes) if indexing in ("ij", "xy") else (None,) * len(sizes)
    return Pieces(tuple(TensorType(shape, t.dtype) for t in tensors))
