"""Operators that torch composes from others, where the parts must work on unknown shapes."""

from __future__ import annotations

from analyzers.domain.values import FALSE, NONE, TRUE, Const, Tup, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import Bound, dtype_of, infer, ints, rank_of, types_of
from analyzers.machine.operators.casts import cast
from analyzers.machine.operators.dispatch import kernel, op, perhaps
from analyzers.machine.operators.opaque import decomposed, perhaps_itself
from analyzers.machine.operators.products import linear, product
from analyzers.machine.operators.recurrent import few_steps, unknown_steps
from analyzers.ops.infer import numel
from analyzers.ops.table import Row


@kernel("matmul", "__matmul__", "linalg_matmul")
def _matmul(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return product(m, bound["self"], bound["other"], what)


@kernel("linear")
def _linear(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return linear(m, bound["input"], bound["weight"], bound.get("bias", NONE), what)


@kernel("l1_loss")
def _l1_loss(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    distance = op(m, "abs", what, self=op(m, "sub.Tensor", what, self=bound["self"], other=bound["target"]))
    return reduced(m, distance, bound.get("reduction", Const(1)), what)


def reduced(m: Machine, value: Value, reduction: Value, what: str) -> Value | None:
    """The last step of a loss: 0 keeps every element, 1 takes the mean, 2 the sum."""
    if reduction == Const(0):
        return value
    if reduction in {Const(1), Const(2)}:
        return op(m, "mean" if reduction == Const(1) else "sum", what, self=value)
    return None


@kernel("_weight_norm")
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


@kernel("square")
def _square(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return op(m, "pow.Tensor_Scalar", what, self=bound["self"], exponent=Const(2))


@kernel("__rpow__")
def _rpow(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return op(m, "pow.Scalar", what, self=bound["other"], exponent=bound["self"])


@kernel("softmax", "log_softmax", "softmin")
def _softmax(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    value = bound["self"]
    if "dtype" in bound and bound["dtype"] != NONE:
        value = cast(m, value, dtype_of(bound["dtype"]), what)
    return op(m, "_" + row.base, what, self=value, dim=bound.get("dim", Unknown()), half_to_float=FALSE)


@kernel("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
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
    made = decomposed(m, row, bound, what, None)
    # Where nothing is dropped, this is the input itself.
    return perhaps_itself(m, bound["input"], made)


@kernel("layer_norm")
def _layer_norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    result = op(
        m, "native_layer_norm", what, input=bound["input"], normalized_shape=bound["normalized_shape"],
        weight=bound.get("weight", NONE), bias=bound.get("bias", NONE), eps=bound.get("eps", Const(1e-5)),
    )  # fmt: skip
    return result.items[0] if isinstance(result, Tup) else result


@kernel("batch_norm")
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


@kernel("max_pool2d", "max_pool3d", "max_pool1d")
def _max_pool(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.base == "max_pool1d":
        return None
    result = op(m, row.base + "_with_indices", what, **bound)
    return result.items[0] if isinstance(result, Tup) else result


@kernel("adaptive_avg_pool2d")
def _adaptive_avg(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    pooled = {"self": bound["self"], "output_size": bound.get("output_size", Unknown())}
    size = types_of(m, {"size": pooled["output_size"]}).get("size")
    sizes = list(size) if isinstance(size, list | tuple) else [size]
    if sizes in ([1], [1, 1]):
        return op(m, "mean.dim", what, self=bound["self"], dim=ints([-1, -2]), keepdim=TRUE)
    may_be_one = all(not isinstance(each, int) or each == 1 for each in sizes)
    return (perhaps if may_be_one else op)(m, "_adaptive_avg_pool2d", what, **pooled)


@kernel("pad")
def _pad(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    mode = bound.get("mode", Const("constant"))
    if mode != Const("constant"):
        return None
    value = bound.get("value", NONE)
    return op(
        m, "constant_pad_nd", what, self=bound["self"], pad=bound["pad"], value=Const(0) if value == NONE else value
    )


@kernel("cross_entropy_loss")
def _cross_entropy(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    target = m.tensor(bound["target"])
    dtype = target.dtype if target is not None else None
    if dtype is not None and dtype.startswith("float"):
        return None
    smoothing = bound.get("label_smoothing", Const(0.0))
    if not isinstance(smoothing, Const) or smoothing.value:
        return None
    rank = rank_of(m, bound["self"])
    dim = Const(0) if rank == 1 else Const(1)
    logs = op(m, "_log_softmax", what, self=bound["self"], dim=dim, half_to_float=FALSE)
    rest = {k: bound[k] for k in ("target", "weight", "reduction", "ignore_index") if k in bound}
    result = op(m, "nll_loss_nd", what, self=logs, **rest)
    made = m.tensor(result)
    if dtype is None and made is not None and made.edge is not None and made.edge.node is not None:
        # The targets are class indices or class probabilities; the latter has other nodes, which save the same tensors.
        node = m.node(made.edge.node)
        node.names = (*node.names, "DivBackward0", "NegBackward0")
    return result


@kernel("nll_loss_nd")
def _nll(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    rank = rank_of(m, bound["self"])
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


@kernel("norm")
def _norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    p = bound.get("p", Const(2))
    if row.overload.startswith("names") or m.extent.enclosing_operator:
        return None
    if p == NONE:
        p = Const(2)
    if not (isinstance(p, Const) and isinstance(p.value, int | float)):
        return None
    rest = {k: bound[k] for k in ("dim", "keepdim", "dtype") if k in bound}
    return op(m, "linalg_vector_norm", what, self=bound["self"], ord=p, **rest)


@kernel("std", "var")
def _std(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload in {"correction", "correction_names"}:
        return None
    unbiased = bound.get("unbiased", TRUE)
    correction = Const(1) if unbiased == TRUE else Const(0) if unbiased == FALSE else NONE
    rest = {k: bound[k] for k in ("dim", "keepdim") if k in bound}
    return op(m, row.base + ".correction", what, self=bound["self"], correction=correction, **rest)


@kernel("where")
def _where(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload in {"Scalar", "ScalarOther", "ScalarSelf"}:
        full = {k: (m.new_tensor((), None, what="number") if _is_number(v) else v) for k, v in bound.items()}
        made = op(m, "where.self", what, **full)
        found, types = m.tensor(made), infer(m, row, bound)
        if found is not None and types is not None:
            found.dtype = found.dtype or types[0].dtype
        return made
    return None


def _is_number(value: Value) -> bool:
    return isinstance(value, Const) or (isinstance(value, Unknown) and value.type in {"bool", "int", "float", "number"})


@kernel("max", "min")
def _minmax(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if row.overload != "other":
        return None
    return op(m, "maximum" if row.base == "max" else "minimum", what, self=bound["self"], other=bound["other"])


@kernel("concat", "concatenate")
def _concat(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return op(m, "cat", what, tensors=bound["tensors"], dim=bound.get("dim", Const(0)))


@kernel("rnn_tanh", "rnn_relu", "gru", "lstm", "rnn_tanh_cell", "rnn_relu_cell", "gru_cell", "lstm_cell")
def _recurrent(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return None if few_steps(m, row, bound) else unknown_steps(m, row, bound, what)
