"""Indexing tensors: basic indices are views, applied one by one; lists and tensors copy."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.copies import replace
from analyzers.domain.lineage import PART
from analyzers.domain.objects import Array, Edge, ListObj, Shape, Tensor
from analyzers.domain.values import NONE, TRUE, Const, RangeValue, Ref, SliceValue, Tup, Unknown, Value
from analyzers.machine.autograd.graph import Step, refreshed
from analyzers.machine.autograd.likely_tensors import part_of
from analyzers.machine.autograd.tensors import can_require_grad, tensor_at
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ranges import python_slice
from analyzers.machine.operators.arguments import data_type, refuse, sizes_value, tensors_in, type_of_argument
from analyzers.machine.operators.dispatch import op, perhaps
from analyzers.machine.operators.opaque import maybe_view
from analyzers.machine.operators.rows import run_row
from analyzers.ops import table
from analyzers.ops.infer import UNKNOWN, ShapeError, TensorType, index_shape
from analyzers.ops.promote import is_integral

ELLIPSIS = Const(...)


def _items(m: Machine, index: Value) -> list[Value]:
    """The index's items; a list that contains more than numbers is treated as a tuple."""
    found = m.obj(index)
    if isinstance(found, ListObj) and found.rest is None:
        if any(isinstance(i, Ref | Tup | SliceValue | RangeValue) or i in (NONE, ELLIPSIS) for i in found.items):
            return list(found.items)
    return list(index.items) if isinstance(index, Tup) else [index]


def _is_basic(m: Machine, value: Value) -> bool:
    match value:
        case Const(value=v):
            return v is None or v is ... or (isinstance(v, int) and not isinstance(v, bool))
        case SliceValue():
            return True
        case Unknown(type="int"):
            return True
        case Ref():
            # A tensor holding one integer selects like that integer.
            found = m.tensor(value)
            return found is not None and found.shape == () and is_integral(found.dtype or "") and found.dtype != "bool"
    return False


def _is_advanced(m: Machine, value: Value) -> bool:
    return _may_be_advanced(m, value) and not _may_select(m, value)


def _may_select(m: Machine, value: Value) -> bool:
    """Whether a tensor of unknown rank may hold one integer."""
    found = m.tensor(value)
    return (
        found is not None
        and found.shape is None
        and (found.dtype is None or (is_integral(found.dtype) and found.dtype != "bool"))
    )


def _may_be_advanced(m: Machine, value: Value) -> bool:
    match value:
        case Const(value=bool()):
            return True
        case Ref():
            return isinstance(m.obj(value), Tensor | ListObj | Array)
        case Tup() | RangeValue():
            return True
    return False


def item_types(m: Machine, index: Value) -> list[object]:
    """An index in the form that shape inference expects."""
    out: list[object] = []
    for item in _items(m, index):
        if isinstance(item, SliceValue):
            parts = [type_of_argument(m, p) for p in (item.lower, item.upper, item.step)]
            out.append(slice(*parts))
        elif isinstance(item, Unknown) and item.type == "int":
            out.append(UNKNOWN)
        elif isinstance(item, Tup | RangeValue) or isinstance(m.obj(item), ListObj):
            shape, dtype = data_type(m, item)
            out.append(TensorType(shape, dtype))
        else:
            out.append(type_of_argument(m, item))
    return out


def indexed_shape(m: Machine, tensor: Tensor, index: Value) -> Shape:
    try:
        return index_shape(TensorType(tensor.shape, tensor.dtype), item_types(m, index))
    except ShapeError as refused:
        refuse(m, refused)
        return None


def index_tensor(m: Machine, owner: Ref, tensor: Tensor, index: Value) -> Value:
    if tensor.presumed:
        return part_of(m, tensor, PART if isinstance(index, Const) and isinstance(index.value, str) else None)
    items = _items(m, index)
    if all(_is_basic(m, i) for i in items):
        return basic_index(m, owner, items)
    given = [m.tensor(item) for item in items]
    if any(found is not None and (can_require_grad(found.dtype) or found.requires_grad) for found in given):
        raise PyRaise("IndexError", "tensors used as indices must be long, int, byte or bool tensors")
    shape = indexed_shape(m, tensor, index)
    if any(_is_advanced(m, i) for i in items) and all(_is_basic(m, i) or _may_be_advanced(m, i) for i in items):
        return _gather(m, _views(m, owner, items), items, shape)
    return _either(m, owner, items, shape)


