"""Attributes of tensors: reading and setting them."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.domain.copies import replace
from analyzers.domain.lineage import PART
from analyzers.domain.objects import Counter, DictObj, Instance, Shape, Storage, Tensor
from analyzers.domain.values import FALSE, NONE, BoundBuiltin, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.accumulation import read_grad
from analyzers.machine.autograd.graph import refreshed, requires_grad_of
from analyzers.machine.autograd.likely_tensors import part_of
from analyzers.machine.autograd.requires_grad import set_flag
from analyzers.machine.autograd.versions import write_hidden
from analyzers.machine.autograd.views import check_readable, data_of
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS, Tensors
from analyzers.machine.core.registries import TUPLES, TupleModel
from analyzers.machine.core.signals import DataReplaced, GradientDropped, OwnAttributeSet, tell
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.linking import library_value
from analyzers.machine.objects.classes import bind, find_in_class
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.operators.dispatch import call_torch, sizes_of
from analyzers.machine.operators.opaque import unresolved
from analyzers.maps import Map
from analyzers.ops.resolve import python_names

VIEW_PROPERTIES = frozenset({"T", "mT", "H", "mH", "real", "imag"})


FLAGS = frozenset(
    {"is_cpu", "is_cuda", "is_leaf", "is_meta", "is_mps", "is_quantized", "is_sparse", "requires_grad", "retains_grad"}
)


PROPERTIES = VIEW_PROPERTIES | FLAGS | {"data", "device", "dtype", "grad", "grad_fn", "layout", "ndim", "shape"}
"""The attributes of a tensor that are not methods."""


def shape_value(shape: Shape) -> Value:
    if shape is None:
        return Unknown("torch.Size")
    return Tup(tuple(Unknown("int") if s is None else Const(s) for s in shape), "torch.Size")


def _grad_fn(m: Machine, owner: Ref) -> Value:
    check_readable(m, owner.id, "grad_fn")
    now = refreshed(m, owner.id)
    if now.requires_grad is False or (now.requires_grad and now.edge is None):
        return NONE
    return Unknown("grad_fn") if now.requires_grad and now.edge and now.edge.node else Unknown()


def _version(m: Machine, tensor: Tensor) -> Value:
    if tensor.inference:
        words = "Inference tensors do not track version counter."
        raise m.throw("RuntimeError", words, Plain("inference", tensor.lineage))
    counter = m.st.get(tensor.counter)
    assert isinstance(counter, Counter)
    known = counter.version is not None and counter.version < 1 << 31
    return Const(counter.version) if known else Unknown("int")


def tensor_attribute(m: Machine, owner: Ref, tensor: Tensor, name: str) -> Value:
    match name:
        case "grad" | "_grad":
            return read_grad(m, owner, tensor)
        case "requires_grad":
            known = requires_grad_of(m, owner.id)
            # Of parameters there are many: each would be another way.
            symbol = None if tensor.parameter else (owner.id, name)
            return Unknown("bool", symbol) if known is None else Const(known)
        case "is_leaf":
            check_readable(m, owner.id, name)
            leaf = refreshed(m, owner.id).is_leaf
            return Unknown("bool") if leaf is None else Const(leaf)
        case "data":
            return data_of(m, owner)
        case "shape":
            return shape_value(tensor.shape)
        case "ndim":
            return Unknown("int") if tensor.shape is None else Const(len(tensor.shape))
        case "dtype":
            return Unknown(None, (owner.id, name)) if tensor.dtype is None else Builtin("torch." + tensor.dtype)
        case "device":
            return m.new(Instance("torch.device", _NO_ATTRS))
        case "grad_fn":
            return _grad_fn(m, owner)
        case "_version":
            return _version(m, tensor)
        case "_base":
            return Ref(tensor.base) if tensor.base is not None else NONE
        case "retains_grad":
            return Const(tensor.retains_grad) if tensor.retains_grad is not None else Unknown("bool")
        case "is_sparse":
            return Unknown("bool") if tensor.sparse is None else Const(tensor.sparse)
        case "is_cuda" | "is_quantized" | "is_meta" | "is_mps":
            return FALSE if name != "is_cuda" else Unknown("bool")
        case "itemsize" | "nbytes":
            return Unknown("int")
        case "__class__":
            return Builtin("torch.nn.Parameter" if tensor.parameter else "torch.Tensor")
        case "__dict__":
            return m.new(DictObj(_NO_ATTRS_DICT, (), Unknown()))
    if name in tensor.attrs:
        return tensor.attrs[name]
    if name in VIEW_PROPERTIES and f"Tensor.{name}" in python_names():
        return call_torch(m, f"Tensor.{name}", [owner], {})
    if tensor.cls is not None:
        value = find_in_class(m, tensor.cls, name)
        if value is not None:
            return bind(m, value, owner, Ref(tensor.cls))
    if name in METHODS or f"Tensor.{name}" in python_names():
        return BoundBuiltin(owner, name)
    if tensor.presumed and not name.startswith("_"):
        return part_of(m, tensor, PART)
    return Unknown() if name.startswith("_") else BoundBuiltin(owner, name)


_PROPERTIES = FLAGS | {
    "data", "device", "dtype", "grad", "grad_fn", "itemsize", "layout", "name", "nbytes", "ndim", "output_nr", "shape"
}  # fmt: skip


def surely_has(tensor: Tensor, name: str) -> bool:
    """Whether a tensor, of whatever class, has an attribute of this name."""
    return name in tensor.attrs or _have(name)


def _have(name: str) -> bool:
    return name in _PROPERTIES or name in METHODS or f"Tensor.{name}" in python_names()


class TensorNames(Tensors):
    def have(self, name: str) -> bool:
        return _have(name)


PORTS.tensors = TensorNames()

_NO_ATTRS: Map[str, Value] = Map()


_NO_ATTRS_DICT: Map[Value, Value] = Map()


def _check_gradient(m: Machine, tensor: Tensor, value: Value) -> None:
    """A tensor assigned to `.grad` must match the tensor's size and type."""
    given = m.tensor(value)
    if given is None:
        return
    sizes = [tensor.shape, given.shape]
    if tensor.shape != given.shape and not any(shape is None or None in shape for shape in sizes):
        message = "attempting to assign a gradient of size"
    elif tensor.dtype != given.dtype and tensor.dtype is not None and given.dtype is not None:
        message = "attempting to assign a gradient with dtype"
    else:
        return
    raise m.throw("RuntimeError", message, Plain("gradient", given.lineage))


