"""Indexing a tensor: basic indices are views, one after the other; lists and tensors copy."""

from __future__ import annotations

from analyzers.domain.objects import Array, ListObj, Shape, Tensor
from analyzers.domain.values import NONE, Builtin, Const, RangeValue, Ref, SliceValue, Tup, Unknown, Value
from analyzers.machine.composites import op
from analyzers.machine.core import Machine
from analyzers.machine.factories import data_type
from analyzers.machine.subscripts import python_slice
from analyzers.machine.torch_calls import tensors_in, type_of_argument
from analyzers.ops.infer import UNKNOWN, ShapeError, TensorType, index_shape

ELLIPSIS = Const(...)


def _items(m: Machine, index: Value) -> list[Value]:
    return list(index.items) if isinstance(index, Tup) else [index]


def _is_basic(value: Value) -> bool:
    match value:
        case Const(value=v):
            return v is None or v is ... or (isinstance(v, int) and not isinstance(v, bool))
        case SliceValue():
            return True
        case Unknown(type="int"):
            return True
    return False


def _is_advanced(m: Machine, value: Value) -> bool:
    match value:
        case Const(value=bool()):
            return True
        case Ref():
            return isinstance(m.obj(value), Tensor | ListObj | Array)
        case Tup() | RangeValue():
            return True
    return False


def item_types(m: Machine, index: Value) -> list[object]:
    """An index as shape inference wants it."""
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


def indexed_shape(m: Machine, tensor: Tensor, index: Value):  # type: ignore[no-untyped-def]
    try:
        return index_shape(TensorType(tensor.shape, tensor.dtype), item_types(m, index))
    except ShapeError:
        return None


def index_tensor(m: Machine, owner: Ref, tensor: Tensor, index: Value) -> Value:
    items = _items(m, index)
    if all(_is_basic(i) for i in items):
        return basic_index(m, owner, items)
    shape = indexed_shape(m, tensor, index)
    if all(_is_basic(i) or _is_advanced(m, i) for i in items):
        current = _basic_part(m, owner, [i for i in items if _is_basic(i)]) if _has_views(items) else owner
        return _gather(m, current, items, shape)
    return _either(m, owner, items, shape)


def _has_views(items: list[Value]) -> bool:
    return any(_is_basic(i) and i != ELLIPSIS and not _full_slice(i) for i in items)


def _full_slice(item: Value) -> bool:
    return isinstance(item, SliceValue) and python_slice(item) == slice(None, None, None)


def _widened(shape: Shape, items: list[Value]) -> list[Value]:
    """The items of an assignment: torch does not slice where a slice from 0 on takes in a whole dimension."""
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


def _basic_part(m: Machine, owner: Ref, items: list[Value]) -> Ref:
    tensor = m.tensor(owner)
    if tensor is not None:
        from dataclasses import replace

        made = op(m, "alias", "index", self=owner)
        assert isinstance(made, Ref)
        found = m.tensor(made)
        assert found is not None
        m.st.put(made.id, replace(found, shape=None))
        return made
    return owner


def _gather(m: Machine, owner: Ref, items: list[Value], shape) -> Value:  # type: ignore[no-untyped-def]
    """`x[[0, 2]]`, `x[mask]`: a copy by `index`."""
    from analyzers.machine.torch_calls import run_row
    from analyzers.ops import table

    row = table.row("index.Tensor")
    assert row is not None
    indices = Tup(tuple(Ref(i) for item in items for i in tensors_in(m, item)))
    result = run_row(m, row, {"self": owner, "indices": indices}, what="index")
    found = m.tensor(result)
    source = m.tensor(owner)
    if found is not None:
        found.shape = shape
        found.dtype = source.dtype if source is not None else None
        found.contiguous = True if shape is not None else None
    return result


