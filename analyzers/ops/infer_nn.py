"""Layers and losses: normalization, attention, cells, and losses with their reduction (0 none, 1 mean, 2 sum).

layer_norm([8, 16])                            ->  [8, 16]
nll_loss([8, 10], target [8], reduction=none)  ->  [8]
"""

from __future__ import annotations

from analyzers.ops.infer_core import (
    Call,
    Result,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    rule,
    same_dtype,
    unknown_sizes,
    wrap_dim,
)
from analyzers.ops.promote import float_of, real_of


def reduced_loss(call: Call, each: Shape, default: int = 1) -> Shape:
    """`each` is the shape before the reduction."""
    reduction = call.number("reduction", default)
    return () if reduction in (1, 2) else each if reduction == 0 else None


@rule("batch_norm instance_norm group_norm layer_norm rms_norm")
def _normalized(call: Call) -> Result:
    operand = call.tensor("input", "self")
    _check_normalized_shape(call, operand.shape)
    return TensorType(operand.shape, operand.dtype)


def _check_normalized_shape(call: Call, shape: Shape) -> None:
    tail = call.ints("normalized_shape", ())
    if not tail or shape is None:
        return
    end = shape[len(shape) - len(tail) :] if len(tail) <= len(shape) else ()
    if len(end) != len(tail) or any(x is not None and y is not None and x != y for x, y in zip(end, tail, strict=True)):
        raise ShapeError(
            f"Given normalized_shape={list(tail)}, expected input with shape [*, {', '.join(map(str, tail))}], "
            f"but got input of size{list(shape)}"
        )


@rule("native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training")
def _native_batch_norm(call: Call) -> Result:
    operand, training = call.tensor("input"), call.flag("training", True)
    channels = operand.shape[1] if operand.shape is not None and len(operand.shape) > 1 else None
    stat = TensorType(None if training is None else (channels,) if training else (0,), _of_statistics(operand.dtype))
    return TensorType(operand.shape, operand.dtype), stat, stat


@rule("_softmax_backward_data _log_softmax_backward_data")
def _softmax_backward(call: Call) -> Result:
    dtype = call.args.get("input_dtype")
    return TensorType(call.tensor("grad_output").shape, dtype if isinstance(dtype, str) else None)


@rule("native_dropout_backward")
def _dropout_backward(call: Call) -> Result:
    operand = call.tensor("grad_output")
    return TensorType(operand.shape, float_of(operand.dtype, call.default))


@rule("_embedding_bag _embedding_bag_forward_only")
def _embedding_bag(call: Call) -> Result:
    weight, offsets, closed = call.tensor("weight"), call.tensor("offsets"), call.flag("include_last_offset")
    rest = TensorType(None, None)
    if not weight.shape or not offsets.shape or len(weight.shape) != 2 or closed is None:
        return TensorType(None, weight.dtype), rest, rest, rest
    bags = offsets.shape[0]
    if bags is not None and closed:
        bags -= 1
    return TensorType((bags, weight.shape[1]), weight.dtype), rest, rest, rest


@rule("segment_reduce")
def _segment_reduce(call: Call) -> Result:
    operand, axis = call.tensor("data"), call.number("axis", 0)
    lengths, offsets = call.optional("lengths"), call.optional("offsets")
    index = lengths if lengths is not None else offsets
    if operand.shape is None or index is None or not index.shape or axis is None or axis != len(index.shape) - 1:
        return TensorType(unknown_sizes(operand.shape), operand.dtype)
    count = index.shape[-1]
    if count is not None and lengths is None:
        count -= 1
    return TensorType((*index.shape[:-1], count, *operand.shape[axis + 1 :]), operand.dtype)


@rule("_batch_norm_with_update _batch_norm_no_update cudnn_batch_norm")
def _batch_norm_with_reserve(call: Call) -> Result:
    operand = call.tensor("input")
    channels = operand.shape[1] if operand.shape is not None and len(operand.shape) > 1 else None
    update = "momentum" in call.args and operand.dtype in ("float32", "float64")
    stat = TensorType((channels,) if update else None, _of_statistics(operand.dtype) if update else None)
    reserve = TensorType((0,), "uint8") if update else TensorType(None, None)
    return TensorType(operand.shape, operand.dtype), stat, stat, reserve


@rule("native_layer_norm")
def _native_layer_norm(call: Call) -> Result:
    operand, tail = call.tensor("input"), call.ints("normalized_shape")
    _check_normalized_shape(call, operand.shape)
    shape = operand.shape
    stat = None
    if shape is not None and tail is not None:
        stat = (*shape[: len(shape) - len(tail)], *(1,) * len(tail))
    rest = TensorType(stat, _of_statistics(operand.dtype))
    return TensorType(shape, operand.dtype), rest, rest


