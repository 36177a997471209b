"""Tensors created from Python data: `torch.tensor`, `torch.as_tensor`, `torch.from_numpy`, `nn.Parameter`."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Array, Counter, Shape, Tensor
from analyzers.domain.values import NONE, TRUE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.requires_grad import flag_new
from analyzers.machine.autograd.tensors import can_require_grad, tensor_at
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import IntegerFlag
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.operators.arguments import data_type, dtype_of, kind_of, tensors_in
from analyzers.machine.operators.casts import cast
from analyzers.machine.operators.devices import may_be_elsewhere
from analyzers.machine.operators.dispatch import call_torch
from analyzers.machine.operators.opaque import opaque_result


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
        flag_new(m, ref, truth_of(m, wants)[0])
    elif args.open:
        m.st.put(ref.id, replace(tensor_at(m, ref.id), requires_grad=None))
    if may_be_elsewhere(m, args.kw.get("device", NONE)):
        m.st.put(ref.id, replace(tensor_at(m, ref.id), moved=True))
    return ref


def legacy_tensor(m: Machine, args: Args, dtype: str | None) -> Value:
    """`torch.FloatTensor(...)` and `t.new(...)`: of a given size, from data, or a view of a given tensor."""
    first = args.get(0, "size", Tup((Const(0),), "torch.Size"))
    if m.tensor(first) is not None:
        return call_torch(m, "aten.alias", [first], {})
    shape: Shape
    if isinstance(first, Tup) and first.kind == "torch.Size":
        shape = tuple(m.int_of(size) for size in first.items)
    elif kind_of(m, first) == "int":
        shape = tuple(m.int_of(size) for size in args.pos)
    elif isinstance(first, Unknown):
        if len(args.pos) == 1 and can_require_grad(dtype) is not False and _may_be_tensor(m, first):
            made = opaque_result(m, "Tensor", [first])
            tensor_at(m, made.id).dtype = dtype
            return made
        shape = None
    else:
        shape = data_type(m, first)[0]
    return m.new_tensor(shape, dtype, what="Tensor", parents=m.parents(args.pos))


def _may_be_tensor(m: Machine, value: Value) -> bool:
    """Whether what nobody knows may be a tensor with a graph; data is presumed to be plain."""
    return isinstance(value, Unknown) and value.type in {None, "tensor"} and not m.config.presumes


def _tensors_inside(m: Machine, value: Value) -> tuple[int, ...]:
    return tensors_in(m, value)


def as_tensor(m: Machine, args: Args) -> Value:
    """`torch.as_tensor`: the tensor itself, or memory shared with an array."""
    data = args.get(0, "data")
    if m.tensor(data) is not None:
        wanted = args.kw.get("dtype", NONE)
        return cast(m, data, "" if wanted == NONE else dtype_of(wanted), "as_tensor")
    if isinstance(m.obj(data), Array) and "dtype" not in args.kw:
        return from_array(m, data)
    if _may_be_tensor(m, data):
        return opaque_result(m, "as_tensor", [data])
    return tensor_from_data(m, args)


def from_array(m: Machine, value: Value) -> Value:
    """`torch.from_numpy`: shares the array's memory, but has its own version counter."""
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
    """`nn.Parameter(data)`: a new leaf that shares the data's memory."""
    data = args.get(0, "data")
    wants = args.get(1, "requires_grad", TRUE)
    on = truth_of(m, wants)[0]
    tensor = m.tensor(data)
    if tensor is None:
        unknown = isinstance(data, Unknown)
        return m.new_tensor(None if unknown else (0,), None if unknown else m.indexes.default_dtype, requires_grad=on,
                           what="Parameter",
                           parents=m.parents([data]), parameter=True)  # fmt: skip
    assert isinstance(data, Ref)
    source = refreshed(m, data.id)
    if on and can_require_grad(source.dtype) is False:
        raise m.throw(
            "RuntimeError", "Only Tensors of floating point and complex dtype can require gradients",
            IntegerFlag("", source.dtype, source.lineage),
        )  # fmt: skip
    cut: Cut | None = "rewrapped" if source.requires_grad and source.edge is not None else None
    trail = Lineage("Parameter", m.here(), (source.lineage,) if source.lineage else (), cut, m.via())
    counter = m.fresh()
    m.st.put(counter, Counter())
    return m.new(
        Tensor(
            source.storage, counter, requires_grad=on, shape=source.shape, dtype=source.dtype,
            contiguous=source.contiguous, strides=source.strides, offset=source.offset, wrapper=source.wrapper,
            parameter=True, moved=source.moved, lineage=trail,
        )
    )  # fmt: skip
