"""Views and copies that rearrange: reshape, transpose, slice, split, join and repeat.

[None, 3, 4].view(-1, 12)         ->  [None, 12]
[2, 3].expand(5, -1, 3)           ->  [5, 2, 3]
cat([[2, 3], [None, 3]], dim=0)   ->  [None, 3]
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.ops.infer_core import (
    Call,
    Result,
    Shape,
    ShapeError,
    TensorType,
    numel,
    range_length,
    rule,
    show,
    unknown_sizes,
    wrap_dim,
)
from analyzers.ops.promote import is_integral, item_bits


def view_shape(shape: Shape, sizes: Sequence[int | None] | None) -> Shape:
    """The shape after `view(sizes)`; an unknown size may be -1 itself, so it can be solved for like one."""
    if sizes is None:
        return None
    total = numel(shape)
    open_at = [i for i, size in enumerate(sizes) if size is None or size == -1]
    explicit = sum(size == -1 for size in sizes)
    if explicit > 1:
        raise ShapeError("only one dimension can be inferred")
    known = numel(tuple(size for size in sizes if size is not None and size != -1))
    result = [None if size == -1 else size for size in sizes]
    if len(open_at) > 1 or total is None or known is None:
        return tuple(result)
    message = f"shape '{show(tuple(sizes))}' is invalid for input of size {total}"
    if not open_at:
        if known != total:
            raise ShapeError(message)
    elif known:
        if total % known:
            raise ShapeError(message)
        result[open_at[0]] = total // known
    elif total:
        raise ShapeError(message)
    return tuple(result)


@rule("view reshape _unsafe_view _reshape_alias view_copy _reshape_copy")
def _view(call: Call) -> Result:
    operand = call.tensor("self")
    if "dtype" in call.args and "size" not in call.args and "shape" not in call.args:
        return _view_dtype(operand, call.args["dtype"])
    sizes = call.ints("size" if "size" in call.args else "shape")
    return TensorType(view_shape(operand.shape, sizes), operand.dtype)


def _view_dtype(operand: TensorType, dtype: object) -> TensorType:
    if not isinstance(dtype, str):
        # What is not known to be a type may be a size.
        return TensorType(None, None)
    old, new = item_bits(operand.dtype) if operand.dtype else None, item_bits(dtype)
    shape = operand.shape
    if old is None or new is None:
        return TensorType(None if not shape else (*shape[:-1], None), dtype)
    if old != new and shape:
        last = shape[-1]
        shape = (*shape[:-1], None if last is None else last * old // new)
    return TensorType(shape, dtype)


@rule("view_as reshape_as expand_as")
def _view_as(call: Call) -> Result:
    return TensorType(call.tensor("other").shape, call.tensor("self").dtype)


@rule("expand broadcast_to")
def _expand(call: Call) -> Result:
    operand, sizes = call.tensor("self"), call.ints("size")
    if sizes is None:
        return TensorType(None, operand.dtype)
    return TensorType(expand_shape(operand.shape, sizes), operand.dtype)


def expand_shape(shape: Shape, sizes: tuple[int | None, ...]) -> Shape:
    if shape is None:
        return tuple(None if size == -1 else size for size in sizes)
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise ShapeError(
            f"the number of sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({len(shape)})"
        )
    result = list(sizes[:lead])
    for i, (old, size) in enumerate(zip(shape, sizes[lead:], strict=True)):
        if size == -1:
            result.append(old)
        elif size is None:
            result.append(None if old == 1 else old)
        elif old is None or old in (1, size):
            result.append(size)
        else:
            raise ShapeError(
                f"The expanded size of the tensor ({size}) must match the existing size ({old}) "
                f"at non-singleton dimension {i + lead}"
            )
    return tuple(result)


@rule("permute")
def _permute(call: Call) -> Result:
    operand, dims = call.tensor("self"), call.ints("dims")
    shape = operand.shape
    if dims is None or shape is None:
        return TensorType(None if dims is None and shape is None else (None,) * len(dims or shape or ()), operand.dtype)
    if len(dims) != len(shape):
        raise ShapeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {len(shape)} is not equal to len(dims) = {len(dims)}"
        )
    wrapped = [None if dim is None else wrap_dim(dim, len(shape)) for dim in dims]
    return TensorType(tuple(None if dim is None else shape[dim] for dim in wrapped), operand.dtype)


@rule("transpose swapaxes swapdims transpose_copy")
def _transpose(call: Call) -> Result:
    operand = call.tensor("self")
    first = call.number("dim0") if "dim0" in call.args else call.number("axis0")
    second = call.number("dim1") if "dim1" in call.args else call.number("axis1")
    return TensorType(transposed(operand.shape, first, second), operand.dtype)


def transposed(shape: Shape, first: int | None, second: int | None) -> Shape:
    if not shape:
        return shape
    if first is None or second is None:
        return (None,) * len(shape)
    first, second = wrap_dim(first, len(shape)), wrap_dim(second, len(shape))
    sizes = list(shape)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes)


@rule("matrix_H mT mH adjoint")
def _reversed(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(transposed(operand.shape, -2, -1) if operand.shape else operand.shape, operand.dtype)


@rule("t numpy_T")
def _t(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(None if operand.shape is None else operand.shape[::-1], operand.dtype)


@rule("movedim moveaxis")
def _movedim(call: Call) -> Result:
    operand, source, to = call.tensor("self"), call.ints("source"), call.ints("destination")
    shape = operand.shape
    if not shape or source is None or to is None or None in source or None in to:
        return TensorType(unknown_sizes(shape), operand.dtype)
    taken = [wrap_dim(dim, len(shape)) for dim in source if dim is not None]
    placed = [wrap_dim(dim, len(shape)) for dim in to if dim is not None]
    if len(taken) != len(placed) or len(set(taken)) != len(taken) or len(set(placed)) != len(placed):
        raise ShapeError(f"movedim: cannot move dimensions {list(source)} to {list(to)}")
    rest = iter([size for i, size in enumerate(shape) if i not in taken])
    moved = dict(zip(placed, taken, strict=True))
    sizes = [shape[moved[i]] if i in moved else next(rest) for i in range(len(shape))]
    return TensorType(tuple(sizes), operand.dtype)


@rule("squeeze")
def _squeeze(call: Call) -> Result:
    operand = call.tensor("self")
    shape = operand.shape
    if shape is None:
        return TensorType(None, operand.dtype)
    if call.absent("dim"):
        return TensorType(None if None in shape else tuple(size for size in shape if size != 1), operand.dtype)
    dims = call.ints("dim")
    if dims is None or None in dims:
        return TensorType(None, operand.dtype)
    gone = {wrap_dim(dim, len(shape)) for dim in dims if dim is not None} if shape else set()
    if any(shape[i] is None for i in gone):
        return TensorType(None, operand.dtype)
    return TensorType(tuple(s for i, s in enumerate(shape) if i not in gone or s != 1), operand.dtype)


@rule("unsqueeze")
def _unsqueeze(call: Call) -> Result:
    operand, dim = call.tensor("self"), call.number("dim")
    shape = operand.shape
    if shape is not None:
        if dim is None:
            shape = (None,) * (len(shape) + 1)
        else:
            dim = wrap_dim(dim, len(shape) + 1)
            shape = (*shape[:dim], 1, *shape[dim:])
    return TensorType(shape, operand.dtype)


@rule("flatten ravel")
def _flatten(call: Call) -> Result:
    operand = call.tensor("self")
    shape, first, last = operand.shape, call.number("start_dim", 0), call.number("end_dim", -1)
    if shape is None or first is None or last is None:
        return TensorType((None,) if shape is None and (first, last) == (0, -1) else None, operand.dtype)
    first, last = wrap_dim(first, len(shape)), wrap_dim(last, len(shape))
    if first > last:
        raise ShapeError("flatten() has invalid args: start_dim cannot come after end_dim")
    return TensorType((*shape[:first], numel(shape[first : last + 1]), *shape[last + 1 :]), operand.dtype)


@rule("unflatten")
def _unflatten(call: Call) -> Result:
    operand, dim, sizes = call.tensor("self"), call.number("dim"), call.ints("sizes")
    shape = operand.shape
    if shape is None or sizes is None:
        return TensorType(None, operand.dtype)
    if dim is None:
        return TensorType((None,) * (len(shape) + len(sizes) - 1), operand.dtype)
    if not shape:
        raise ShapeError("unflatten: a tensor without dimensions cannot be unflattened")
    dim = wrap_dim(dim, len(shape))
    part = view_shape((shape[dim],), sizes) or ()
    return TensorType((*shape[:dim], *part, *shape[dim + 1 :]), operand.dtype)


@rule("select")
def _select(call: Call) -> Result:
    operand, dim, index = call.tensor("self"), call.number("dim"), call.number("index")
    shape = operand.shape
    if shape is None:
        return TensorType(None, operand.dtype)
    if not shape:
        raise ShapeError("select() cannot be applied to a 0-dim tensor.")
    if dim is None:
        return TensorType((None,) * (len(shape) - 1), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if size is not None and index is not None and not -size <= index < size:
        message = f"select(): index {index} out of range for tensor of size {show(shape)} at dimension {dim}"
        raise ShapeError(message, "IndexError")
    return TensorType(shape[:dim] + shape[dim + 1 :], operand.dtype)


def slice_size(size: int | None, start: object, end: object, step: object) -> int | None:
    """The length of `range(size)[start:end:step]`; any bound may be None (absent) or unknown."""
    if not isinstance(step, int) or step < 1:
        return 0 if size == 0 else None
    if size is None:
        return None if not (isinstance(start, int) and isinstance(end, int)) or not 0 <= end <= start else 0
    if (start is None or isinstance(start, int)) and (end is None or isinstance(end, int)):
        return range_length(*slice(start, end, step).indices(size))
    return 0 if size == 0 else None


@rule("slice")
def _slice(call: Call) -> Result:
    operand, dim = call.tensor("self"), call.number("dim", 0)
    shape = operand.shape
    if shape is None or dim is None:
        return TensorType(unknown_sizes(shape), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    if not shape:
        raise ShapeError("slice() cannot be applied to a 0-dim tensor.")
    size = slice_size(shape[dim], call.args.get("start"), call.args.get("end"), call.args.get("step", 1))
    return TensorType((*shape[:dim], size, *shape[dim + 1 :]), operand.dtype)


@rule("narrow narrow_copy")
def _narrow(call: Call) -> Result:
    operand, dim, length = call.tensor("self"), call.number("dim"), call.number("length")
    shape = operand.shape
    if shape is None or dim is None:
        return TensorType(unknown_sizes(shape), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    if not shape:
        raise ShapeError("narrow() cannot be applied to a 0-dim tensor.")
    size = shape[dim]
    if length is not None and size is not None and length > size:
        raise ShapeError(f"start (0) + length ({length}) exceeds dimension size ({size}).")
    return TensorType((*shape[:dim], length, *shape[dim + 1 :]), operand.dtype)


@rule("diagonal diagonal_copy linalg_diagonal")
def _diagonal(call: Call) -> Result:
    operand = call.tensor("self", "A")
    default = (-2, -1) if "A" in call.args else (0, 1)
    offset, first, second = call.number("offset", 0), call.number("dim1", default[0]), call.number("dim2", default[1])
    shape = operand.shape
    if shape is None or first is None or second is None:
        return TensorType(None if shape is None else (None,) * (len(shape) - 1), operand.dtype)
    first, second = wrap_dim(first, len(shape)), wrap_dim(second, len(shape))
    if first == second:
        raise ShapeError(f"diagonal dimensions cannot be identical {first}, {second}")
    rest = tuple(size for i, size in enumerate(shape) if i not in (first, second))
    return TensorType((*rest, _diagonal_size(shape[first], shape[second], offset)), operand.dtype)


def _diagonal_size(rows: int | None, columns: int | None, offset: int | None) -> int | None:
    if rows is None or columns is None or offset is None:
        return None
    return max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))


@rule("diag")
def _diag(call: Call) -> Result:
    operand, offset = call.tensor("self"), call.number("diagonal", 0)
    shape = operand.shape
    if shape is None:
        return TensorType(None, operand.dtype)
    if len(shape) == 1:
        side = None if shape[0] is None or offset is None else shape[0] + abs(offset)
        return TensorType((side, side), operand.dtype)
    if len(shape) != 2:
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {len(shape)}D")
    return TensorType((_diagonal_size(shape[0], shape[1], offset),), operand.dtype)


@rule("diagflat")
def _diagflat(call: Call) -> Result:
    operand, offset = call.tensor("self"), call.number("offset", 0)
    count = numel(operand.shape)
    side = None if count is None or offset is None else count + abs(offset)
    return TensorType((side, side), operand.dtype)


@rule("diag_embed")
def _diag_embed(call: Call) -> Result:
    operand, offset = call.tensor("self"), call.number("offset", 0)
    first, second = call.number("dim1", -2), call.number("dim2", -1)
    shape = operand.shape
    if not shape or first is None or second is None:
        return TensorType((None,) * (len(shape) + 1) if shape else None, operand.dtype)
    side = None if shape[-1] is None or offset is None else shape[-1] + abs(offset)
    rest = list(shape[:-1])
    for dim in sorted((wrap_dim(first, len(shape) + 1), wrap_dim(second, len(shape) + 1))):
        rest.insert(dim, side)
    return TensorType(tuple(rest), operand.dtype)


@rule("unfold unfold_copy")
def _unfold(call: Call) -> Result:
    operand = call.tensor("self")
    dim, size, step = call.number("dimension"), call.number("size"), call.number("step")
    shape = operand.shape
    if shape is None or dim is None:
        return TensorType(None if shape is None else (None,) * (len(shape) + 1), operand.dtype)
    if not shape:
        return TensorType((size,), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    old = shape[dim]
    if old is not None and size is not None and size > old:
        raise ShapeError(f"maximum size for tensor at dimension {dim} is {old} but size is {size}")
    count = None if old is None or size is None or not step else (old - size) // step + 1
    return TensorType((*shape[:dim], count, *shape[dim + 1 :], size), operand.dtype)


@rule("as_strided as_strided_copy resize")
def _as_strided(call: Call) -> Result:
    return TensorType(call.ints("size"), call.tensor("self").dtype)


@rule("sum_to_size")
def _sum_to_size(call: Call) -> Result:
    operand = call.tensor("self")
    dtype = operand.dtype if operand.dtype is None or not is_integral(operand.dtype) else None
    return TensorType(call.ints("size"), dtype)


@rule("resize_as")
def _resize_as(call: Call) -> Result:
    return TensorType(call.tensor("the_template").shape, call.tensor("self").dtype)


@rule("rot90")
def _rot90(call: Call) -> Result:
    operand, turns, dims = call.tensor("self"), call.number("k", 1), call.ints("dims", (0, 1))
    if turns is None or dims is None or len(dims) != 2:
        return TensorType(unknown_sizes(operand.shape), operand.dtype)
    shape = operand.shape if turns % 2 == 0 else transposed(operand.shape, *dims)
    return TensorType(shape, operand.dtype)


@rule("atleast_1d")
def _atleast_1d(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape if operand.shape != () else (1,), operand.dtype)


@rule("atleast_2d")
def _atleast_2d(call: Call) -> Result:
    operand = call.tensor("self")
    shape = operand.shape
    return TensorType(None if shape is None else (1,) * (2 - len(shape)) + shape, operand.dtype)


@rule("atleast_3d")
def _atleast_3d(call: Call) -> Result:
    operand = call.tensor("self")
    shape = operand.shape
    if shape is not None and len(shape) < 3:
        shape = ((1, 1, 1), (1, *shape, 1), (*shape, 1))[len(shape)]
    return TensorType(shape, operand.dtype)
