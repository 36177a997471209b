"""Operators that torch makes of parts: taken apart here as torch does, so that names and saved tensors are right.

A handler gets the operator's arguments by the schema's names and gives its result, or None to leave the call to the
general treatment, in which the graph of a composite is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from analyzers.domain import truth
from analyzers.domain.objects import Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core import Machine
from analyzers.machine.memory import layout_of
from analyzers.machine.tensors import Step, make_node, new_result, new_view, refreshed, tensor_at
from analyzers.ops import table
from analyzers.ops.infer import TensorType, numel
from analyzers.ops.table import Row

Bound = dict[str, Value]
Handler = Callable[[Machine, Row, Bound, str], "Value | None"]
COMPOSITES: dict[str, Handler] = {}


def composite(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for name in names:
            COMPOSITES[name] = handler
        return handler

    return register


def op(m: Machine, name: str, what: str, **bound: Value) -> Value:
    """Run the row `name` (with its overload) as part of the operator that the user called."""
    from analyzers.machine.torch_calls import apply

    row = table.row(name) or table.row(name + ".default")
    assert row is not None, name
    return apply(m, row, bound, what=what)


def _shape(m: Machine, value: Value | None) -> tuple[int | None, ...] | None:
    tensor = m.tensor(value) if value is not None else None
    return tensor.shape if tensor is not None else None


def _rank(m: Machine, value: Value | None) -> int | None:
    shape = _shape(m, value)
    return None if shape is None else len(shape)


def size_value(size: int | None) -> Value:
    """A size as an argument of an operator."""
    return Unknown("int") if size is None else Const(size)


def sizes_value(shape: tuple[int | None, ...] | None) -> Value:
    """A shape as an argument of an operator."""
    return Unknown() if shape is None else Tup(tuple(size_value(s) for s in shape))


def _ints(values: tuple[int, ...] | list[int]) -> Tup:
    return Tup(tuple(Const(v) for v in values))


# --- views that may be copies -----------------------------------------------------------------------------------


def maybe_view(m: Machine, row: Row, bound: Bound, step: Step, types: tuple[TensorType, ...] | None) -> Value:
    """A composite that may return a view of `self`: its place in the graph is unknown, its memory perhaps shared."""
    source = bound.get("self", NONE)
    if not isinstance(source, Ref) or m.tensor(source) is None:
        from analyzers.machine.torch_calls import opaque_result

        return opaque_result(m, row.base, list(bound.values()))
    t = types[0] if types else None
    requires = truth.both(m.st.grad, step.requires)
    if m.st.grad is False and step.requires is not False:
        requires = None
    node = make_node(m, step, ()) if requires is not False else None
    result = new_result(
        m, step, t.shape if t else None, t.dtype if t else None, node, requires=requires, contiguous=None
    )
    tensor = tensor_at(m, result.id)
    of = tensor_at(m, source.id)
    # Writes to the one are perhaps writes to the other.
    tensor.counter = of.counter
    tensor.storage = of.storage
    tensor.inference = None if of.inference is not False else False
    tensor.perhaps_of = of.base if of.base is not None else source.id
    from analyzers.machine.tensors import blur_tensor

    if tensor.counter == of.counter and row.base not in {"T", "mT", "H", "mH"}:
        tensor.counter = m.fresh()
        m.st.put(tensor.counter, m.st.get(of.counter))
        blur_tensor(m, result.id)
    return result


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
                m, "_reshape_alias", what, self=value, size=_ints(list(shape)), stride=_ints(list(reshaped.strides))
            )
        copied = op(m, "clone", what, self=value, memory_format=Builtin("torch.contiguous_format"))
        return op(m, "_unsafe_view", what, self=copied, size=sizes)
    names = ("ReshapeAliasBackward0", "UnsafeViewBackward0", "ViewBackward0")
    return _doubtful_view(m, value, "view", {"self": value, "size": sizes}, names, what)


def _wanted_shape(m: Machine, value: Ref, sizes: Value) -> tuple[int, ...] | None:
    """The sizes that `reshape(sizes)` gives, if all are known."""
    from analyzers.machine.torch_calls import infer

    row = table.row("view")
    assert row is not None
    types = infer(m, row, {"self": value, "size": sizes})
    shape = types[0].shape if types else None
    known = tuple(size for size in shape or () if size is not None)
    return known if shape is not None and len(known) == len(shape) else None


def _doubtful_view(m: Machine, value: Ref, name: str, bound: Bound, names: tuple[str, ...], what: str) -> Value:
    """A view or a copy, as the strides (which the machine does not know) decide."""
    row = table.row(name)
    assert row is not None
    from analyzers.machine.torch_calls import infer, step_of

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


@composite("reshape")
def _reshape(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return reshape(m, bound["self"], bound["shape"], what)


@composite("view_as")
def _view_as(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = _shape(m, bound["other"])
    if shape is None or None in shape:
        return None
    return op(m, "view", what, self=bound["self"], size=sizes_value(shape))


@composite("reshape_as")
def _reshape_as(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = _shape(m, bound["other"])
    if shape is None or None in shape:
        return None
    return reshape(m, bound["self"], sizes_value(shape), what)


@composite("expand_as")
def _expand_as(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = _shape(m, bound["other"])
    sizes: Value = Unknown() if shape is None else Tup(tuple(Unknown("int") if s is None else Const(s) for s in shape))
    return op(m, "expand", what, self=bound["self"], size=sizes)


@composite("flatten")
def _flatten(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = _shape(m, bound["self"])
    first, last = m.int_of(bound.get("start_dim", Const(0))), m.int_of(bound.get("end_dim", Const(-1)))
    if shape is None or first is None or last is None or row.overload != "using_ints":
        return None
    rank = len(shape)
    if rank == 0:
        return reshape(m, bound["self"], _ints([1]), what)
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


@composite("ravel")
def _ravel(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return reshape(m, bound["self"], _ints([-1]), what)


@composite("contiguous")
def _contiguous(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    tensor = m.tensor(bound["self"])
    if tensor is None or "memory_format" in bound:
        return None
    if tensor.contiguous is None:
        return None
    if tensor.contiguous:
        return bound["self"]
    return op(m, "clone", what, self=bound["self"], memory_format=Builtin("torch.contiguous_format"))


@composite("to", "type", "type_as", "float", "double", "half", "bfloat16", "long", "int", "bool", "cpu", "cuda")
def _to(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    form = bound.get("memory_format", NONE)
    return cast(m, bound["self"], _wanted_dtype(m, row, bound), what, bound.get("copy", FALSE), form)


def _wanted_dtype(m: Machine, row: Row, bound: Bound) -> str | None:
    """The dtype asked for; "" when none is, None when it is not known."""
    from analyzers.machine.torch_calls import dtype_of

    if "other" in bound:
        other = m.tensor(bound["other"])
        return other.dtype if other is not None else None
    if "dtype" in bound:
        if bound["dtype"] == NONE:
            return ""
        return dtype_of(bound["dtype"])
    return ""


def cast(m: Machine, value: Value, dtype: str | None, what: str, copy: Value = FALSE, form: Value = NONE) -> Value:
    """`.to(dtype)`: the same tensor if nothing changes, else a copy. The device is taken to stay."""
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref):
        return m.unknown_tensor(m.lineage(value))
    if copy == FALSE and _keeps_order(tensor, form) and dtype is not None and dtype in {"", tensor.dtype}:
        return value
    moves = form == NONE or _keeps_order(tensor, form) or copy == TRUE or dtype not in {"", tensor.dtype}
    moves = moves or _changes_order(tensor, form)
    if dtype is not None and tensor.dtype is not None and moves:
        wanted = dtype or tensor.dtype
        return op(m, "_to_copy", what, self=value, dtype=Builtin("torch." + wanted), memory_format=form)
    # A copy, or the same tensor: what is surely so for both.
    from analyzers.machine.torch_calls import step_of

    row = table.row("_to_copy")
    assert row is not None
    step = step_of(m, row, {"self": value}, what)
    source = refreshed(m, value.id)
    step.requires = source.requires_grad
    step.kind, step.names = "unknown", ()
    requires = truth.both(m.st.grad, source.requires_grad)
    from analyzers.machine.tensors import can_require_grad

    able = can_require_grad(dtype or None) if dtype else can_require_grad(tensor.dtype)
    if able is False:
        requires = False
    elif requires is not False and (able is None or m.st.grad is not True):
        requires = None
    if m.st.grad is False and source.requires_grad is not False:
        requires = None
    node = make_node(m, step, ()) if requires is not False else None
    result = new_result(m, step, tensor.shape, dtype or tensor.dtype, node, requires=requires, contiguous=None)
    made = tensor_at(m, result.id)
    if requires is not False:
        from analyzers.domain.objects import Edge

        made.edge = Edge()
        made.aliases = (value.id,)
    return result


def _keeps_order(tensor: Tensor, form: Value) -> bool:
    """Whether a memory format asks for no other order of the elements."""
    if form == Builtin("torch.contiguous_format"):
        return tensor.contiguous is True
    return form in (NONE, Builtin("torch.preserve_format"))


def _changes_order(tensor: Tensor, form: Value) -> bool:
    """Whether elements that lie row by row must move to lie channel by channel."""
    shape = tensor.shape
    if tensor.contiguous is not True or shape is None or None in shape or form != Builtin("torch.channels_last"):
        return False
    return len(shape) == 4 and shape[1] != 1 and shape[2:] != (1, 1) and 0 not in shape


def _is_dim(dim: int, shape: tuple[int | None, ...]) -> bool:
    return -len(shape) <= dim < len(shape)


@composite("narrow")
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


@composite("chunk")
def _chunk(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = _shape(m, bound["self"])
    dim = bound.get("dim", Const(0))
    number, at = m.int_of(bound.get("chunks", Unknown())), m.int_of(dim)
    if number is None or number < 1 or at is None or (shape is not None and not _is_dim(at, shape)):
        return None
    size = shape[at] if shape is not None else None
    if size is None:
        from analyzers.machine.torch_calls import run_row

        row_ = table.row("split.Tensor")
        assert row_ is not None
        return run_row(
            m, row_, {"self": bound["self"], "split_size": Unknown("int"), "dim": dim}, what=what, count=number
        )
    return op(m, "split.Tensor", what, self=bound["self"], split_size=Const(-(-size // number)), dim=dim)


@composite("split")
def _split(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload != "sizes":
        return None
    return op(
        m, "split_with_sizes", what, self=bound["self"], split_sizes=bound["split_size"], dim=bound.get("dim", Const(0))
    )


@composite("swapaxes", "swapdims")
def _swap(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    a = bound.get("axis0", bound.get("dim0", Unknown()))
    b = bound.get("axis1", bound.get("dim1", Unknown()))
    return op(m, "transpose.int", what, self=bound["self"], dim0=a, dim1=b)


@composite("numpy_T", "matrix_H", "mT", "mH", "adjoint")
def _transposes(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    rank = _rank(m, bound["self"])
    tensor = m.tensor(bound["self"])
    if tensor is None or rank is None:
        return None
    if row.base == "numpy_T":
        return op(m, "permute", what, self=bound["self"], dims=_ints(list(range(rank))[::-1]))
    conjugates = row.base in {"matrix_H", "mH", "adjoint"}
    if conjugates and tensor.dtype is None:
        return None
    turned = op(m, "transpose.int", what, self=bound["self"], dim0=Const(-2), dim1=Const(-1))
    if conjugates and tensor.dtype is not None and tensor.dtype.startswith("complex"):
        return op(m, "_conj", what, self=turned)
    return turned


@composite("broadcast_tensors")
def _broadcast(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    from analyzers.machine.torch_calls import tensors_in
    from analyzers.ops.infer import ShapeError, broadcast

    values = [Ref(i) for i in tensors_in(m, bound["tensors"])]
    shapes = [_shape(m, v) for v in values]
    given = bound["tensors"]
    count = len(given.items) if isinstance(given, Tup) else len(getattr(m.obj(given), "items", ()))
    if count != len(values):
        return given if isinstance(given, Tup) else Tup(tuple(getattr(m.obj(given), "items", ())))
    if None in shapes or any(None in s for s in shapes if s is not None):
        # Nothing is lost by taking them to be of one shape already: expanding keeps the flags.
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


# --- matrix products --------------------------------------------------------------------------------------------


@composite("matmul", "__matmul__", "linalg_matmul")
def _matmul(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    from analyzers.machine.products import product

    return product(m, bound["self"], bound["other"], what)


@composite("linear")
def _linear(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    from analyzers.machine.products import linear

    return linear(m, bound["input"], bound["weight"], bound.get("bias", NONE), what)


@composite("l1_loss")
def _l1_loss(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    distance = op(m, "abs", what, self=op(m, "sub.Tensor", what, self=bound["self"], other=bound["target"]))
    return reduced(m, distance, bound.get("reduction", Const(1)), what)


def reduced(m: Machine, value: Value, reduction: Value, what: str) -> Value | None:
    """A loss's last step: 0 keeps every element, 1 takes the mean, 2 the sum."""
    if reduction == Const(0):
        return value
    if reduction in {Const(1), Const(2)}:
        return op(m, "mean" if reduction == Const(1) else "sum", what, self=value)
    return None


