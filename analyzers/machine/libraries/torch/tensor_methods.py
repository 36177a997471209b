"""Methods of tensors that do more than run an operator."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Array, ListObj, Shape, Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.accumulation import keep_grad
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.likely_tensors import has_no_graph, may_be_beside
from analyzers.machine.autograd.requires_grad import set_flag
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import blur_tensor, bump
from analyzers.machine.autograd.views import check_readable, detach
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import NumpyOnGraph, Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.torch.factories import legacy_tensor, tensor_from_data
from analyzers.machine.libraries.torch.tensor_attributes import METHODS, method, shape_value
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.operators.arguments import dtype_of
from analyzers.machine.operators.casts import cast, number_from
from analyzers.machine.operators.devices import is_device, may_be_elsewhere
from analyzers.machine.operators.dispatch import call_torch
from analyzers.ops.infer import numel


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
    set_flag(m, owner, truth_of(m, args.get(0, "requires_grad", TRUE))[0], method=True)
    return owner


@method("retain_grad")
def _retain_grad(m: Machine, owner: Ref, args: Args) -> Value:
    tensor = refreshed(m, owner.id)
    if has_no_graph(m, tensor):
        raise m.throw(
            "RuntimeError", "can't retain_grad on Tensor that has requires_grad=False", Plain("", tensor.lineage)
        )
    check_readable(m, owner.id, "retain_grad")
    keep_grad(m, owner.id)
    return NONE


@method("numpy", "__array__")
def _numpy(m: Machine, owner: Ref, args: Args) -> Value:
    tensor = refreshed(m, owner.id)
    force = args.get(0, "force", FALSE)
    if tensor.requires_grad and force == FALSE and m.st.grad is True and not may_be_beside(m, tensor.lineage):
        raise m.throw(
            "RuntimeError",
            "Can't call numpy() on Tensor that requires grad",
            NumpyOnGraph(subject_name(m, owner), tensor.lineage),
        )
    trail = Lineage("numpy", m.here(), (tensor.lineage,) if tensor.lineage else (), _left(tensor), m.via())
    return m.new(replace(array_over(tensor), lineage=trail))


def array_over(tensor: Tensor) -> Array:
    """A numpy array over the same elements, in the same memory."""
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
    """Nested lists of an unknown number, in a tensor's shape."""
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


@method("cpu", "pin_memory", "share_memory_")
def _stays(m: Machine, owner: Ref, args: Args) -> Value:
    return owner


@method("cuda", "xpu", "mps", "npu")
def _moves(m: Machine, owner: Ref, args: Args) -> Value:
    return cast(m, owner, "", "to", moves=None)


@method("to")
def _to(m: Machine, owner: Ref, args: Args) -> Value:
    dtype: str | None = ""
    flags = [value for value in args.pos if isinstance(value, Const) and isinstance(value.value, bool)]
    copy = args.kw.get("copy", flags[1] if len(flags) > 1 else FALSE)
    named = args.kw.get("dtype")
    given = [value for value in (*args.pos, named, args.kw.get("other")) if value is not None]
    wanted = [value for value in given if isinstance(value, Unknown) and (value is named or _is_named_dtype(value))]
    for value in given:
        found = dtype_of(value)
        if found is not None:
            dtype = found
            continue
        other = m.tensor(value)
        if other is not None:
            dtype = other.dtype
        elif isinstance(value, Unknown) and value.type is None and (value in wanted or not is_device(m, value)):
            dtype = None
    if args.open:
        dtype = None
    devices = [value for value in (*given, args.kw.get("device")) if value is not None and not dtype_of(value)]
    moves = None if args.open or any(may_be_elsewhere(m, value) for value in devices) else False
    made = cast(m, owner, dtype, "to", copy, args.kw.get("memory_format", NONE), moves)
    if isinstance(made, Ref) and made != owner and wanted:
        m.st.update(made.id, Tensor, lambda t: replace(t, dtype=None))
    return made


def _is_named_dtype(value: Value) -> bool:
    """Whether an unknown argument of `to` is surely no device, by its name: `x.dtype`."""
    return isinstance(value, Unknown) and value.symbol is not None and "dtype" in str(value.symbol).lower()


@method("resize_", "resize_as_")
def _resize(m: Machine, owner: Ref, args: Args) -> Value:
    """A write, unless the sizes stay the same."""
    tensor = tensor_at(m, owner.id)
    other = m.tensor(args.get(0, "the_template"))
    shape: Shape = None
    if other is not None:
        shape = other.shape
    else:
        given = args.pos[0] if len(args.pos) == 1 else args.kw.get("size", Tup(tuple(args.pos)))
        items = given.items if isinstance(given, Tup) else (given,)
        sizes = tuple(m.int_of(item) for item in items)
        shape = sizes if all(size is not None and size >= 0 for size in sizes) else None
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
    blur_tensor(m, owner.id)
    m.st.put(owner.id, replace(tensor_at(m, owner.id), shape=None))
    return owner


@method("new_tensor")
def _new_tensor(m: Machine, owner: Ref, args: Args) -> Value:
    return tensor_from_data(m, args, default=tensor_at(m, owner.id).dtype)


@method("new")
def _new(m: Machine, owner: Ref, args: Args) -> Value:
    return legacy_tensor(m, args, tensor_at(m, owner.id).dtype)


@method("as_subclass")
def _as_subclass(m: Machine, owner: Ref, args: Args) -> Value:
    return owner


@method("copy_")
def _copy(m: Machine, owner: Ref, args: Args) -> Value:
    return call_torch(m, "Tensor.copy_", [owner, args.get(0, "src")], {})


@method("type")
def _type(m: Machine, owner: Ref, args: Args) -> Value:
    if not args.pos and not args.kw:
        return Unknown("str")
    return cast(m, owner, dtype_of(args.get(0, "dtype")), "type")


def _cast_method(name: str, dtype: str) -> None:
    def handler(m: Machine, owner: Ref, args: Args) -> Value:
        return cast(m, owner, dtype, name, form=args.get(0, "memory_format", NONE))

    enter(METHODS, name, handler)


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
