"""Tensor attributes and the tensor methods that are more than an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Array, Counter, DictObj, Edge, HeapObject, Instance, Shape, Storage, Tensor
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundBuiltin,
    Builtin,
    Const,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.calls import Args
from analyzers.machine.composites import number_from
from analyzers.machine.core import Machine
from analyzers.machine.events import NumpyOnGraph, Plain
from analyzers.machine.gathered import dropped, look_at_write
from analyzers.machine.tensors import (
    bump,
    check_readable,
    refreshed,
    requires_grad_of,
    subject_name,
    tensor_at,
    write_hidden,
)
from analyzers.machine.torch_calls import call_torch
from analyzers.machine.uses import let_go
from analyzers.ops.infer import numel
from analyzers.ops.resolve import python_names

TENSOR_ONLY = frozenset(
    [
        "backward",
        "detach",
        "detach_",
        "requires_grad_",
        "retain_grad",
        "zero_",
        "item",
        "numpy",
        "clone",
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "permute",
        "transpose",
        "contiguous",
        "flatten",
        "softmax",
        "log_softmax",
        "sigmoid",
        "relu",
        "tanh",
        "argmax",
        "masked_fill",
        "masked_fill_",
        "add_",
        "mul_",
        "sub_",
        "div_",
        "copy_",
        "fill_",
        "normal_",
        "uniform_",
        "clamp_",
        "clamp_min",
        "clamp_max",
        "matmul",
        "bmm",
        "mm",
        "gather",
        "scatter",
        "scatter_",
        "index_select",
        "expand",
        "expand_as",
        "unbind",
        "chunk",
        "logsumexp",
        "new_zeros",
        "new_ones",
        "new_tensor",
        "new_full",
        "float",
        "double",
        "half",
        "long",
    ]
)
"""Methods that, called on something unknown, say that it is a tensor."""

VIEW_PROPERTIES = frozenset({"T", "mT", "H", "mH", "real", "imag"})
FLAGS = frozenset(
    {"is_cpu", "is_cuda", "is_leaf", "is_meta", "is_mps", "is_quantized", "is_sparse", "requires_grad", "retains_grad"}
)
PROPERTIES = VIEW_PROPERTIES | FLAGS | {"data", "device", "dtype", "grad", "grad_fn", "layout", "ndim", "shape"}
"""What a tensor has that is no method."""


def shape_value(shape: Shape) -> Value:
    if shape is None:
        return Unknown("torch.Size")
    return Tup(tuple(Unknown("int") if s is None else Const(s) for s in shape), "torch.Size")


def tensor_attribute(m: Machine, owner: Ref, tensor: Tensor, name: str) -> Value:
    match name:
        case "grad":
            from analyzers.machine.grads import read_grad

            return read_grad(m, owner, tensor)
        case "requires_grad":
            known = requires_grad_of(m, owner.id)
            return Unknown("bool") if known is None else Const(known)
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
            return Unknown() if tensor.dtype is None else Builtin("torch." + tensor.dtype)
        case "device":
            return m.new(Instance("torch.device", _NO_ATTRS))
        case "grad_fn":
            check_readable(m, owner.id, name)
            now = refreshed(m, owner.id)
            if now.requires_grad is False or (now.requires_grad and now.edge is None):
                return NONE
            return Unknown("grad_fn") if now.requires_grad and now.edge and now.edge.node else Unknown()
        case "_version":
            if tensor.inference:
                raise m.throw(
                    "RuntimeError",
                    "Inference tensors do not track version counter.",
                    Plain("inference", tensor.lineage),
                )
            counter = m.st.get(tensor.counter)
            assert isinstance(counter, Counter)
            return (
                Const(counter.version) if counter.version is not None and counter.version < 1 << 31 else Unknown("int")
            )
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
        from analyzers.machine.attributes import bind, find_in_class

        value = find_in_class(m, tensor.cls, name)
        if value is not None:
            return bind(m, value, owner, Ref(tensor.cls))
    if name in METHODS or f"Tensor.{name}" in python_names():
        return BoundBuiltin(owner, name)
    if tensor.presumed and not name.startswith("_"):
        from analyzers.machine.presumed import part_of

        return part_of(m, tensor)
    return Unknown() if name.startswith("_") else BoundBuiltin(owner, name)


from immutables import Map  # noqa: E402

_NO_ATTRS: Map[str, Value] = Map()
_NO_ATTRS_DICT: Map[Value, Value] = Map()


def data_of(m: Machine, owner: Ref) -> Ref:
    """`t.data`: the same memory, a version counter and a history of its own."""
    counter = m.fresh()
    m.st.put(counter, Counter())
    return _without_history(m, owner, "data", counter)


def detach(m: Machine, owner: Ref) -> Ref:
    """`t.detach()`: the same memory and version counter, no history."""
    return _without_history(m, owner, "detach", tensor_at(m, owner.id).counter)


def _without_history(m: Machine, owner: Ref, what: Literal["data", "detach"], counter: int) -> Ref:
    tensor = refreshed(m, owner.id)
    if tensor.edge is not None:
        let_go(m, tensor)
    cut: Cut | None = what if tensor.requires_grad else None
    lineage = Lineage(what, m.here(), (tensor.lineage,) if tensor.lineage else (), cut, m.via())
    return m.new(
        Tensor(
            tensor.storage, counter, shape=tensor.shape, dtype=tensor.dtype, contiguous=tensor.contiguous,
            inference=tensor.inference, creation="detached" if m.st.inference is False else "default",
            overlapping=tensor.overlapping, strides=tensor.strides, offset=tensor.offset, wrapper=tensor.wrapper,
            lineage=lineage,
        )
    )  # fmt: skip


def _check_gradient(m: Machine, tensor: Tensor, value: Value) -> None:
    """What is assigned to `.grad` is of the size and the type of the tensor."""
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
            from analyzers.machine.flags import set_flag

            set_flag(m, owner, value, method=False)
        case "grad":
            if value == NONE and isinstance(tensor.grad, Ref):
                dropped(m, tensor.grad.id)
            _check_gradient(m, tensor, value)
            m.st.put(owner.id, replace(tensor, grad=value))
        case "data":
            _set_data(m, owner, tensor, value)
        case _:
            from analyzers.machine.flags import note_misspelt

            note_misspelt(m, name, module=False)
            m.st.put(owner.id, replace(tensor, attrs=tensor.attrs.set(name, value)))


def _set_data(m: Machine, owner: Ref, tensor: Tensor, value: Value) -> None:
    """`t.data = v`: `t` gets the memory of `v`; what was saved of `t` as an input now reads the new memory."""
    given = m.tensor(value)
    look_at_write(m, owner.id, m.parents([value]))
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


# --- methods ----------------------------------------------------------------------------------------------------

Method = Callable[[Machine, Ref, Args], Value]
METHODS: dict[str, Method] = {}


def method(*names: str) -> Callable[[Method], Method]:
    def add(handler: Method) -> Method:
        for name in names:
            METHODS[name] = handler
        return handler

    return add


def call_tensor_method(m: Machine, owner: Ref, name: str, args: Args) -> Value:
    handler = METHODS.get(name)
    if handler is not None:
        return handler(m, owner, args)
    in_python = m.program.library(f"tensor-methods.{name}")
    if in_python is not None:
        from analyzers.machine.calls import call
        from analyzers.machine.imports import library_value

        return call(m, library_value(m, in_python), args.prepend(owner))
    if f"Tensor.{name}" in python_names():
        if args.open:
            from analyzers.machine.torch_calls import unresolved

            return unresolved(m, f"Tensor.{name}", [owner, *args.pos], args.kw)
        return call_torch(m, f"Tensor.{name}", [owner, *args.pos], args.kw)
    from analyzers.machine.calls import unknown_call

    if name.startswith("__"):
        return Unknown()
    return unknown_call(m, BoundBuiltin(owner, name), args)


BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")
"""The parameters of `Tensor.backward`."""


@method("backward")
def _backward(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.backward import run_backward, truth_value

    unknown = next((name for name in args.kw if name not in BACKWARD), None)
    if unknown is not None:
        raise m.throw("TypeError", f"Tensor.backward() got an unexpected keyword argument '{unknown}'")
    gradient = args.get(0, "gradient")
    create_value = args.get(2, "create_graph", FALSE)
    retain_value = args.get(1, "retain_graph", NONE)
    create = truth_value(m, create_value)
    retain = create if retain_value == NONE else truth_value(m, retain_value)
    inputs_value = args.get(3, "inputs")
    run_backward(m, [(owner, gradient)], retain, create, tensor_list(m, inputs_value), subject_name(m))
    return NONE


def tensor_list(m: Machine, value: Value) -> list[Value] | None:
    """The tensors of an argument that may be one, or a sequence of them; None when there is none."""
    if value == NONE:
        return None
    if m.tensor(value) is not None:
        return [value]
    from analyzers.machine.iteration import stream_of

    stream = stream_of(m, value).drained(m)
    return [*stream.items, *((stream.rest,) if stream.rest is not None else ())]


@method("detach")
def _detach(m: Machine, owner: Ref, args: Args) -> Value:
    return detach(m, owner)


@method("detach_")
def _detach_in_place(m: Machine, owner: Ref, args: Args) -> Value:
    tensor = refreshed(m, owner.id)
    if tensor.base is not None and tensor.requires_grad is not None:
        raise m.throw(
            "RuntimeError", "Can't detach views in-place. Use detach() instead", Plain("detach-view", tensor.lineage)
        )
    if tensor.base is not None:
        return owner
    cut: Cut | None = "detach" if tensor.requires_grad else None
    lineage = Lineage("detach_", m.here(), (tensor.lineage,) if tensor.lineage else (), cut, m.via())
    hooks = tensor.hooks
    if tensor.edge is not None and tensor.edge.node is not None:
        hooks = dict(m.node(tensor.edge.node).hooks).get(tensor.edge.output)
    m.st.put(owner.id, replace(tensor, requires_grad=False, edge=None, hooks=hooks, lineage=lineage))
    return owner


@method("requires_grad_")
def _requires_grad(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.flags import set_flag

    set_flag(m, owner, args.get(0, "requires_grad", TRUE), method=True)
    return owner


@method("retain_grad")
def _retain_grad(m: Machine, owner: Ref, args: Args) -> Value:
    tensor = refreshed(m, owner.id)
    if tensor.requires_grad is False:
        raise m.throw(
            "RuntimeError", "can't retain_grad on Tensor that has requires_grad=False", Plain("", tensor.lineage)
        )
    check_readable(m, owner.id, "retain_grad")
    if tensor.is_leaf is not True:
        m.st.put(owner.id, replace(tensor, retains_grad=True))
        m.retain(owner.id)
    return NONE


@method("numpy", "__array__")
def _numpy(m: Machine, owner: Ref, args: Args) -> Value:
    tensor = refreshed(m, owner.id)
    force = args.get(0, "force", FALSE)
    if tensor.requires_grad and force == FALSE and m.st.grad is True:
        raise m.throw(
            "RuntimeError",
            "Can't call numpy() on Tensor that requires grad",
            NumpyOnGraph(subject_name(m), tensor.lineage),
        )
    trail = Lineage("numpy", m.here(), (tensor.lineage,) if tensor.lineage else (), _left(tensor), m.via())
    return m.new(replace(array_over(tensor), lineage=trail))


def array_over(tensor: Tensor) -> Array:
    """A numpy array of the same elements, at the same places."""
    return Array(
        tensor.storage, tensor.shape, tensor.dtype, tensor.contiguous, tensor.strides, tensor.overlapping,
        tensor.lineage, bool(tensor.shape),
    )  # fmt: skip


def _left(tensor: Tensor) -> Cut | None:
    return "left-torch" if tensor.requires_grad else None


@method("item", "__float__", "__int__", "__index__", "__complex__")
def _item(m: Machine, owner: Ref, args: Args) -> Value:
    return number_from(m, owner, "item")


@method("__bool__")
def _bool(m: Machine, owner: Ref, args: Args) -> Value:
    return Unknown("bool")


@method("tolist")
def _tolist(m: Machine, owner: Ref, args: Args) -> Value:
    tensor = tensor_at(m, owner.id)
    number = number_from(m, owner, "tolist")
    return numbers(m, tensor.shape, number)


def numbers(m: Machine, shape: Shape, number: Value, at: tuple[int, ...] = ()) -> Value:
    """Nested lists of one unknown number, in a tensor's shape."""
    from analyzers.domain.objects import ListObj

    if shape == ():
        if isinstance(number, Unknown) and number.symbol is not None:
            return Unknown(number.type, (number.symbol, at), number.lineage)
        return number
    if shape is None:
        return Unknown(None, None, number.lineage if isinstance(number, Unknown) else None)
    size = shape[0]
    if size is None or size > 32:
        plain = Unknown(number.type, None, number.lineage) if isinstance(number, Unknown) else number
        return m.new(ListObj((), numbers(m, shape[1:], plain)))
    return m.new(ListObj(tuple(numbers(m, shape[1:], number, (*at, i)) for i in range(size))))


