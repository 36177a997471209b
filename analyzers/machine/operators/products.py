"""Matrix products of any rank, built from `mm`, `mv`, `dot` and `bmm` as in torch.

A product of a batch with a single matrix is *folded*: the batch becomes one tall matrix, if the other factor requires
grad (a batch of copies would make its gradient expensive) or if folding needs no copy. All others become products of
two batches.

    torch.ones(2, 3, 4) @ w    # view, mm, _unsafe_view
"""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge, Tensor
from analyzers.domain.values import NONE, Const, Ref, Value
from analyzers.machine.autograd.graph import Step, inputs_require_grad, make_node, refreshed
from analyzers.machine.autograd.results import lost_graph, new_result
from analyzers.machine.autograd.saved_tensors import check_savable, save
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.views import layout_of
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import Bound, sizes_value, tensors_in, unknown_operand
from analyzers.machine.operators.composite_shapes import reshape
from analyzers.machine.operators.dispatch import op
from analyzers.machine.operators.recording import needed_for
from analyzers.ops.infer_core import broadcast
from analyzers.ops.infer_matmul import matmul_shape

Sizes = tuple["int | None", ...]


def product(m: Machine, a: Value, b: Value, what: str) -> Value:
    """`a @ b`."""
    result = matmul(m, a, b, what)
    if result is not None:
        return result
    x, y = _sizes_of(m, a), _sizes_of(m, b)
    shape = None if x is None or y is None else matmul_shape(x, y)
    return _unknown_product(m, {"self": a, "other": b}, ("self", "other"), shape, what)


def matmul(m: Machine, a: Value, b: Value, what: str) -> Value | None:
    """The product as computed by torch's parts; None if too little is known about the factors."""
    x, y = _sizes_of(m, a), _sizes_of(m, b)
    if x is None or y is None or not x or not y:
        return None
    if len(x) == 1 and len(y) == 1:
        return op(m, "dot", what, self=a, tensor=b)
    if len(x) == 2 and len(y) == 1:
        return op(m, "mv", what, self=a, vec=b)
    if len(x) == 1 and len(y) == 2:
        product = op(m, "mm", what, self=op(m, "unsqueeze", what, self=a, dim=Const(0)), mat2=b)
        return op(m, "squeeze_.dim", what, self=product, dim=Const(0))
    if len(x) == 2 and len(y) == 2:
        return op(m, "mm", what, self=a, mat2=b)
    folds = _folds(m, a, b)
    if folds is None:
        return None
    return _folded(m, a, b, what) if folds else _batched(m, a, b, what)


def _sizes_of(m: Machine, value: Value) -> Sizes | None:
    tensor = m.tensor(value)
    return None if tensor is None or not isinstance(value, Ref) else tensor.shape


def _folds(m: Machine, a: Value, b: Value) -> truth.Truth:
    """Whether the larger factor, of rank three or more, is folded into a matrix: the other is a matrix or a vector."""
    x, y = _sizes_of(m, a), _sizes_of(m, b)
    assert isinstance(a, Ref) and isinstance(b, Ref) and x is not None and y is not None
    larger, other = (a, b) if len(x) >= len(y) else (b, a)
    tall, flat = (x, y) if len(x) >= len(y) else (y, x)
    if len(tall) < 3 or len(flat) > 2:
        return False
    needed = refreshed(m, other.id).requires_grad
    if needed:
        return True
    if needed is None:
        return None
    if len(x) == 2:
        return False
    layout = layout_of(tensor_at(m, larger.id))
    if layout is None:
        return True if tensor_at(m, larger.id).contiguous else None
    if layout.numel == 0:
        return True
    strides = layout.strides if larger is a else (*layout.strides[:-2], layout.strides[-1], layout.strides[-2])
    sizes = layout.shape if larger is a else (*layout.shape[:-2], layout.shape[-1], layout.shape[-2])
    return all(strides[i] == strides[i + 1] * sizes[i + 1] for i in range(len(sizes) - 2))


def _folded(m: Machine, a: Value, b: Value, what: str) -> Value:
    x, y = _sizes_of(m, a), _sizes_of(m, b)
    assert x is not None and y is not None
    turned = len(y) > len(x)
    if turned:
        a, b = op(m, "mT", what, self=b), op(m, "t", what, self=a) if len(x) == 2 else a
        x, y = _sizes_of(m, a), _sizes_of(m, b)
        assert x is not None and y is not None
    flat = reshape(m, a, sizes_value((_product(x[:-1]), x[-1])), what)
    if len(y) == 1:
        return op(m, "_unsafe_view", what, self=op(m, "mv", what, self=flat, vec=b), size=sizes_value(x[:-1]))
    product = op(m, "mm", what, self=flat, mat2=b)
    result = op(m, "_unsafe_view", what, self=product, size=sizes_value((*x[:-1], y[-1])))
    return op(m, "contiguous", what, self=op(m, "mT", what, self=result)) if turned else result