def _full_slice(item: Value) -> bool:
    return isinstance(item, SliceValue) and python_slice(item) == slice(None, None, None)


def _widened(shape: Shape, items: list[Value]) -> list[Value]:
    """The items of an indexed assignment: torch does not slice if a slice from 0 covers the whole dimension."""
    if shape is None or ELLIPSIS in items:
        return items
    out: list[Value] = []
    sizes = iter(shape)
    for item in items:
        size = None if item == NONE else next(sizes, None)
        taken = python_slice(item) if isinstance(item, SliceValue) else None
        if taken is not None and taken.start in (None, 0) and taken.step in (None, 1):
            if taken.stop is None or (size is not None and taken.stop >= size):
                item = SliceValue(NONE, NONE, NONE)
        out.append(item)
    return out


def _gather(m: Machine, owner: Ref, items: list[Value], shape: Shape) -> Value:
    """`x[[0, 2]]`, `x[mask]`: a copy by `index`."""
    row = table.row("index.Tensor")
    assert row is not None
    result = run_row(m, row, {"self": owner, "indices": _indices(m, items)}, what="index")
    found = m.tensor(result)
    source = m.tensor(owner)
    if found is not None:
        found.shape = shape
        found.dtype = source.dtype if source is not None else None
        found.contiguous = True if shape is not None else None
    return result


def _either(m: Machine, owner: Ref, items: list[Value], shape: Shape) -> Value:
    """An unknown index: a view or a copy."""
    row = table.row("index.Tensor")
    assert row is not None
    tensor = refreshed(m, owner.id)
    step = Step("index", "index", {"self": (owner.id,)}, (), ("self",), "op", m.parents([owner]))
    step.requires = tensor.requires_grad
    result = maybe_view(m, row, {"self": owner}, step, None, itself=False)
    found = m.tensor(result)
    if found is not None:
        found.dtype = tensor.dtype
        found.shape = shape
    return result


def basic_index(m: Machine, owner: Ref, items: list[Value]) -> Value:
    """Ints, slices, None and `...`: one view after another, as torch does it."""
    current = _views(m, owner, items)
    return op(m, "alias", "index", self=current) if current == owner else current


def _views(m: Machine, owner: Ref, items: list[Value]) -> Ref:
    """The views that an index takes before gathering by lists and tensors."""
    tensor = m.tensor(owner)
    assert tensor is not None
    rank = len(tensor.shape) if tensor.shape is not None else None
    used = sum(_width(m, item) for item in items)
    current: Value = owner
    dim = 0
    for position, item in enumerate(items):
        if item == ELLIPSIS:
            if rank is not None:
                dim += rank - used
            elif position + 1 == len(items):
                break
            else:
                dim = -sum(i != NONE for i in items[position + 1 :])
        elif item == NONE or (isinstance(item, Const) and isinstance(item.value, bool)):
            current = op(m, "unsqueeze", "index", self=current, dim=Const(dim))
            dim += 1
        elif isinstance(item, SliceValue):
            if not _full_slice(item):
                start, stop, step = item.lower, item.upper, item.step
                current = op(
                    m, "slice.Tensor", "index", self=current, dim=Const(dim),
                    start=start, end=stop, step=Const(1) if step == NONE else step,
                )  # fmt: skip
            dim += 1
        elif _is_basic(m, item):
            index = Unknown("int") if m.tensor(item) is not None else item
            current = op(m, "select.int", "index", self=current, dim=Const(dim), index=index)
        else:
            dim += _width(m, item)
    assert isinstance(current, Ref)
    return current


def _width(m: Machine, item: Value) -> int:
    """How many dimensions an index item consumes."""
    if item in (NONE, ELLIPSIS) or (isinstance(item, Const) and isinstance(item.value, bool)):
        return 0
    mask = m.tensor(item)
    if mask is not None and mask.shape is not None and mask.dtype in {"bool", "uint8"}:
        return len(mask.shape)
    return 1


def _indices(m: Machine, items: list[Value]) -> Value:
    return Tup(tuple(Ref(i) for item in items if not _is_basic(m, item) for i in tensors_in(m, item)))