@method("size")
def _size(m: Machine, owner: Ref, args: Args) -> Value:
    shape = tensor_at(m, owner.id).shape
    dim = args.get(0, "dim")
    if dim == NONE:
        return shape_value(shape)
    if shape is None or not isinstance(dim, Const) or not isinstance(dim.value, int):
        return Unknown("int")
    if not -len(shape) <= dim.value < len(shape):
        return Unknown("int")
    size = shape[dim.value]
    return Unknown("int") if size is None else Const(size)


@method("dim", "ndimension")
def _dim(m: Machine, owner: Ref, args: Args) -> Value:
    shape = tensor_at(m, owner.id).shape
    return Unknown("int") if shape is None else Const(len(shape))


@method("numel", "nelement", "__len__")
def _numel(m: Machine, owner: Ref, args: Args) -> Value:
    count = numel(tensor_at(m, owner.id).shape)
    return Unknown("int") if count is None else Const(count)


@method("element_size", "data_ptr", "stride", "storage_offset", "get_device", "untyped_storage", "storage")
def _numbers(m: Machine, owner: Ref, args: Args) -> Value:
    return Unknown()


@method("is_floating_point")
def _is_floating_point(m: Machine, owner: Ref, args: Args) -> Value:
    dtype = tensor_at(m, owner.id).dtype
    return Unknown("bool") if dtype is None else Const(dtype.startswith(("float", "bfloat")))