def _of_statistics(dtype: str | None) -> str | None:
    """A narrow input's statistics may be wider than it is."""
    return dtype if dtype in ("float32", "float64") else None


@rule("_fused_rms_norm")
def _fused_rms_norm(call: Call) -> Result:
    operand = call.tensor("input")
    return TensorType(operand.shape, operand.dtype), TensorType(None, None)


@rule("native_group_norm")
def _native_group_norm(call: Call) -> Result:
    operand = call.tensor("input")
    stat = TensorType((call.number("N"), call.number("group")), _of_statistics(operand.dtype))
    return TensorType(operand.shape, operand.dtype), stat, stat


@rule(
    "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy soft_margin_loss "
    "binary_cross_entropy_with_logits kl_div"
)
def _pointwise_loss(call: Call) -> Result:
    left, right = call.tensor("self", "input"), call.tensor("target")
    dtype = real_of(left.dtype) if left.dtype == right.dtype else None
    weights = [call.tensor(name).shape for name in ("weight", "pos_weight") if call.given(name)]
    return TensorType(reduced_loss(call, broadcast(left.shape, right.shape, *weights)), dtype)


@rule("nll_loss nll_loss_nd nll_loss2d cross_entropy_loss")
def _class_loss(call: Call) -> Result:
    operand = call.tensor("self")
    shape = operand.shape
    each: Shape = None if shape is None else (*shape[:1], *shape[2:]) if len(shape) > 1 else ()
    return TensorType(reduced_loss(call, each), operand.dtype)


@rule("nll_loss_forward nll_loss2d_forward")
def _class_loss_forward(call: Call) -> Result:
    result = _class_loss(call)
    assert isinstance(result, TensorType)
    return result, TensorType(None, result.dtype)


@rule("multi_margin_loss multilabel_margin_loss")
def _margin_loss(call: Call) -> Result:
    operand = call.tensor("self")
    shape = operand.shape
    return TensorType(reduced_loss(call, None if shape is None else shape[:-1]), operand.dtype)


@rule("multilabel_margin_loss_forward")
def _multilabel_forward(call: Call) -> Result:
    operand, target = call.tensor("self"), call.tensor("target")
    shape = operand.shape
    loss = TensorType(reduced_loss(call, None if shape is None else shape[:-1]), operand.dtype)
    return loss, TensorType(target.shape, operand.dtype)


@rule("ctc_loss")
def _ctc_loss(call: Call) -> Result:
    operand = call.tensor("log_probs")
    shape = operand.shape
    each = None if shape is None else (shape[1],) if len(shape) == 3 else None
    return TensorType(reduced_loss(call, each), operand.dtype)


@rule("_ctc_loss")
def _ctc_loss_forward(call: Call) -> Result:
    operand = call.tensor("log_probs")
    shape = operand.shape
    batch = (shape[1],) if shape is not None and len(shape) == 3 else None
    return TensorType(batch, operand.dtype), TensorType(None, operand.dtype)


@rule("scaled_dot_product_attention")
def _attention(call: Call) -> Result:
    query, key, value = call.tensor("query"), call.tensor("key"), call.tensor("value")
    q, k, v = query.shape, key.shape, value.shape
    dtype = same_dtype(query, key, value)
    if q is None or v is None or len(q) < 2 or len(v) < 2:
        return TensorType(None, dtype)
    if call.flag("enable_gqa") is not False:
        return TensorType((*(None,) * (len(q) - 2), q[-2], v[-1]), dtype)
    batch = broadcast(q[:-2], v[:-2], () if k is None else k[:-2])
    return TensorType((*(batch or ()), q[-2], v[-1]) if k is not None else None, dtype)


@rule("_scaled_dot_product_flash_attention_for_cpu")
def _flash_attention(call: Call) -> Result:
    query, value = call.tensor("query"), call.tensor("value")
    q, v = query.shape, value.shape
    shape = None if q is None or v is None else (*q[:-1], v[-1])
    return TensorType(shape, query.dtype), TensorType(None if q is None else q[:-1], None)


@rule("_scaled_dot_product_attention_math")
def _attention_math(call: Call) -> Result:
    return TensorType(None, call.tensor("query").dtype), TensorType(None, None)


