"""Shape operators that torch builds from views: `reshape`, `flatten`, `chunk`."""

from __future__ import annotations

from analyzers.domain.values import Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.views import layout_of
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import Bound, infer, ints, rank_of, shape_of, sizes_value, tensors_in
from analyzers.machine.operators.dispatch import kernel, op
from analyzers.machine.operators.opaque import maybe_view
from analyzers.machine.operators.recording import step_of
from analyzers.machine.operators.rows import run_row
from analyzers.ops import table
from analyzers.ops.infer import ShapeError, broadcast
from analyzers.ops.table import Row


def reshape(m: Machine, value: Value, sizes: Value, what: str) -> Value:
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref):
        return m.unknown_tensor()
    if tensor.contiguous is True:
        return op(m, "view", what, self=value, size=sizes)
    layout, shape = layout_of(tensor), _wanted_shape(m, value, sizes)
    if layout is not None and shape is not None:
        reshaped = layout.reshaped(shape)
        if reshaped is not None:
            return op(
                m, "_reshape_alias", what, self=value, size=ints(list(shape)), stride=ints(list(reshaped.strides))
            )
        copied = op(m, "clone", what, self=value, memory_format=Builtin("torch.contiguous_format"))
        return op(m, "_unsafe_view", what, self=copied, size=sizes)
    names = ("ReshapeAliasBackward0", "UnsafeViewBackward0", "ViewBackward0")
    return _doubtful_view(m, value, "view", {"self": value, "size": sizes}, names, what)


def _wanted_shape(m: Machine, value: Ref, sizes: Value) -> tuple[int, ...] | None:
    """The sizes of the result of `reshape(sizes)`, if all are known."""
    row = table.row("view")
    assert row is not None
    types = infer(m, row, {"self": value, "size": sizes})
    shape = types[0].shape if types else None
    known = tuple(size for size in shape or () if size is not None)
    return known if shape is not None and len(known) == len(shape) else None


def _doubtful_view(m: Machine, value: Ref, name: str, bound: Bound, names: tuple[str, ...], what: str) -> Value:
    """A view or a copy, depending on strides that the machine does not know."""
    row = table.row(name)
    assert row is not None
    step = step_of(m, row, bound, what)
    tensor = refreshed(m, value.id)
    step.requires = tensor.requires_grad
    step.names = names
    step.kind = "op"
    types = infer(m, row, bound)
    result = maybe_view(m, row, bound, step, types)
    found = m.tensor(result)
    if found is not None and m.st.grad is True:
        found.requires_grad = tensor.requires_grad
    return result