@method("is_complex")
def _is_complex(m: Machine, owner: Ref, args: Args) -> Value:
    dtype = tensor_at(m, owner.id).dtype
    return Unknown("bool") if dtype is None else Const(dtype.startswith("complex"))


@method("is_contiguous")
def _is_contiguous(m: Machine, owner: Ref, args: Args) -> Value:
    known = tensor_at(m, owner.id).contiguous
    return Unknown("bool") if known is None or args.all() or args.open else Const(known)


@method("is_pinned", "is_shared", "is_inference", "equal", "allclose", "is_same_size")
def _verdicts(m: Machine, owner: Ref, args: Args) -> Value:
    return Unknown("bool")


@method("register_hook")
def _register_hook(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.hooks import add_hook, table_before

    _check_hookable(m, owner)
    return add_hook(m, table_before(m, owner), args.get(0, "hook"))


@method("register_post_accumulate_grad_hook")
def _register_hook_after(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.hooks import add_hook, table_after

    _check_hookable(m, owner)
    tensor = refreshed(m, owner.id)
    if tensor.is_leaf is False:
        raise m.throw(
            "RuntimeError",
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
            Plain("", tensor.lineage),
        )
    return add_hook(m, table_after(m, owner), args.get(0, "hook"))


def _check_hookable(m: Machine, owner: Ref) -> None:
    tensor = refreshed(m, owner.id)
    if tensor.requires_grad is False:
        raise m.throw(
            "RuntimeError",
            "cannot register a hook on a tensor that doesn't require gradient",
            Plain("", tensor.lineage),
        )
    check_readable(m, owner.id, "register_hook")


@method("cuda", "cpu", "pin_memory", "share_memory_", "xpu", "mps", "npu")
def _moves(m: Machine, owner: Ref, args: Args) -> Value:
    return owner


@method("to")
def _to(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.composites import cast
    from analyzers.machine.torch_calls import dtype_of

    dtype: str | None = ""
    flags = [value for value in args.pos if isinstance(value, Const) and isinstance(value.value, bool)]
    copy = args.kw.get("copy", flags[1] if len(flags) > 1 else FALSE)
    for value in args.all():
        found = dtype_of(value)
        if found is not None:
            dtype = found
            continue
        other = m.tensor(value)
        if other is not None:
            dtype = other.dtype
        elif isinstance(value, Unknown) and value.type is None and not is_device(m, value):
            dtype = None
    if args.open:
        dtype = None
    return cast(m, owner, dtype, "to", copy, args.kw.get("memory_format", NONE))


def is_device(m: Machine, value: Value) -> bool:
    """Whether an argument of `to` is a device, by far most often: its name says so, or all else that it may be is."""
    if not isinstance(value, Unknown):
        return _is_torch_device(m.obj(value))
    named = str(value.symbol).lower() if value.symbol is not None else ""
    return "device" in named or (bool(value.reach) and all(_is_torch_device(m.st.find(i)) for i in value.reach))


def _is_torch_device(found: HeapObject | None) -> bool:
    return isinstance(found, Instance) and found.cls == "torch.device"


@method("resize_", "resize_as_")
def _resize(m: Machine, owner: Ref, args: Args) -> Value:
    """A write, unless the sizes are as they were."""
    tensor = tensor_at(m, owner.id)
    other = m.tensor(args.get(0, "the_template"))
    shape: Shape = None
    if other is not None:
        shape = other.shape
    else:
        given = args.pos[0] if len(args.pos) == 1 else args.kw.get("size", Tup(tuple(args.pos)))
        items = given.items if isinstance(given, Tup) else (given,)
        sizes = tuple(m.int_of(item) for item in items)
        shape = sizes if all(size is not None for size in sizes) else None
    if refreshed(m, owner.id).requires_grad and m.st.grad is not None:
        raise m.throw("RuntimeError", "cannot resize variables that require grad", Plain("", tensor.lineage))
    known = shape is not None and tensor.shape is not None and None not in (shape + tensor.shape)
    if known and shape == tensor.shape:
        return owner
    if not known:
        return _unknown_write(m, owner, args)
    bump(m, owner.id, "resize_")
    now = tensor_at(m, owner.id)
    m.st.put(owner.id, replace(now, shape=shape, contiguous=True, strides=None, offset=None))
    return owner


@method("apply_", "map_", "set_")
def _unknown_write(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.tensors import blur_tensor

    blur_tensor(m, owner.id)
    m.st.put(owner.id, replace(tensor_at(m, owner.id), shape=None))
    return owner


@method("new_tensor")
def _new_tensor(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.factories import tensor_from_data

    return tensor_from_data(m, args, default=tensor_at(m, owner.id).dtype)


@method("new")
def _new(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.factories import legacy_tensor

    return legacy_tensor(m, args, tensor_at(m, owner.id).dtype)


@method("as_subclass")
def _as_subclass(m: Machine, owner: Ref, args: Args) -> Value:
    return owner


@method("copy_")
def _copy(m: Machine, owner: Ref, args: Args) -> Value:
    return call_torch(m, "Tensor.copy_", [owner, args.get(0, "src")], {})


@method("type")
def _type(m: Machine, owner: Ref, args: Args) -> Value:
    from analyzers.machine.composites import cast
    from analyzers.machine.torch_calls import dtype_of

    if not args.pos and not args.kw:
        return Unknown("str")
    return cast(m, owner, dtype_of(args.get(0, "dtype")), "type")


def _cast_method(name: str, dtype: str) -> None:
    def handler(m: Machine, owner: Ref, args: Args) -> Value:
        from analyzers.machine.composites import cast

        return cast(m, owner, dtype, name, form=args.get(0, "memory_format", NONE))

    METHODS[name] = handler


for _name, _dtype in {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64",
    "cdouble": "complex128",
}.items():  # fmt: skip
    _cast_method(_name, _dtype)


@method("__rtruediv__", "__rdiv__")
def _rtruediv(m: Machine, owner: Ref, args: Args) -> Value:
    """`1 / x` is `x.reciprocal() * 1`."""
    inverse = call_torch(m, "Tensor.reciprocal", [owner], {})
    return call_torch(m, "Tensor.mul", [inverse, args.get(0, "other")], {})


@method("split")
def _split(m: Machine, owner: Ref, args: Args) -> Value:
    size = args.get(0, "split_size")
    kw: dict[str, Value] = {"dim": args.get(1, "dim", Const(0))}
    return call_torch(m, "Tensor.split", [owner, size], kw)


__all__ = ["Edge", "call_tensor_method", "data_of", "detach", "shape_value", "tensor_attribute", "tensor_list"]