@rule("glu")
def _glu(call: Call) -> Result:
    operand, dim = call.tensor("self"), call.number("dim", -1)
    shape = operand.shape
    if not shape or dim is None:
        return TensorType(unknown_sizes(shape), operand.dtype)
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if size is not None and size % 2:
        raise ShapeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    return TensorType((*shape[:dim], None if size is None else size // 2, *shape[dim + 1 :]), operand.dtype)


@rule("cosine_similarity")
def _similarity(call: Call) -> Result:
    left, right = call.tensor("x1"), call.tensor("x2")
    shape = broadcast(left.shape, right.shape)
    dim = call.number("dim", 1)
    if shape is None or dim is None or not shape:
        return TensorType(None, None)
    dim = wrap_dim(dim, len(shape))
    return TensorType(shape[:dim] + shape[dim + 1 :], None)


@rule("cdist _cdist_forward")
def _cdist(call: Call) -> Result:
    left, right = call.tensor("x1"), call.tensor("x2")
    a, b = left.shape, right.shape
    dtype = same_dtype(left, right)
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return TensorType(None, dtype)
    return TensorType((*(broadcast(a[:-2], b[:-2]) or ()), a[-2], b[-2]), dtype)


@rule("pdist _pdist_forward")
def _pdist(call: Call) -> Result:
    operand = call.tensor("self")
    rows = operand.shape[0] if operand.shape else None
    return TensorType((None if rows is None else rows * (rows - 1) // 2,), operand.dtype)


@rule("rrelu_with_noise")
def _rrelu(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, operand.dtype)


@rule("multinomial")
def _multinomial(call: Call) -> Result:
    shape = call.tensor("self").shape
    return TensorType(None if shape is None else (*shape[:-1], call.number("num_samples")), "int64")


@rule("max_pool2d_with_indices_backward max_pool3d_with_indices_backward")
def _max_pool_backward(call: Call) -> Result:
    return call.tensor("self")


@rule("binomial")
def _binomial(call: Call) -> Result:
    return call.tensor("count")


@rule("bincount")
def _bincount(call: Call) -> Result:
    weights = call.optional("weights")
    if weights is None:
        return TensorType((None,), "int64")
    return TensorType((None,), "float32" if weights.dtype == "float32" else weights.dtype and "float64")


@rule("histc")
def _histc(call: Call) -> Result:
    return TensorType((call.number("bins", 100),), call.tensor("self").dtype)


@rule("lstm_cell")
def _lstm_cell(call: Call) -> Result:
    states = call.tensors("hx")
    if states is None or len(states) != 2:
        return TensorType(None, None), TensorType(None, None)
    return tuple(TensorType(state.shape, state.dtype) for state in (states[1], states[1]))


@rule("gru_cell rnn_tanh_cell rnn_relu_cell")
def _cell(call: Call) -> Result:
    state = call.tensor("hx")
    return TensorType(state.shape, state.dtype)


@rule("pairwise_distance")
def _pairwise_distance(call: Call) -> Result:
    left, right = call.tensor("x1"), call.tensor("x2")
    shape, keepdim = broadcast(left.shape, right.shape), call.flag("keepdim")
    if not shape or keepdim is None:
        return TensorType(None, None)
    return TensorType((*shape[:-1], 1) if keepdim else shape[:-1], None)


@rule("_pack_padded_sequence")
def _pack(call: Call) -> Result:
    padded = call.tensor("input")
    shape = None if padded.shape is None else (None, *padded.shape[2:])
    return TensorType(shape, padded.dtype), TensorType((None,), "int64")


@rule("_pad_packed_sequence")
def _pad_packed(call: Call) -> Result:
    data = call.tensor("data")
    shape = None if data.shape is None else (None, None, *data.shape[1:])
    return TensorType(shape, data.dtype), TensorType((None,), "int64")


@rule("lstm gru rnn_tanh rnn_relu")
def _recurrent(call: Call) -> Result:
    """The padded form (input, hx, ...), or the packed one, whose `data` has the steps of all sequences in a row."""
    state = call.tensors("hx") or [call.tensor("hx")]
    operand, first = call.tensor("input", "data"), state[0]
    bidirectional, shape = call.flag("bidirectional"), operand.shape
    width = None if first.shape is None or not first.shape else first.shape[-1]
    if bidirectional is None or isinstance(call.args.get("params"), type(None)):
        output: Shape = None
    elif width is None or (len(state) == 2 and state[1].shape is None):
        output = None if shape is None else (*shape[:-1], None)
    else:
        output = None if shape is None else (*shape[:-1], width * (1 + bidirectional))
    result = TensorType(output, operand.dtype)
    return (result, *(TensorType(t.shape, t.dtype) for t in state))