def set_tensor_attribute(m: Machine, owner: Ref, tensor: Tensor, name: str, value: Value) -> None:
    match name:
        case "requires_grad":
            set_flag(m, owner, truth_of(m, value)[0], method=False)
        case "grad" | "_grad":
            if value == NONE and isinstance(tensor.grad, Ref):
                tell(m, GradientDropped(tensor.grad.id))
            _check_gradient(m, tensor, value)
            m.st.put(owner.id, replace(tensor, grad=value))
        case "data":
            _set_data(m, owner, tensor, value)
        case _:
            tell(m, OwnAttributeSet(name, module=False))
            m.st.put(owner.id, replace(tensor, attrs=tensor.attrs.set(name, value)))


def _set_data(m: Machine, owner: Ref, tensor: Tensor, value: Value) -> None:
    """`t.data = v`: `t` takes over the memory of `v`; if `t` was saved as an input, the new memory is what backward now
    reads."""
    given = m.tensor(value)
    tell(m, DataReplaced(owner.id, m.parents([value])))
    write_hidden(m, tensor.storage, ".data =")
    if given is None:
        m.st.put(
            owner.id, replace(tensor, shape=None, dtype=None, storage=_new_storage(m), contiguous=None, strides=None)
        )
        return
    m.st.put(
        owner.id,
        replace(
            tensor,
            shape=given.shape,
            dtype=given.dtype,
            storage=given.storage,
            contiguous=given.contiguous,
            strides=given.strides,
            offset=given.offset,
            wrapper=given.wrapper,
            overlapping=given.overlapping,
        ),
    )


def _new_storage(m: Machine) -> int:
    storage = m.fresh()
    m.st.put(storage, Storage())
    return storage


Method = Callable[[Machine, Ref, Args], Value]


METHODS: dict[str, Method] = {}


def method(*names: str) -> Callable[[Method], Method]:
    def add(handler: Method) -> Method:
        for name in names:
            enter(METHODS, name, handler)
        return handler

    return add


def call_tensor_method(m: Machine, owner: Ref, name: str, args: Args) -> Value:
    handler = METHODS.get(name)
    if handler is not None:
        return handler(m, owner, args)
    in_python = m.config.program.library(f"tensor-methods.{name}")
    if in_python is not None:
        return call(m, library_value(m, in_python), args.prepend(owner))
    if f"Tensor.{name}" in python_names():
        if args.open:
            if (sizes := sizes_of(m, f"Tensor.{name}", args.prepend(owner))) is not None:
                return call_torch(m, f"Tensor.{name}", sizes, args.kw)
            return unresolved(m, f"Tensor.{name}", [owner, *args.pos], args.kw)
        return call_torch(m, f"Tensor.{name}", [owner, *args.pos], args.kw)
    if name.startswith("__"):
        return Unknown()
    return unknown_call(m, BoundBuiltin(owner, name), args)


class SizeModel(TupleModel):
    """`torch.Size`."""

    sliced = True

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value | None:
        if name != "numel" or not isinstance(owner, Tup):
            return None
        total = 1
        for item in owner.items:
            if not isinstance(item, Const) or not isinstance(item.value, int):
                return Unknown("int")
            total *= item.value
        return Const(total)


enter(TUPLES, "torch.Size", SizeModel())