@kernel("reshape")
def _reshape(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return reshape(m, bound["self"], bound["shape"], what)


@kernel("view_as")
def _view_as(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = shape_of(m, bound["other"])
    if shape is None or None in shape:
        return None
    return op(m, "view", what, self=bound["self"], size=sizes_value(shape))


@kernel("reshape_as")
def _reshape_as(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = shape_of(m, bound["other"])
    if shape is None or None in shape:
        return None
    return reshape(m, bound["self"], sizes_value(shape), what)


@kernel("expand_as")
def _expand_as(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = shape_of(m, bound["other"])
    sizes: Value = Unknown() if shape is None else Tup(tuple(Unknown("int") if s is None else Const(s) for s in shape))
    return op(m, "expand", what, self=bound["self"], size=sizes)


@kernel("flatten")
def _flatten(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = shape_of(m, bound["self"])
    first, last = m.int_of(bound.get("start_dim", Const(0))), m.int_of(bound.get("end_dim", Const(-1)))
    if shape is None or first is None or last is None or row.overload != "using_ints":
        return None
    rank = len(shape)
    if rank == 0:
        return reshape(m, bound["self"], ints([1]), what)
    first, last = first % rank, last % rank
    if first == last:
        return bound["self"]
    merged: Value = Const(1)
    size = 1
    for s in shape[first : last + 1]:
        size = -1 if s is None or size == -1 else size * s
    merged = Const(size)
    sizes: list[Value] = [Unknown("int") if s is None else Const(s) for s in shape[:first]]
    sizes.append(merged)
    sizes += [Unknown("int") if s is None else Const(s) for s in shape[last + 1 :]]
    return reshape(m, bound["self"], Tup(tuple(sizes)), what)


@kernel("ravel")
def _ravel(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return reshape(m, bound["self"], ints([-1]), what)


@kernel("contiguous")
def _contiguous(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    tensor = m.tensor(bound["self"])
    if tensor is None or "memory_format" in bound:
        return None
    if tensor.contiguous is None:
        return None
    if tensor.contiguous:
        return bound["self"]
    return op(m, "clone", what, self=bound["self"], memory_format=Builtin("torch.contiguous_format"))


def _is_dim(dim: int, shape: tuple[int | None, ...]) -> bool:
    return -len(shape) <= dim < len(shape)


@kernel("narrow")
def _narrow(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    start, length = bound.get("start", Unknown()), bound.get("length", Unknown())
    end: Value = Unknown("int")
    first, count = m.int_of(start), m.int_of(length)
    if first is not None and count is not None:
        end = Const(first + count)
    elif m.tensor(start) is not None:
        start = Unknown("int")
    elif first is None and not isinstance(start, Unknown):
        return None
    result = op(m, "slice.Tensor", what, self=bound["self"], dim=bound["dim"], start=start, end=end)
    made, dim = m.tensor(result), m.int_of(bound["dim"])
    if made is not None and made.shape and dim is not None and count is not None and _is_dim(dim, made.shape):
        sizes = list(made.shape)
        sizes[dim] = count
        made.shape = tuple(sizes)
    return result


@kernel("chunk")
def _chunk(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = shape_of(m, bound["self"])
    dim = bound.get("dim", Const(0))
    number, at = m.int_of(bound.get("chunks", Unknown())), m.int_of(dim)
    if number is None or number < 1 or at is None or (shape is not None and not _is_dim(at, shape)):
        return None
    size = shape[at] if shape is not None else None
    if size is None:
        row_ = table.row("split.Tensor")
        assert row_ is not None
        return run_row(
            m, row_, {"self": bound["self"], "split_size": Unknown("int"), "dim": dim}, what=what, count=number
        )
    return op(m, "split.Tensor", what, self=bound["self"], split_size=Const(-(-size // number)), dim=dim)


@kernel("split")
def _split(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload != "sizes":
        return None
    return op(
        m, "split_with_sizes", what, self=bound["self"], split_sizes=bound["split_size"], dim=bound.get("dim", Const(0))
    )


@kernel("swapaxes", "swapdims")
def _swap(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    a = bound.get("axis0", bound.get("dim0", Unknown()))
    b = bound.get("axis1", bound.get("dim1", Unknown()))
    return op(m, "transpose.int", what, self=bound["self"], dim0=a, dim1=b)


@kernel("numpy_T", "matrix_H", "mT", "mH", "adjoint")
def _transposes(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    rank = rank_of(m, bound["self"])
    tensor = m.tensor(bound["self"])
    if tensor is None or rank is None:
        return None
    if row.base == "numpy_T":
        return op(m, "permute", what, self=bound["self"], dims=ints(list(range(rank))[::-1]))
    conjugates = row.base in {"matrix_H", "mH", "adjoint"}
    if conjugates and tensor.dtype is None:
        return None
    turned = op(m, "transpose.int", what, self=bound["self"], dim0=Const(-2), dim1=Const(-1))
    if conjugates and tensor.dtype is not None and tensor.dtype.startswith("complex"):
        return op(m, "_conj", what, self=turned)
    return turned


@kernel("broadcast_tensors")
def _broadcast(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    values = [Ref(i) for i in tensors_in(m, bound["tensors"])]
    shapes = [shape_of(m, v) for v in values]
    given = bound["tensors"]
    count = len(given.items) if isinstance(given, Tup) else len(getattr(m.obj(given), "items", ()))
    if count != len(values):
        return given if isinstance(given, Tup) else Tup(tuple(getattr(m.obj(given), "items", ())))
    if None in shapes or any(None in s for s in shapes if s is not None):
        # Assuming that they already have one shape loses nothing: expanding keeps the flags.
        return Tup(tuple(values))
    try:
        wanted = broadcast(*shapes)
    except ShapeError:
        return None
    return Tup(
        tuple(
            v if s == wanted else op(m, "expand", what, self=v, size=sizes_value(wanted))
            for v, s in zip(values, shapes, strict=True)
        )
    )
