"""Gradients with a graph of their own: torch's formula for each node's backward.

With `create_graph=True` a backward is recorded like any other computation: `exp` saves its result, and its gradient is
`grad * result`, a multiplication whose node leads to what `grad` and `result` were computed from. A formula here is one
edge's gradient, written with operators; the machine runs it like the program's own code. A node without a formula
produces gradients of which only shape and dtype are known.

    (g,) = torch.autograd.grad(x.exp().sum(), x, create_graph=True)   # `g` has MulBackward0 for a graph
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from analyzers.domain.objects import Node
from analyzers.domain.values import NONE, Const, Tup, Unknown, Value
from analyzers.machine.autograd.gradients import GRADIENTS, Gradient
from analyzers.machine.autograd.tensor_arithmetic import Term
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.tables import enter
from analyzers.machine.operators.dispatch import call_torch
from analyzers.machine.operators.formulas import Derivative, Formula


def _pow(d: Derivative) -> Term:
    exponent = d.scalar("exponent")
    if not isinstance(exponent, int | float):
        return Term(d.m, Unknown())
    return _zeros(d) if exponent == 0 else d.grad * (exponent * d.saved("self").method("pow", exponent - 1))


def _pow_self(d: Derivative) -> Term:
    base, exponent = d.saved("self"), d.saved("exponent")
    return d.where(exponent.method("eq", 0), 0.0, d.grad * (exponent * base.method("pow", exponent - 1)))


def _pow_exponent(d: Derivative) -> Term:
    base, result = d.saved("self"), d.saved("result")
    return d.grad * d.where(base.method("eq", 0), 0.0, result * base.method("log"))


def _zeros(d: Derivative) -> Term:
    return (
        d.grad.method("mul", 0) if d.grad.shape is None else Term(d.m, d.m.new_tensor(d.operand.shape, d.operand.dtype))
    )


def _unsqueezed(d: Derivative) -> Term:
    """The gradient of a reduction, with the reduced dimensions restored."""
    grad = d.grad
    if d.scalar("keepdim", False) is True:
        return grad
    rank = len(d.shape)
    for dim in sorted(n % rank for n in d.sizes("dim")) if rank else ():
        grad = grad.method("unsqueeze", dim)
    return grad


def _sum_dims(d: Derivative) -> Term:
    return _unsqueezed(d).method("expand", d.shape)


def _mean_dims(d: Derivative) -> Term:
    return _sum_dims(d) / 2


def _mean(d: Derivative) -> Term:
    return d.grad.method("expand", d.shape) / 2


def _times(d: Derivative, factor: object) -> Term:
    return d.grad if factor in {1, None} else d.grad * (factor if isinstance(factor, int | float) else 2)


def _mat1(d: Derivative, other: str) -> Term:
    if d.operand.contiguous is not True:
        return Term(d.m, Unknown())
    return d.grad.method("mm", d.saved(other).method("t"))


def _mat2(d: Derivative, other: str) -> Term:
    saved = d.saved(other)
    if d.operand.contiguous is True:
        return saved.method("t").method("mm", d.grad)
    if d.operand.contiguous is False:
        return d.grad.method("t").method("mm", saved).method("t")
    return Term(d.m, Unknown())


def _clamp(d: Derivative) -> Term:
    x, low, high = d.saved("self"), d.scalar("min"), d.scalar("max")
    inside = x >= 0 if low is not None else x <= 0
    return d.where(inside, d.grad, 0.0) if low is not None or high is not None else d.grad


def _extreme(d: Derivative) -> Term:
    """The gradient of a maximum over all elements: shared equally among the elements that attain it."""
    mask = d.saved("self").method("eq", d.saved("result"))
    zeros = Term(d.m, d.m.new_tensor(d.operand.shape, d.operand.dtype))
    return zeros.method("masked_fill", mask, d.grad / mask.method("sum"))


def _picked(d: Derivative) -> Term:
    """The gradient of a maximum along a dimension: scattered to the index of the maximum."""
    dims = d.sizes("dim")
    grad, index = d.grad, d.saved("indices")
    if d.scalar("keepdim", False) is not True and d.shape and dims:
        grad, index = grad.method("unsqueeze", dims[0]), index.method("unsqueeze", dims[0])
    dim = dims[0] if dims else 0
    zeros = Term(d.m, d.m.new_tensor(d.operand.shape, d.operand.dtype))
    return zeros.method("scatter", dim, index, grad)


def _silu(d: Derivative) -> Term:
    x = d.saved("self")
    sigmoid = x.method("sigmoid")
    return d.grad * sigmoid * (1.0 + x * (sigmoid * -1.0 + 1.0))


def _norm(d: Derivative) -> Term:
    if d.scalar("ord", 2) != 2 or d.sizes("dim"):
        return Term(d.m, Unknown())
    norm = d.saved("result")
    return d.grad * (d.saved("self") / norm).method("masked_fill_", norm.method("eq", 0), 0)


def _larger(d: Derivative) -> Term:
    x, y = d.saved("self"), d.saved("other")
    return d.where(x.method("eq", y), d.grad / 2, d.grad).method("masked_fill_", x < y, 0)


def _cumsum(d: Derivative) -> Term:
    dim = (d.sizes("dim") or [0])[0]
    return d.grad.method("flip", [dim]).method("cumsum", dim).method("flip", [dim]) if d.shape else d.grad


def _squeeze_back(d: Derivative) -> Term:
    grad = d.grad
    dims = d.sizes("dim") if any(n == "dim" for n, _ in d.node.scalars) else range(len(d.shape))
    for dim in sorted(n % max(1, len(d.shape)) for n in dims):
        if d.shape and d.shape[dim] == 1:
            grad = grad.method("unsqueeze", dim)
    return grad


def _part(d: Derivative) -> Term:
    """The gradient of one of the tensors that `cat` puts in a row."""
    dim, before = d.dim(), d.node.operands[: d.index + 1]
    # An empty vector goes with tensors of any rank.
    alike = [o.shape for o in before if o.shape is not None and len(o.shape) == len(d.shape)]
    known = [size for shape in alike if dim is not None and (size := shape[dim]) is not None]
    if dim is None or len(known) < len(before):
        return Term(d.m, Unknown())
    return d.grad.method("narrow", dim, sum(known[:-1]), known[-1])


def _layer(d: Derivative) -> Term:
    """The gradient of one of the tensors that `stack` puts on one another."""
    at = d.scalar("dim", 0)
    return d.grad.method("select", at, d.index) if isinstance(at, int) else Term(d.m, Unknown())


def _whole(d: Derivative) -> Term:
    """The gradient of what a slice is taken of."""
    start, end, step = d.plain("start", 0), d.plain("end", None), d.plain("step", 1)
    return d.op("slice_backward", d.grad, d.shape, d.plain("dim", 0), start, end, step)


def _permuted(d: Derivative) -> Term:
    dims = [at % len(d.shape) for at in d.sizes("dims")]
    back = [dims.index(at) for at in range(len(d.shape))] if sorted(dims) == list(range(len(d.shape))) else None
    return Term(d.m, Unknown()) if back is None else d.grad.method("permute", back)


def _stacked(d: Derivative) -> Term:
    """The gradient of what `unbind` takes apart: those of the parts, and zeros for the parts that have none."""
    dim = d.dim()
    if dim is None or len(d.grads) != d.shape[dim]:
        return Term(d.m, Unknown())
    shape = tuple(size for at, size in enumerate(d.shape) if at != dim)
    parts = [g if g.value != NONE else Term(d.m, d.m.new_tensor(shape, d.operand.dtype)) for g in d.grads]
    return Term(d.m, call_torch(d.m, "torch.stack", [Tup(tuple(p.value for p in parts)), Const(dim)], {}))


def _by(base: str, *names: str) -> tuple[Formula]:
    """The operator that torch has for this backward, applied to the gradient and what was saved."""
    return (lambda d: d.op(base, d.grad, *[d.saved(n) for n in names]),)


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


FORMULAS: dict[str, tuple[Formula, ...]] = {
    "AbsBackward0": (lambda d: d.grad * d.saved("self").method("sgn"),),
    "AddBackward0": (lambda d: d.grad, lambda d: _times(d, d.scalar("alpha", 1))),
    "AddmmBackward0": (
        lambda d: _times(d, d.scalar("beta", 1)), lambda d: _mat1(d, "mat2"), lambda d: _mat2(d, "mat1")
    ),
    "AtanBackward0": (lambda d: d.grad / (d.saved("self") * d.saved("self") + 1),),
    "BmmBackward0": (
        lambda d: d.grad.method("bmm", d.saved("mat2").method("transpose", 1, 2)),
        lambda d: d.saved("self").method("transpose", 1, 2).method("bmm", d.grad),
    ),
    "CatBackward0": (_part,),
    "CeilBackward0": (_zeros,),
    "ClampBackward1": (_clamp,),
    "ClampMinBackward0": (lambda d: d.where(d.saved("self") >= 0, d.grad, 0.0),),
    "CloneBackward0": (lambda d: d.grad,),
    "CosBackward0": (lambda d: d.grad * -d.saved("self").method("sin"),),
    "CoshBackward0": (lambda d: d.grad * d.saved("self").method("sinh"),),
    "CumsumBackward0": (_cumsum,),
    "DivBackward0": (
        lambda d: d.grad / d.saved("other"),
        lambda d: -d.grad * ((d.saved("self") / d.saved("other")) / d.saved("other")),
    ),
    "DotBackward0": (lambda d: d.grad * d.saved("tensor"), lambda d: d.grad * d.saved("self")),
    "EluBackward0": (lambda d: d.op("elu_backward", d.grad, 1, 1, 1, False, d.saved("self")),),
    "ErfBackward0": (
        lambda d: _TWO_OVER_ROOT_PI * (-d.saved("self").method("pow", 2)).method("exp") * d.grad,
    ),
    "ExpBackward0": (lambda d: d.grad * d.saved("result"),),
    "ExpandBackward0": (lambda d: d.grad,),
    "Expm1Backward0": (lambda d: d.grad * (d.saved("result") + 1),),
    "FloorBackward0": (_zeros,),
    "GeluBackward0": _by("gelu_backward", "self"),
    "LeakyReluBackward0": _by("leaky_relu_backward", "self"),
    "LinalgVectorNormBackward0": (_norm,),
    "LogBackward0": (lambda d: d.grad.method("div", d.saved("self")),),
    "Log1PBackward0": (lambda d: d.grad / (d.saved("self") + 1),),
    "LogSoftmaxBackward0": _by("_log_softmax_backward_data", "result"),
    "MaxBackward0": (_picked,),
    "MaxBackward1": (_extreme,),
    "MaximumBackward0": (_larger, _larger),
    "MeanBackward0": (_mean,),
    "MeanBackward1": (_mean_dims,),
    "MinBackward0": (_picked,),
    "MinBackward1": (_extreme,),
    "MinimumBackward0": (_larger, _larger),
    "MmBackward0": (lambda d: _mat1(d, "mat2"), lambda d: _mat2(d, "self")),
    "MseLossBackward0": (
        lambda d: d.op("mse_loss_backward", d.grad, d.saved("self"), d.saved("target")),
        lambda d: d.op("mse_loss_backward", d.grad, d.saved("target"), d.saved("self")),
    ),
    "MulBackward0": (lambda d: d.grad * d.saved("other"), lambda d: d.grad * d.saved("self")),
    "MvBackward0": (
        lambda d: d.grad.method("ger", d.saved("vec")), lambda d: d.saved("self").method("t").method("mv", d.grad)
    ),
    "NegBackward0": (lambda d: d.grad.method("neg"),),
    "PermuteBackward0": (_permuted,),
    "PowBackward0": (_pow,),
    "PowBackward1": (_pow_self, _pow_exponent),
    "ReciprocalBackward0": (lambda d: -d.grad * (d.saved("result") * d.saved("result")),),
    "ReluBackward0": (lambda d: d.op("threshold_backward", d.grad, d.saved("result"), 0),),
    "RoundBackward0": (_zeros,),
    "RsqrtBackward0": (lambda d: -0.5 * d.grad * d.saved("result").method("pow", 3),),
    "SelectBackward0": (
        lambda d: d.op("select_backward", d.grad, d.shape, d.plain("dim", 0), d.plain("index", 0)),
    ),
    "SigmoidBackward0": _by("sigmoid_backward", "result"),
    "SignBackward0": (_zeros,),
    "SiluBackward0": (_silu,),
    "SinBackward0": (lambda d: d.grad * d.saved("self").method("cos"),),
    "SinhBackward0": (lambda d: d.grad * d.saved("self").method("cosh"),),
    "SliceBackward0": (_whole,),
    "SoftmaxBackward0": _by("_softmax_backward_data", "result"),
    "SoftplusBackward0": _by("softplus_backward", "self"),
    "SqrtBackward0": (lambda d: d.grad / (2 * d.saved("result")),),
    "SqueezeBackward0": (_squeeze_back,),
    "SqueezeBackward1": (_squeeze_back,),
    "StackBackward0": (_layer,),
    "SubBackward0": (
        lambda d: d.grad, lambda d: _times(Derivative(d.m, d.node, [(-d.grad).value], d.index), d.scalar("alpha", 1))
    ),
    "SumBackward0": (lambda d: d.grad.method("expand", d.shape),),
    "SumBackward1": (_sum_dims,),
    "TBackward0": (lambda d: d.grad.method("t"),),
    "TanBackward0": (lambda d: d.grad * (d.saved("result").method("pow", 2) + 1),),
    "TanhBackward0": _by("tanh_backward", "result"),
    "TransposeBackward0": (lambda d: d.grad.method("transpose", d.plain("dim0", 0), d.plain("dim1", 1)),),
    "UnbindBackward0": (_stacked,),
    "UnsafeViewBackward0": (lambda d: d.grad.method("reshape", d.shape),),
    "UnsqueezeBackward0": (lambda d: d.grad.method("squeeze", (d.sizes("dim") or [0])[0]),),
    "ViewBackward0": (lambda d: d.grad.method("reshape", d.shape),),
    "WhereBackward0": (
        lambda d: d.where(d.saved("condition"), d.grad, 0.0), lambda d: d.where(d.saved("condition"), 0.0, d.grad),
    ),
}  # fmt: skip
"""By node name: the gradient along each edge, in order."""


def _gradient(formula: Formula) -> Gradient:
    def run(m: Machine, node: Node, grads: Sequence[Value], index: int) -> Term:
        return formula(Derivative(m, node, grads, index))

    return run


for _name, _formulas in FORMULAS.items():
    enter(GRADIENTS, _name, tuple(_gradient(formula) for formula in _formulas))