def _either(m: Machine, owner: Ref, items: list[Value], shape) -> Value:  # type: ignore[no-untyped-def]
    """An index of which nothing is known: a view or a copy."""
    from analyzers.machine.composites import maybe_view
    from analyzers.machine.tensors import Step, refreshed
    from analyzers.ops import table

    row = table.row("index.Tensor")
    assert row is not None
    tensor = refreshed(m, owner.id)
    step = Step("index", "index", {"self": (owner.id,)}, (), ("self",), "unknown", m.parents([owner]))
    step.requires = tensor.requires_grad
    result = maybe_view(m, row, {"self": owner}, step, None)
    found = m.tensor(result)
    if found is not None:
        found.dtype = tensor.dtype
        found.shape = shape
    return result


def basic_index(m: Machine, owner: Ref, items: list[Value]) -> Value:
    """Ints, slices, None and ... : one view after the other, as torch does."""
    tensor = m.tensor(owner)
    assert tensor is not None
    rank = len(tensor.shape) if tensor.shape is not None else None
    used = sum(not (i == NONE or i == ELLIPSIS) for i in items)
    current: Value = owner
    dim = 0
    viewed = False
    for position, item in enumerate(items):
        if item == ELLIPSIS:
            if rank is None:
                dim = -sum(i != NONE for i in items[position + 1 :]) if position + 1 < len(items) else 0
                if dim == 0:
                    break
                dim -= 0
                continue
            dim += rank - used
            continue
        if item == NONE:
            current = op(m, "unsqueeze", "index", self=current, dim=Const(dim))
            viewed = True
            dim += 1
        elif isinstance(item, SliceValue):
            if not _full_slice(item):
                start, stop, step = item.lower, item.upper, item.step
                current = op(
                    m, "slice.Tensor", "index", self=current, dim=Const(dim),
                    start=start, end=stop, step=Const(1) if step == NONE else step,
                )  # fmt: skip
                viewed = True
            dim += 1
        else:
            current = op(m, "select.int", "index", self=current, dim=Const(dim), index=item)
            viewed = True
    if not viewed:
        return op(m, "alias", "index", self=current)
    return current


def assign_index(m: Machine, owner: Ref, tensor: Tensor, index: Value, value: Value) -> None:
    items = _widened(tensor.shape, _items(m, index))
    if not all(_is_basic(i) for i in items):
        _put(m, owner, items, value)
        return
    whole = all(_full_slice(i) or i == ELLIPSIS for i in items)
    target: Value = owner if whole else basic_index(m, owner, items)
    if not isinstance(target, Ref):
        return
    from analyzers.machine.tensors import tensor_at

    given, to = m.tensor(value), tensor_at(m, target.id).shape
    if given is not None and given.shape == () and to is not None and to != ():
        op(m, "fill_.Tensor", "setitem", self=target, value=value)
    elif given is not None or (isinstance(value, Unknown) and value.type is None):
        if given is not None and _broadcasts(given.shape, to):
            value = op(m, "expand", "setitem", self=value, size=Tup(tuple(Const(size) for size in to or ())))
        op(m, "copy_", "setitem", self=target, src=value)
    else:
        # Torch makes a tensor of the number first.
        op(m, "fill_.Tensor", "setitem", self=target, value=m.new_tensor((), None, what="number"))


def _broadcasts(shape: Shape, to: Shape) -> bool:
    """Whether sizes, all known, are to be expanded: torch does so before it copies."""
    if shape is None or to is None or None in shape or None in to or len(shape) > len(to):
        return False
    tail = to[len(to) - len(shape) :]
    return shape != to and all(size in {1, wanted} for size, wanted in zip(shape, tail, strict=True))


def _put(m: Machine, owner: Ref, items: list[Value], value: Value) -> None:
    """`x[mask] = v`: `index_put_`, in place on `x` itself."""
    indices = Tup(tuple(Ref(i) for item in items for i in tensors_in(m, item)))
    current = _basic_part(m, owner, []) if _has_views(items) else owner
    values = (
        value if m.tensor(value) is not None or isinstance(value, Unknown) else m.new_tensor((), None, what="number")
    )
    if isinstance(value, Unknown) and value.type is not None:
        values = m.new_tensor((), None, what="number", parents=m.parents([value]))
    op(m, "index_put_", "setitem", self=current, indices=indices, values=values)


__all__ = ["Builtin", "assign_index", "basic_index", "index_tensor"]