@composite("_weight_norm")
def _weight_norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    v, dim = m.tensor(bound["v"]), bound.get("dim", Const(0))
    if v is None or v.shape is None or dim not in {Const(0), Const(len(v.shape) - 1)}:
        return None
    result = op(m, "_weight_norm_interface", what, v=bound["v"], g=bound["g"], dim=bound.get("dim", Const(0)))
    first = result.items[0] if isinstance(result, Tup) else result
    made, source = m.tensor(first), m.tensor(bound["v"])
    if made is not None and source is not None:
        made.shape, made.dtype = source.shape, source.dtype
    return first


# --- arithmetic -------------------------------------------------------------------------------------------------


@composite("square")
def _square(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return op(m, "pow.Tensor_Scalar", what, self=bound["self"], exponent=Const(2))


@composite("__rpow__")
def _rpow(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return op(m, "pow.Scalar", what, self=bound["other"], exponent=bound["self"])


@composite("softmax", "log_softmax", "softmin")
def _softmax(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    value = bound["self"]
    if "dtype" in bound and bound["dtype"] != NONE:
        from analyzers.machine.torch_calls import dtype_of

        value = cast(m, value, dtype_of(bound["dtype"]), what)
    return op(m, "_" + row.base, what, self=value, dim=bound.get("dim", Unknown()), half_to_float=FALSE)


@composite("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def _dropout(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    train, p = bound.get("train", Unknown()), bound.get("p", Unknown())
    if train == FALSE:
        return bound["input"]
    if isinstance(p, Const) and p.value == 0:
        return bound["input"]
    if train == TRUE and isinstance(p, Const) and row.base in {"dropout", "feature_dropout"}:
        source = m.tensor(bound["input"])
        noise = m.new_tensor(source.shape if source else None, source.dtype if source else None, what="noise")
        return op(m, "mul.Tensor", what, self=bound["input"], other=noise)
    return None


@composite("layer_norm")
def _layer_norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    result = op(
        m, "native_layer_norm", what, input=bound["input"], normalized_shape=bound["normalized_shape"],
        weight=bound.get("weight", NONE), bias=bound.get("bias", NONE), eps=bound.get("eps", Const(1e-5)),
    )  # fmt: skip
    return result.items[0] if isinstance(result, Tup) else result


@composite("group_norm")
def _group_norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    shape = _shape(m, bound["input"])
    n = size_value(shape[0]) if shape else Unknown("int")
    c = size_value(shape[1]) if shape and len(shape) > 1 else Unknown("int")
    tensor = m.tensor(bound["input"])
    if tensor is None or tensor.contiguous is not True:
        return None
    result = op(
        m, "native_group_norm", what, input=bound["input"], weight=bound.get("weight", NONE),
        bias=bound.get("bias", NONE), N=n, C=c, HxW=Unknown("int"), group=bound.get("num_groups", Unknown("int")),
        eps=bound.get("eps", Const(1e-5)),
    )  # fmt: skip
    first = result.items[0] if isinstance(result, Tup) else result
    found = m.tensor(first)
    if found is not None:
        found.shape = shape
    return first


@composite("batch_norm")
def _batch_norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    tensor = m.tensor(bound["input"])
    if tensor is not None and numel(tensor.shape) == 0:
        return None
    result = op(
        m, "native_batch_norm", what, input=bound["input"], weight=bound.get("weight", NONE),
        bias=bound.get("bias", NONE), running_mean=bound.get("running_mean", NONE),
        running_var=bound.get("running_var", NONE), training=bound.get("training", Unknown("bool")),
        momentum=bound.get("momentum", Unknown("float")), eps=bound.get("eps", Unknown("float")),
    )  # fmt: skip
    return result.items[0] if isinstance(result, Tup) else result


@composite("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _conv(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    padding = bound.get("padding")
    if row.overload == "padding" or (isinstance(padding, Const) and isinstance(padding.value, str)):
        return None
    tensor = m.tensor(bound["input"])
    spatial = int(row.base[-2])
    if tensor is None or tensor.shape is None or len(tensor.shape) != spatial + 2:
        return None
    if tensor.dtype is None or tensor.dtype.startswith("complex"):
        return None

    def spread(name: str, default: int) -> Value:
        value = bound.get(name, Const(default))
        return Tup((value,) * spatial) if isinstance(value, Const) else value

    return op(
        m, "convolution", what, input=bound["input"], weight=bound["weight"], bias=bound.get("bias", NONE),
        stride=spread("stride", 1), padding=spread("padding", 0), dilation=spread("dilation", 1),
        transposed=TRUE if "transpose" in row.base else FALSE, output_padding=spread("output_padding", 0),
        groups=bound.get("groups", Const(1)),
    )  # fmt: skip


@composite("max_pool2d", "max_pool3d", "max_pool1d")
def _max_pool(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.base == "max_pool1d":
        return None
    result = op(m, row.base + "_with_indices", what, **bound)
    return result.items[0] if isinstance(result, Tup) else result


@composite("adaptive_avg_pool2d")
def _adaptive_avg(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    from analyzers.machine.torch_calls import types_of

    size = bound.get("output_size")
    if types_of(m, {"size": size or Unknown()}).get("size") in (1, [1], [1, 1], (1,), (1, 1)):
        return op(m, "mean.dim", what, self=bound["self"], dim=_ints([-1, -2]), keepdim=TRUE)
    return op(m, "_adaptive_avg_pool2d", what, self=bound["self"], output_size=size or Unknown())


@composite("pad")
def _pad(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    mode = bound.get("mode", Const("constant"))
    if mode != Const("constant"):
        return None
    value = bound.get("value", NONE)
    return op(
        m, "constant_pad_nd", what, self=bound["self"], pad=bound["pad"], value=Const(0) if value == NONE else value
    )


@composite("cross_entropy_loss")
def _cross_entropy(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    target = m.tensor(bound["target"])
    dtype = target.dtype if target is not None else None
    if dtype is not None and dtype.startswith("float"):
        return None
    smoothing = bound.get("label_smoothing", Const(0.0))
    if not isinstance(smoothing, Const) or smoothing.value:
        return None
    rank = _rank(m, bound["self"])
    dim = Const(0) if rank == 1 else Const(1)
    logs = op(m, "_log_softmax", what, self=bound["self"], dim=dim, half_to_float=FALSE)
    rest = {k: bound[k] for k in ("target", "weight", "reduction", "ignore_index") if k in bound}
    result = op(m, "nll_loss_nd", what, self=logs, **rest)
    made = m.tensor(result)
    if dtype is None and made is not None and made.edge is not None and made.edge.node is not None:
        # The targets are classes, or probabilities of classes: other nodes, which keep the same tensors.
        node = m.node(made.edge.node)
        node.names = (*node.names, "DivBackward0", "NegBackward0")
    return result


@composite("nll_loss_nd")
def _nll(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    rank = _rank(m, bound["self"])
    name = "nll_loss2d_forward" if rank == 4 else "nll_loss_forward"
    if rank not in {None, 1, 2, 4}:
        return None
    result = op(
        m, name, what, self=bound["self"], target=bound["target"], weight=bound.get("weight", NONE),
        reduction=bound.get("reduction", Const(1)), ignore_index=bound.get("ignore_index", Const(-100)),
    )  # fmt: skip
    first = result.items[0] if isinstance(result, Tup) else result
    made = m.tensor(first)
    if rank is None and made is not None:
        if bound.get("reduction", Const(1)) in {Const(1), Const(2)}:
            made.shape = ()
        if made.edge is not None and made.edge.node is not None:
            m.node(made.edge.node).names = ("NllLossBackward0", "NllLoss2DBackward0")
    return first


@composite("norm")
def _norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    p = bound.get("p", Const(2))
    if row.overload.startswith("names") or m.within:
        return None
    if p == NONE:
        p = Const(2)
    if not (isinstance(p, Const) and isinstance(p.value, int | float)):
        return None
    rest = {k: bound[k] for k in ("dim", "keepdim", "dtype") if k in bound}
    return op(m, "linalg_vector_norm", what, self=bound["self"], ord=p, **rest)


@composite("std", "var")
def _std(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload in {"correction", "correction_names"}:
        return None
    unbiased = bound.get("unbiased", TRUE)
    correction = Const(1) if unbiased == TRUE else Const(0) if unbiased == FALSE else NONE
    rest = {k: bound[k] for k in ("dim", "keepdim") if k in bound}
    return op(m, row.base + ".correction", what, self=bound["self"], correction=correction, **rest)


@composite("where")
def _where(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    from analyzers.machine.torch_calls import infer

    if row.overload in {"Scalar", "ScalarOther", "ScalarSelf"}:
        full = {k: (m.new_tensor((), None, what="number") if not isinstance(v, Ref) else v) for k, v in bound.items()}
        made = op(m, "where.self", what, **full)
        found, types = m.tensor(made), infer(m, row, bound)
        if found is not None and types is not None:
            found.dtype = found.dtype or types[0].dtype
        return made
    return None


@composite("max", "min")
def _minmax(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload != "other":
        return None
    return op(m, "maximum" if row.base == "max" else "minimum", what, self=bound["self"], other=bound["other"])


@composite("concat", "concatenate")
def _concat(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return op(m, "cat", what, tensors=bound["tensors"], dim=bound.get("dim", Const(0)))


@composite("item")
def _item(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return number_from(m, bound["self"], what)


def number_from(m: Machine, value: Value, what: str) -> Value:
    """A Python number taken out of a tensor: its trail goes on, its graph does not."""
    from analyzers.domain.lineage import Lineage

    tensor = m.tensor(value)
    if tensor is None:
        return Unknown(None, None, m.lineage(value))
    kind = "number"
    if tensor.dtype is not None:
        kind = "bool" if tensor.dtype == "bool" else "int" if "int" in tensor.dtype else "float"
        if tensor.dtype.startswith("complex"):
            kind = "complex"
    had = refreshed(m, value.id).requires_grad if isinstance(value, Ref) else None
    if had and kind == "number":
        kind = "float"
    trail = Lineage(what, m.here(), (tensor.lineage,) if tensor.lineage else (), "left-torch" if had else None, m.via())
    return Unknown(kind, content_symbol(m, tensor, what), trail)


def content_symbol(m: Machine, tensor: Tensor, what: object) -> object:
    """A name for what a tensor holds now: equal as long as nobody writes to it."""
    from analyzers.domain.objects import Storage
    from analyzers.machine.tensors import version_kept

    version = version_kept(m, tensor)
    storage = m.st.get(tensor.storage)
    if version is None or not isinstance(storage, Storage):
        return None
    return ("content", tensor.storage, tensor.counter, version, storage.count, tensor.view_op, tensor.base, what)


__all__ = ["COMPOSITES", "Tensor", "cast", "new_view", "number_from", "op", "reshape"]


# --- recurrent layers -------------------------------------------------------------------------------------------


@composite("rnn_tanh", "rnn_relu", "gru", "lstm", "rnn_tanh_cell", "rnn_relu_cell", "gru_cell", "lstm_cell")
def _recurrent(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    from analyzers.machine.recurrent import few_steps, unknown_steps

    return None if few_steps(m, row, bound) else unknown_steps(m, row, bound, what)
