"""Composites on tensors of unknown rank, whose main part is the same for every rank.

A convolution adds a batch dimension where there is none, and drops it again. Which node comes last is not known then;
what the convolution saves is.
"""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import Bound, ints, rank_of, shape_of, size_value
from analyzers.machine.operators.dispatch import doubt_saved, kernel, op
from analyzers.ops.table import Row


@kernel("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _convolution(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    dimensions = int(row.base[-2])
    given, rank = m.tensor(bound["input"]), rank_of(m, bound["input"])
    dtype = given.dtype if given is not None else None
    padding = _padding(m, bound, dimensions)
    if padding is None or (dtype or "").startswith("complex") or (dtype is not None and rank == dimensions + 1):
        return None
    result = op(
        m, "convolution", what, input=bound["input"], weight=bound["weight"], bias=bound.get("bias", NONE),
        stride=_spread(bound.get("stride", Const(1)), dimensions), padding=padding,
        dilation=_spread(bound.get("dilation", Const(1)), dimensions),
        transposed=TRUE if "transpose" in row.base else FALSE,
        output_padding=_spread(bound.get("output_padding", Const(0)), dimensions),
        groups=bound.get("groups", Const(1)),
    )  # fmt: skip
    if rank == dimensions + 2:
        return result
    if m.config.presumes and rank is None:
        return _in_batches(m, result, bound, "transpose" in row.base)
    return of_unknown_rank(m, result)


def _in_batches(m: Machine, result: Value, bound: Bound, transposed: bool) -> Value:
    """In the likely world what a layer is given are batches."""
    weight = shape_of(m, bound["weight"])
    if not isinstance(result, Ref) or m.tensor(result) is None or weight is None:
        return of_unknown_rank(m, result)
    channels = weight[0]
    if transposed:
        match weight[1], bound.get("groups", Const(1)):
            case int(each), Const(value=int(groups)):
                channels = each * groups
            case _:
                channels = None
    shape = (None, channels, *(None,) * (len(weight) - 2))
    m.st.update(result.id, Tensor, lambda t: replace(t, shape=shape, contiguous=None, strides=None, offset=None))
    return result


def _spread(value: Value, dimensions: int) -> Value:
    """A number for each dimension."""
    if isinstance(value, Const) and isinstance(value.value, int):
        return Tup((value,) * dimensions)
    return Tup(value.items * dimensions) if isinstance(value, Tup) and len(value.items) == 1 else value


def _padding(m: Machine, bound: Bound, dimensions: int) -> Value | None:
    """How many elements are added at each side; None where the input may be copied into a larger tensor first."""
    given = bound.get("padding", Const(0))
    if given == Const("valid"):
        return ints([0] * dimensions)
    if given != Const("same"):
        return None if isinstance(given, Unknown) and given.type in {None, "str"} else _spread(given, dimensions)
    kernel_sizes, dilation = shape_of(m, bound["weight"]), bound.get("dilation", Const(1))
    spread = _spread(dilation, dimensions)
    steps = [step.value for step in spread.items if isinstance(step, Const)] if isinstance(spread, Tup) else []
    if kernel_sizes is None or len(steps) != dimensions:
        return None
    sides: list[int] = []
    for size, step in zip(kernel_sizes[2:], steps, strict=False):
        if size is None or not isinstance(step, int) or step * (size - 1) % 2:
            return None
        sides.append(step * (size - 1) // 2)
    return ints(sides)


@kernel("group_norm")
def _group_norm(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    source, shape = bound["input"], shape_of(m, bound["input"])
    given = m.tensor(source)
    if given is not None and given.contiguous is False:
        source = op(m, "contiguous", what, self=source)
    result = op(
        m, "native_group_norm", what, input=source, weight=bound.get("weight", NONE),
        bias=bound.get("bias", NONE), N=size_value(shape[0]) if shape else Unknown("int"),
        C=size_value(shape[1]) if shape and len(shape) > 1 else Unknown("int"), HxW=Unknown("int"),
        group=bound.get("num_groups", Unknown("int")), eps=bound.get("eps", Const(1e-5)),
    )  # fmt: skip
    first = result.items[0] if isinstance(result, Tup) else result
    found = m.tensor(first)
    if found is not None:
        found.shape = shape
    if given is None or given.contiguous is None:
        doubt_saved(m, first, {"input"})  # a contiguous copy of it, where it is not
    return first


@kernel("prelu")
def _prelu(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    if shape_of(m, bound["self"]) is not None or m.tensor(bound["weight"]) is None:
        return None
    # The weight is viewed with as many dimensions as there are.
    return op(m, "_prelu_kernel", what, self=bound["self"], weight=bound["weight"])


def of_unknown_rank(m: Machine, result: Value) -> Value:
    """A result that may have been given other dimensions after its last known node."""
    if isinstance(result, Ref) and m.tensor(result) is not None:
        tensor = tensor_at(m, result.id)
        if tensor.edge is not None and tensor.edge.node is not None:
            m.st.put(tensor.edge.node, replace(m.node(tensor.edge.node), names=()))
        m.st.update(result.id, Tensor, lambda t: replace(t, shape=None, contiguous=None, strides=None, offset=None))
    return result
