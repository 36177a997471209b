"""Indexing: Python's `x[...]`, the operators behind it, and picking elements by index tensors.

[4, 5, 6][None, 1:, mask]        ->  [1, 3, None, 6]    mask is bool[5]: its count is not known
[4, 5, 6][rows, :, columns]      ->  [2, 5]             indices apart from each other: their shape comes first
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.ops.infer_core import (
    ANY,
    Call,
    Result,
    Shape,
    ShapeError,
    TensorType,
    as_tensor,
    broadcast,
    numel,
    rule,
    show,
    wrap_dim,
)
from analyzers.ops.infer_view import slice_size

_MASKS = ("bool", "uint8")


def _consumed(index: TensorType) -> int | None:
    """How many dimensions an index tensor stands for; a mask stands for as many as it has."""
    if index.dtype is not None and index.dtype not in _MASKS:
        return 1
    if index.shape is None:
        return None
    return len(index.shape) if index.dtype is not None or len(index.shape) == 1 else None


def _selected(index: TensorType) -> Shape:
    """The shape that an index tensor contributes before all of them are broadcast together."""
    if index.dtype in _MASKS:
        return (None,)
    return index.shape if index.dtype is not None or index.shape is None else (None,) * len(index.shape)


def advanced_shape(shape: Shape, indices: Sequence[TensorType | None]) -> Shape:
    """`aten::index`: one entry per dimension (a mask covers several), None leaving its dimension whole."""
    if shape is None:
        return None
    kept_before: list[int | None] = []
    kept_after: list[int | None] = []
    groups, previous, position = 0, False, 0
    for index in indices:
        width = 1 if index is None else _consumed(index)
        if width is None:
            return None
        if position + width > len(shape):
            raise ShapeError(f"too many indices for tensor of dimension {len(shape)}")
        covered = shape[position : position + width]
        position += width
        if index is None:
            (kept_after if groups else kept_before).extend(covered)
        elif index.dtype in _MASKS and index.shape is not None and len(index.shape) == width:
            for i, (mask, size) in enumerate(zip(index.shape, covered, strict=True)):
                if mask is not None and size is not None and mask != size:
                    raise ShapeError(
                        f"The shape of the mask {show(index.shape)} at index {i} does not match the shape of the "
                        f"indexed tensor {show(shape)} at index {position - width + i}"
                    )
        groups += index is not None and not previous
        previous = index is not None
    rest = shape[position:]
    if not groups:
        return shape
    picked = _broadcast_indices([_selected(index) for index in indices if index is not None])
    if picked is None:
        return None
    before = tuple(kept_before) if groups == 1 else ()
    after = tuple(kept_after) if groups == 1 else (*kept_before, *kept_after)
    return (*before, *picked, *after, *rest)


def _broadcast_indices(shapes: list[Shape]) -> Shape:
    try:
        return broadcast(*shapes)
    except ShapeError:
        raise ShapeError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(show(shape) for shape in shapes)
        ) from None


def index_shape(t: TensorType, items: Sequence[object]) -> Shape:
    """The shape of `t[items]` for a tuple of Python index items; unknown where an item is."""
    shape = t.shape
    if shape is None:
        return None
    widths = [_item_width(item) for item in items]
    if None in widths:
        return None
    used = sum(width for width in widths if width is not None)
    if used > len(shape):
        raise ShapeError(f"too many indices for tensor of dimension {len(shape)}")
    whole = len(shape) - used
    sizes: list[int | None] = []
    indices: list[TensorType | None] = []
    position = 0
    for item, width in zip(items, widths, strict=True):
        if item is Ellipsis:
            sizes += shape[position : position + whole]
            indices += [None] * whole
            position += whole
        elif item is None:
            sizes.append(1)
            indices.append(None)
        elif isinstance(item, bool):
            sizes.append(1)
            indices.append(TensorType((1,), "bool"))
        elif isinstance(item, int):
            _check_index(shape, position, item)
            position += 1
        elif isinstance(item, slice):
            sizes.append(slice_size(shape[position], item.start, item.stop, 1 if item.step is None else item.step))
            indices.append(None)
            position += 1
        else:
            index = as_tensor(item)
            sizes += shape[position : position + (width or 0)] if width else (1,)
            position += width or 0
            indices.append(index if index.shape != () or index.dtype not in _MASKS else TensorType((1,), "bool"))
    return advanced_shape((*sizes, *shape[position:]), indices)


def _item_width(item: object) -> int | None:
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, (int, slice)):
        return 1
    return _consumed(as_tensor(item))


def _check_index(shape: tuple[int | None, ...], position: int, index: int) -> None:
    size = shape[position]
    if size is not None and not -size <= index < size:
        raise ShapeError(f"index {index} is out of bounds for dimension {position} with size {size}")


@rule("index _unsafe_index _unsafe_masked_index")
def _index(call: Call) -> Result:
    operand, indices = call.tensor("self"), call.args.get("indices")
    if not isinstance(indices, (list, tuple)):
        return TensorType(None, operand.dtype)
    entries = [None if item is None else item if isinstance(item, TensorType) else ANY for item in indices]
    return TensorType(advanced_shape(operand.shape, entries), operand.dtype)


@rule("index_select")
def _index_select(call: Call) -> Result:
    operand, dim, index = call.tensor("self"), call.number("dim"), call.tensor("index")
    shape = operand.shape
    if not shape:
        return TensorType(shape, operand.dtype)
    if dim is None:
        return TensorType((None,) * len(shape), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    count = None if index.shape is None else index.shape[0] if index.shape else 1
    return TensorType((*shape[:dim], count, *shape[dim + 1 :]), operand.dtype)


@rule("gather")
def _gather(call: Call) -> Result:
    operand, index = call.tensor("self"), call.tensor("index")
    a, b = operand.shape, index.shape
    if a is not None and b is not None and max(len(a), 1) != max(len(b), 1) and 0 not in b and None not in b:
        raise ShapeError("Index tensor must have the same number of dimensions as input tensor")
    return TensorType(b, operand.dtype)


@rule("take")
def _take(call: Call) -> Result:
    return TensorType(call.tensor("index").shape, call.tensor("self").dtype)


@rule("take_along_dim")
def _take_along_dim(call: Call) -> Result:
    operand, index = call.tensor("self"), call.tensor("indices")
    dim = call.args.get("dim")
    if dim is None:
        return TensorType((None,) if index.shape is None else (numel(index.shape),), operand.dtype)
    a, b = operand.shape, index.shape
    if a is None or b is None or not isinstance(dim, int) or len(a) != len(b):
        return TensorType(None, operand.dtype)
    dim = wrap_dim(dim, len(a))
    lead, tail = broadcast(a[:dim], b[:dim]), broadcast(a[dim + 1 :], b[dim + 1 :])
    return TensorType((*(lead or ()), b[dim], *(tail or ())), operand.dtype)


@rule("masked_select")
def _masked_select(call: Call) -> Result:
    operand, mask = call.tensor("self"), call.tensor("mask")
    broadcast(operand.shape, mask.shape)
    return TensorType((None,), operand.dtype)


@rule("nonzero argwhere")
def _nonzero(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType((None, None if operand.shape is None else len(operand.shape)), "int64")


@rule("nonzero_static")
def _nonzero_static(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType((call.number("size"), None if operand.shape is None else len(operand.shape)), "int64")


@rule("_unique2 unique_consecutive")
def _unique(call: Call) -> Result:
    operand = call.tensor("self")
    inverse, counts = call.flag("return_inverse"), call.flag("return_counts")
    if call.given("dim"):
        return _unique_along(operand, call.number("dim"), inverse, counts)
    return (
        TensorType((None,), operand.dtype),
        TensorType(operand.shape if inverse else None, "int64"),
        TensorType((None,) if counts else None, "int64"),
    )


@rule("unique_dim unique_dim_consecutive")
def _unique_dim(call: Call) -> Result:
    return _unique_along(
        call.tensor("self"), call.number("dim"), call.flag("return_inverse"), call.flag("return_counts")
    )


def _unique_along(operand: TensorType, dim: int | None, inverse: bool | None, counts: bool | None) -> Result:
    shape = operand.shape
    length: Shape = None
    if shape is not None and dim is None:
        shape = (None,) * len(shape)
    elif shape and dim is not None:
        dim = wrap_dim(dim, len(shape))
        length = (shape[dim],)
        shape = (*shape[:dim], None, *shape[dim + 1 :])
    return (
        TensorType(shape, operand.dtype),
        TensorType(length if inverse else None, "int64"),
        TensorType((None,) if counts else None, "int64"),
    )


@rule("embedding")
def _embedding(call: Call) -> Result:
    weight, indices = call.tensor("weight"), call.tensor("indices")
    if weight.shape is not None and len(weight.shape) != 2:
        raise ShapeError("'weight' must be 2-D")
    width = None if weight.shape is None else weight.shape[1]
    return TensorType(None if indices.shape is None else (*indices.shape, width), weight.dtype)


@rule("one_hot")
def _one_hot(call: Call) -> Result:
    operand, classes = call.tensor("self"), call.number("num_classes", -1)
    width = None if classes == -1 else classes
    return TensorType(None if operand.shape is None else (*operand.shape, width), "int64")