def _batched(m: Machine, a: Value, b: Value, what: str) -> Value | None:
    x, y = _sizes_of(m, a), _sizes_of(m, b)
    assert isinstance(a, Ref) and isinstance(b, Ref) and x is not None and y is not None
    if len(x) == len(y) == 3 and x[0] != y[0]:
        for factor, sizes, first in ((a, x, True), (b, y, False)):
            needed = refreshed(m, factor.id).requires_grad
            if sizes[0] == 1 and needed is None:
                return None
            if sizes[0] == 1 and needed:
                matrix = op(m, "squeeze.dim", what, self=factor, dim=Const(0))
                return matmul(m, matrix, b, what) if first else matmul(m, a, matrix, what)
    batch = broadcast(x[:-2], y[:-2])
    if batch is None or None in batch:
        return None
    count = _product(batch)
    rows = x[-2] if len(x) > 1 else 1
    left = op(m, "expand", what, self=a, size=sizes_value((*batch, rows, x[-1])))
    left = reshape(m, left, sizes_value((count, rows, x[-1])), what)
    if len(y) == 1:
        right = op(m, "expand", what, self=b, size=sizes_value((*batch, y[0])))
        right = op(m, "unsqueeze", what, self=reshape(m, right, sizes_value((count, y[0])), what), dim=Const(2))
    else:
        right = op(m, "expand", what, self=b, size=sizes_value((*batch, *y[-2:])))
        right = reshape(m, right, sizes_value((count, *y[-2:])), what)
    product = op(m, "bmm", what, self=left, mat2=right)
    if len(y) == 1:
        product = op(m, "squeeze.dim", what, self=product, dim=Const(-1))
    result = (*batch, *((rows,) if len(x) > 1 else ()), *((y[-1],) if len(y) > 1 else ()))
    return op(m, "_unsafe_view", what, self=product, size=sizes_value(result))


def _product(sizes: Sizes) -> int | None:
    total = 1
    for size in sizes:
        if size is None:
            return None
        total *= size
    return total


def linear(m: Machine, x: Value, weight: Value, bias: Value, what: str) -> Value:
    """`x @ weight.t() + bias`."""
    sizes, tensor = _sizes_of(m, x), m.tensor(x)
    if not sizes or tensor is None or not isinstance(weight, Ref):
        return _linear_unknown(m, x, weight, bias, what)
    if len(sizes) == 2 and bias != NONE:
        return op(m, "addmm", what, self=bias, mat1=x, mat2=op(m, "t", what, self=weight))
    if bias != NONE and tensor.contiguous is None and len(sizes) > 2:
        return _linear_unknown(m, x, weight, bias, what)
    if bias != NONE and tensor.contiguous is not False:
        flat = op(m, "view", what, self=x, size=sizes_value((_product(sizes[:-1]) or -1, sizes[-1])))
        product = op(m, "addmm", what, self=bias, mat1=flat, mat2=op(m, "t", what, self=weight))
        out = _sizes_of(m, product)
        return op(m, "view", what, self=product, size=sizes_value((*sizes[:-1], out[-1] if out else None)))
    result = matmul(m, x, op(m, "t", what, self=weight), what)
    if result is None:
        return _linear_unknown(m, x, weight, bias, what)
    return result if bias == NONE else op(m, "add_.Tensor", what, self=result, other=bias)


def _linear_unknown(m: Machine, x: Value, weight: Value, bias: Value, what: str) -> Value:
    """A linear layer on input about which too little is known."""
    shape, out = _sizes_of(m, x), _sizes_of(m, weight)
    result = None if shape is None else (*shape[:-1], out[0] if out else None)
    return _unknown_product(m, {"input": x, "weight": weight, "bias": bias}, ("input", "weight"), result, what)


def _unknown_product(m: Machine, values: Bound, factors: tuple[str, str], shape: Sizes | None, what: str) -> Value:
    """A product with unknown parts: each factor is saved for the other's gradient, if it need not be copied."""
    inputs = {k: tensors_in(m, v) for k, v in values.items()}
    step = Step("matmul", what, inputs, (), tuple(values), "op", m.parents(list(values.values())))
    step.requires = inputs_require_grad(m, step)
    hidden = any(unknown_operand(m, v) for v in values.values())
    if hidden and not step.requires:
        step.requires = None
    requires = truth.both(m.st.grad, step.requires)
    if m.st.inference:
        requires = False
    node = None
    if requires is not False:
        kept = []
        for mine, other in (factors, factors[::-1]):
            need = needed_for(m, [values[other]], inputs[other])
            if inputs[mine] and need.there is not False:
                copied = _may_be_copied(m, mine, tensor_at(m, inputs[mine][0]))
                if need.there and not copied and requires:
                    check_savable(m, inputs[mine][0])
                one = save(m, inputs[mine][0], mine, maybe=need.there is None or copied)
                kept.append(replace(one, unseen=need.unseen))
        node = make_node(m, step, kept)
        if hidden:
            found = m.node(node)
            m.st.put(node, replace(found, edges=(*found.edges, Edge(maybe=True))))
    # Torch does not multiply two dtypes, so one operand's known dtype is also the result's.
    dtypes = {t.dtype for v in values.values() if (t := m.tensor(v)) is not None and t.dtype is not None}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    cut = lost_graph(m, step.operands(), None) if m.st.grad is False or m.st.inference else None
    return new_result(m, step, shape, dtype, node, requires=requires, cut=cut)


def _may_be_copied(m: Machine, name: str, factor: Tensor) -> bool:
    """Whether a copy of a factor is saved in its place: the input of a linear layer becomes a tall matrix, which is a
    view if its rows lie one after another; a batch may be multiplied with what is expanded to one."""
    if name == "weight" or (name == "other" and factor.shape is not None and len(factor.shape) < 3):
        return False
    batch = name != "input" and (factor.shape is None or len(factor.shape) > 2)
    return factor.contiguous is False or ((factor.contiguous is None or batch) and not m.config.presumes)