def assign_index(m: Machine, owner: Ref, tensor: Tensor, index: Value, value: Value) -> None:
    if tensor.presumed and m.tensor(value) is not None and isinstance(index, Const | Unknown):
        # `states[i] = states[i].detach()`: what a model returned is perhaps a list, which holds this from now on.
        m.st.put(owner.id, replace(tensor_at(m, owner.id), requires_grad=None, edge=Edge()))
        return
    items = _widened(tensor.shape, [NONE if item == TRUE else item for item in _items(m, index)])
    if not all(_is_basic(m, i) for i in items):
        _put(m, owner, items, value)
        return
    whole = all(_full_slice(i) or i == ELLIPSIS for i in items)
    target: Value = owner if whole else basic_index(m, owner, items)
    if not isinstance(target, Ref):
        return
    _write_item(m, target, value)
    if not whole and _may_cover(tensor.shape, items):
        # It is written as a whole then, and not through a slice.
        edge = tensor_at(m, owner.id).edge
        if edge is not None and edge.node is not None and edge != tensor.edge:
            m.st.put(edge.node, replace(m.node(edge.node), names=()))


def _may_cover(shape: Shape, items: list[Value]) -> bool:
    """Whether slices may cover dimensions of unknown sizes, all of them, from the first item to the last."""
    sizes: Sequence[int | None] = shape if shape is not None and ELLIPSIS not in items else (None,) * len(items)
    taken = [python_slice(item) if isinstance(item, SliceValue) else None for item in items]
    return all(
        cut is not None
        and cut.start in (None, 0)
        and cut.step in (None, 1)
        and (cut.stop is None or (size is None and cut.stop > 0))
        for cut, size in zip(taken, sizes, strict=False)
    )


def _write_item(m: Machine, target: Ref, value: Value) -> None:
    given, to = m.tensor(value), tensor_at(m, target.id).shape
    if given is not None and given.shape == () and to is not None and to != ():
        op(m, "fill_.Tensor", "setitem", self=target, value=value)
    elif given is not None or (isinstance(value, Unknown) and value.type is None):
        # A number, or a tensor that is one, is filled in.
        may_fill = to != () and (given is None or given.shape is None)
        (perhaps if may_fill else op)(m, "copy_", "setitem", self=target, src=_fitted(m, value, to))
    else:
        # Torch first turns the number into a tensor, and copies it if the sizes are equal.
        number = m.new_tensor((), None, what="number")
        if to == ():
            op(m, "copy_", "setitem", self=target, src=number)
        else:
            (op if to is not None else perhaps)(m, "fill_.Tensor", "setitem", self=target, value=number)


def _fitted(m: Machine, value: Value, to: Shape) -> Value:
    """A value of different, fully known sizes, without leading ones and expanded, as torch does before copying."""
    given = m.tensor(value)
    shape = given.shape if given is not None else None
    if shape is None or to is None or None in shape or None in to or shape == to:
        return value
    bare = _bare(shape)
    tail = to[len(to) - len(bare) :]
    if len(bare) > len(to) or any(size not in {1, wanted} for size, wanted in zip(bare, tail, strict=True)):
        return value
    viewed = op(m, "view", "setitem", self=value, size=sizes_value(bare))
    return viewed if bare == to else op(m, "expand", "setitem", self=viewed, size=sizes_value(to))


def _bare(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The sizes without leading ones."""
    ones = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return shape[ones:]


def _put(m: Machine, owner: Ref, items: list[Value], value: Value) -> None:
    """`x[mask] = v`: `index_put_`, in place on `x` itself or on the views taken first."""
    given = m.tensor(value)
    values = value if given is not None or isinstance(value, Unknown) else m.new_tensor((), None, what="number")
    if isinstance(value, Unknown) and value.type is not None:
        values = m.new_tensor((), None, what="number", parents=m.parents([value]))
    if given is not None and given.shape is not None and None not in given.shape[:1] and given.shape[:1] == (1,):
        values = op(m, "view", "setitem", self=value, size=sizes_value(_bare(given.shape)))
    # What nobody knows may be a slice or an integer, too, and nothing would be gathered.
    known = all(_is_basic(m, item) or _is_advanced(m, item) for item in items)
    run = op if known else perhaps
    run(m, "index_put_", "setitem", self=_views(m, owner, items), indices=_indices(m, items), values=values)
