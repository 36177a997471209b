"""Tensors made from Python data: `torch.tensor`, `torch.as_tensor`, `torch.from_numpy`, `nn.Parameter`."""

from __future__ import annotations

from dataclasses import replace

from analyzers.domain.join import NUMBERS
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Array, Counter, ListObj, Shape, Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Const, RangeValue, Ref, Tup, Unknown, Value
from analyzers.machine.calls import Args
from analyzers.machine.core import Machine
from analyzers.machine.expressions import truth_of
from analyzers.machine.flags import flag_new
from analyzers.machine.tensors import refreshed, tensor_at
from analyzers.machine.torch_calls import call_torch, dtype_of, kind_of


def data_type(m: Machine, value: Value) -> tuple[Shape, str | None]:
    """The shape and dtype that `torch.tensor` gives to Python data."""
    match value:
        case Const(value=v):
            return (), _number_type(m, type(v).__name__)
        case Unknown(type=t):
            return ((), _number_type(m, t)) if t in NUMBERS else (None, None)
        case RangeValue():
            from analyzers.machine.iteration import length_of

            return (length_of(m, value),), "int64"
        case Tup(items=items):
            return _sequence_type(m, items, None)
        case Ref():
            found = m.obj(value)
            if isinstance(found, ListObj):
                return _sequence_type(m, found.items, found.rest)
            if isinstance(found, Tensor | Array):
                return found.shape, found.dtype
    return None, None


def _number_type(m: Machine, name: str | None) -> str | None:
    return {"int": "int64", "bool": "bool", "float": m.default_dtype, "complex": "complex64"}.get(name or "")


def _sequence_type(m: Machine, items: tuple[Value, ...], rest: Value | None) -> tuple[Shape, str | None]:
    if not items and rest is None:
        return (0,), m.default_dtype
    parts = [data_type(m, item) for item in (*items[:64], *((rest,) if rest is not None else ()))]
    shapes = {shape for shape, _ in parts}
    dtypes = {dtype for _, dtype in parts}
    size = len(items) if rest is None else None
    inner = shapes.pop() if len(shapes) == 1 else None
    order = ["bool", "int64", "float32", "float64", "complex64"]
    dtype: str | None = None
    if None not in dtypes and dtypes <= set(order):
        dtype = max((d for d in dtypes if d is not None), key=order.index)
    return (None if inner is None else (size, *inner)), dtype


def tensor_from_data(m: Machine, args: Args, default: str | None = None) -> Value:
    """`torch.tensor(data)`: always a copy, always a leaf."""
    data = args.get(0, "data")
    shape, dtype = data_type(m, data)
    wanted = args.get(1, "dtype") if len(args.pos) > 1 or "dtype" in args.kw else NONE
    dtype = (dtype_of(wanted) if wanted != NONE else None) or (default if wanted == NONE and default else dtype)
    if wanted != NONE and dtype_of(wanted) is None:
        dtype = None
    operands = _tensors_inside(m, data)
    cut: Cut | None = "left-torch" if any(refreshed(m, i).requires_grad for i in operands) else None
    trail = Lineage("torch.tensor", m.here(), m.parents([data]), cut, m.via())
    ref = m.new_tensor(shape, dtype, lineage=trail)
    wants = args.kw.get("requires_grad")
    if wants is not None:
        flag_new(m, ref, wants)
    elif args.open:
        m.st.put(ref.id, replace(tensor_at(m, ref.id), requires_grad=None))
    return ref


def legacy_tensor(m: Machine, args: Args, dtype: str | None) -> Value:
    """`torch.FloatTensor(...)` and `t.new(...)`: of a size, of data, or a view of the tensor it is given."""
    first = args.get(0, "size", Tup((Const(0),), "torch.Size"))
    if m.tensor(first) is not None:
        return call_torch(m, "aten.alias", [first], {})
    shape: Shape
    if isinstance(first, Tup) and first.kind == "torch.Size":
        shape = tuple(m.int_of(size) for size in first.items)
    elif kind_of(m, first) == "int":
        shape = tuple(m.int_of(size) for size in args.pos)
    elif isinstance(first, Unknown):
        shape = None
    else:
        shape = data_type(m, first)[0]
    return m.new_tensor(shape, dtype, what="Tensor", parents=m.parents(args.pos))


def _tensors_inside(m: Machine, value: Value) -> tuple[int, ...]:
    from analyzers.machine.torch_calls import tensors_in

    return tensors_in(m, value)


def as_tensor(m: Machine, args: Args) -> Value:
    """`torch.as_tensor`: the tensor itself, or shared memory with an array."""
    data = args.get(0, "data")
    if m.tensor(data) is not None:
        from analyzers.machine.composites import cast

        wanted = args.kw.get("dtype", NONE)
        return cast(m, data, "" if wanted == NONE else dtype_of(wanted), "as_tensor")
    if isinstance(m.obj(data), Array) and "dtype" not in args.kw:
        return from_array(m, data)
    return tensor_from_data(m, args)


def from_array(m: Machine, value: Value) -> Value:
    """`torch.from_numpy`: shares the array's memory, with a version counter of its own."""
    found = m.obj(value)
    if not isinstance(found, Array):
        return m.unknown_tensor(m.lineage(value), requires_grad=False)
    counter = m.fresh()
    m.st.put(counter, Counter())
    trail = Lineage("from_numpy", m.here(), (found.lineage,) if found.lineage else (), None, m.via())
    return m.new(
        Tensor(
            found.storage, counter, shape=found.shape, dtype=found.dtype, inference=m.st.inference, wrapper=counter,
            contiguous=found.contiguous, strides=found.strides, overlapping=found.overlapping, lineage=trail,
        )
    )  # fmt: skip


def parameter(m: Machine, args: Args) -> Value:
    """`nn.Parameter(data)`: a leaf of its own that shares the data's memory."""
    data = args.get(0, "data")
    wants = args.get(1, "requires_grad", TRUE)
    on = truth_of(m, wants)[0]
    tensor = m.tensor(data)
    if tensor is None:
        unknown = isinstance(data, Unknown)
        return m.new_tensor(None if unknown else (0,), None if unknown else m.default_dtype, requires_grad=on,
                           what="Parameter",
                           parents=m.parents([data]), parameter=True)  # fmt: skip
    assert isinstance(data, Ref)
    source = refreshed(m, data.id)
    from analyzers.machine.tensors import can_require_grad

    if on and can_require_grad(source.dtype) is False:
        from analyzers.machine.events import IntegerFlag

        raise m.throw(
            "RuntimeError", "Only Tensors of floating point and complex dtype can require gradients",
            IntegerFlag("Parameter", source.dtype, source.lineage),
        )  # fmt: skip
    cut: Cut | None = "rewrapped" if source.requires_grad and source.edge is not None else None
    trail = Lineage("Parameter", m.here(), (source.lineage,) if source.lineage else (), cut, m.via())
    counter = m.fresh()
    m.st.put(counter, Counter())
    return m.new(
        Tensor(
            source.storage, counter, requires_grad=on, shape=source.shape, dtype=source.dtype,
            contiguous=source.contiguous, strides=source.strides, offset=source.offset, wrapper=source.wrapper,
            parameter=True, lineage=trail,
        )
    )  # fmt: skip


__all__ = ["FALSE", "as_tensor", "from_array", "parameter", "tensor_from_data"]
