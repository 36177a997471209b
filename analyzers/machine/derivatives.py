"""Gradients that have a graph themselves: what each node's backward computes, as torch's own formulas say it.

With `create_graph=True` a backward is recorded like any other computation: `exp` keeps its result, and its gradient is
`grad * result`, a multiplication whose node leads to what `grad` and `result` came from. A formula here is one edge's
gradient, written with operators; the machine runs it as it runs the program's own. A node without a formula gives
gradients of which only shape and dtype are known.

    (g,) = torch.autograd.grad(x.exp().sum(), x, create_graph=True)   # `g` has MulBackward0 for a graph
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from analyzers.domain import truth
from analyzers.domain.objects import Edge, Node, Operand, Shape
from analyzers.domain.values import NONE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core import Machine
from analyzers.machine.tensors import edge_to, refreshed, tensor_at

Given: TypeAlias = "Term | float | bool | Sequence[int | None] | None"


class Term:
    """A tensor of the machine's, to compute with as the program would."""

    __slots__ = ("m", "value")

    def __init__(self, m: Machine, value: Value) -> None:
        self.m = m
        self.value = value

    def __getattr__(self, name: str) -> Callable[..., Term]:
        return lambda *args, **kwargs: self.method(name, *args, **kwargs)

    def method(self, name: str, *args: Given, **kwargs: Given) -> Term:
        from analyzers.machine.calls import Args
        from analyzers.machine.methods import call_bound

        named = {k: _value(v) for k, v in kwargs.items()}
        return Term(self.m, call_bound(self.m, self.value, name, Args([_value(a) for a in args], named)))

    def __mul__(self, other: Given) -> Term:
        return self.method("mul", other)

    def __rmul__(self, other: Given) -> Term:
        return self.method("mul", other)

    def __add__(self, other: Given) -> Term:
        return self.method("add", other)

    def __radd__(self, other: Given) -> Term:
        return self.method("add", other)

    def __sub__(self, other: Given) -> Term:
        return self.method("sub", other)

    def __truediv__(self, other: Given) -> Term:
        return self.method("div", other)

    def __neg__(self) -> Term:
        return self.method("neg")

    def __lt__(self, other: Given) -> Term:
        return self.method("lt", other)

    def __le__(self, other: Given) -> Term:
        return self.method("le", other)

    def __ge__(self, other: Given) -> Term:
        return self.method("ge", other)

    @property
    def shape(self) -> Shape:
        found = self.m.tensor(self.value)
        return None if found is None else found.shape


def _value(given: Given) -> Value:
    if isinstance(given, Term):
        return given.value
    if isinstance(given, Sequence):
        return Tup(tuple(Const(n) if n is not None else Unknown("int") for n in given))
    return Const(given)


class Derivative:
    """What a formula sees: the gradients of the node's results, what it saved, its plain arguments, and its operand."""

    def __init__(self, m: Machine, node: Node, grads: Sequence[Value], operand: Operand) -> None:
        self.m = m
        self.node = node
        self.grads = [Term(m, g) for g in grads]
        self.operand = operand

    @property
    def grad(self) -> Term:
        return next(g for g in self.grads if g.value != NONE)

    @property
    def shape(self) -> Sequence[int | None]:
        """The operand's sizes."""
        assert self.operand.shape is not None
        return self.operand.shape

    def saved(self, name: str) -> Term:
        """What the node kept under a name; what it had no need to keep has no graph."""
        for saved in self.node.saved:
            if saved.name == name and saved.tensor is not None:
                return Term(self.m, Ref(saved.tensor))
        return Term(self.m, self.m.new_tensor((), self.operand.dtype))

    def scalar(self, name: str, default: object = None) -> object:
        value = dict(self.node.scalars).get(name, Const(default))
        return value.value if isinstance(value, Const) else None

    def sizes(self, name: str) -> list[int]:
        """A plain argument that is one whole number or several."""
        match dict(self.node.scalars).get(name):
            case Const(value=int() as one):
                return [one]
            case Tup(items=items) if all(isinstance(i, Const) and isinstance(i.value, int) for i in items):
                return [i.value for i in items if isinstance(i, Const) and isinstance(i.value, int)]
        return []

    def op(self, base: str, *args: Given) -> Term:
        """An operator that has no Python name of its own, with its first arguments."""
        from analyzers.machine.torch_calls import apply
        from analyzers.ops import table

        row = next(r for r in table.rows(base) if not r.out)
        bound = {a.name: _value(v) for a, v in zip(row.args, args, strict=False)}
        result = apply(self.m, row, bound)
        value = result.items[0] if isinstance(result, Tup) else result
        made = self.m.tensor(value)
        if made is not None and made.shape is None:
            made.shape, made.dtype = self.operand.shape, self.operand.dtype
        return Term(self.m, value)

    def where(self, condition: Term, yes: Given, no: Given) -> Term:
        from analyzers.machine.torch_calls import call_torch

        return Term(self.m, call_torch(self.m, "torch.where", [condition.value, _value(yes), _value(no)], {}))


Formula: TypeAlias = Callable[[Derivative], Term]


def gradients(m: Machine, node: Node, grads: Sequence[Value], wanted: Sequence[bool]) -> list[Value]:
    """The gradient along each edge of a node, those that are not `wanted` being None; to be run in grad mode."""
    if node.kind == "inside":
        return [grads[0]]
    overwritten = any(saved.name == "original_self" for saved in node.saved)
    plain = node.kind == "op" and len(node.names) == 1 and not overwritten
    formulas = FORMULAS.get(node.names[0]) if plain else None
    out: list[Value] = []
    for index, edge in enumerate(node.edges):
        operand = node.operands[index] if index < len(node.operands) else Operand()
        if edge is None or not wanted[index] or all(g == NONE for g in grads):
            out.append(NONE)
            continue
        formula = None
        if formulas is not None and operand.shape is not None:
            formula = formulas[index] if index < len(formulas) else formulas[-1] if len(formulas) == 1 else None
        made = _computed(m, node, grads, operand, formula) if formula is not None else None
        fresh = fresh_memory(node) or (node.kind == "copy-slices" and index == 0)
        out.append(made if made is not None else opaque_gradient(m, node, grads, operand, fresh=fresh))
    return out


def _computed(m: Machine, node: Node, grads: Sequence[Value], operand: Operand, formula: Formula) -> Value | None:
    before = m.within
    m.within = before or node.what
    try:
        result = formula(Derivative(m, node, grads, operand))
    finally:
        m.within = before
    found = m.tensor(result.value)
    if found is None or found.shape is None or None in found.shape or operand.shape is None:
        return None
    return summed_to(result, operand.shape).value


def summed_to(term: Term, shape: tuple[int | None, ...]) -> Term:
    """The engine sums a gradient over what broadcasting had repeated."""
    given = term.shape
    assert given is not None
    if given == shape or len(given) < len(shape):
        return term
    if not shape:
        return term.method("sum")
    leading = len(given) - len(shape)
    dims = [i for i in range(len(given)) if i < leading or (shape[i - leading] == 1 and given[i] != 1)]
    term = term.method("sum", dims, keepdim=True)
    return term.method("view", shape) if leading else term


# Their backward makes memory of its own for the gradient; that of others may hand on, or look into, what came to it.
_FRESH = frozenset(
    f"{name}Backward0"
    for name in (
        *("Abs", "Amax", "Amin", "Bmm", "Celu", "Clamp", "ClampMin", "Convolution", "Cos", "Cumsum", "Diagonal", "Div"),
        *("Dot", "Elu", "Embedding", "Erf", "Exp", "Flip", "Gather", "Gelu", "Index", "IndexSelect", "LeakyRelu"),
        *("LinalgVectorNorm", "Log", "Log1P", "LogSigmoid", "LogSoftmax", "Logsumexp", "MaskedFill", "Max", "Mean"),
        *("Min", "MseLoss", "Mul", "Mv", "NativeLayerNorm", "Neg", "NllLoss", "Pow", "Prod", "Reciprocal", "Relu"),
        *("Roll", "Rsqrt", "Select", "Sigmoid", "Silu", "Sin", "Slice", "SmoothL1Loss", "Softmax", "Softplus", "Split"),
        *("Sqrt", "Std", "Tan", "Tanh", "Tril", "Triu", "Var", "Where"),
    )
) | {"DivBackward1", "MaxBackward1", "MeanBackward1", "MinBackward1", "MulBackward1", "PowBackward1", "ProdBackward1"}


def fresh_memory(node: Node) -> bool:
    """Whether the gradient that a node hands on is surely no view."""
    return node.kind == "op" and bool(node.names) and _FRESH.issuperset(node.names)


def opaque_gradient(m: Machine, node: Node, grads: Sequence[Value], operand: Operand, *, fresh: bool = False) -> Value:
    """A gradient by a formula that is not known: it may have a graph if anything that it is made of has one.

    It may be a view of another, or that itself, unless it is `fresh`.
    """
    sources = [g.id for g in grads if isinstance(g, Ref) and m.tensor(g) is not None]
    hidden = node.kind != "op" or any(s.name == "original_self" for s in node.saved)
    for saved in node.saved:
        if saved.tensor is not None and m.st.find(saved.tensor) is not None:
            sources.append(saved.tensor)
    requires = truth.any_of(refreshed(m, i).requires_grad for i in sources)
    grad = m.new_tensor(operand.shape, operand.dtype, what="grad")
    made = tensor_at(m, grad.id)
    made.contiguous = None
    if not fresh:
        made.overlapping, made.creation = None, "unknown"
    if m.st.grad is False or (requires is False and not hidden):
        return grad
    edges = [replace(edge, maybe=True) for i in sources if (edge := edge_to(m, i)) is not None]
    below = [replace(edge, maybe=True) for edge in node.edges if edge is not None] if hidden else []
    unknown = Node(
        (), (*edges, *below), kind="unknown", loc=m.here(), what="grad", seq=m.next_sequence(),
        epoch=tuple(m.iterations), via=m.via(),
    )  # fmt: skip
    made.requires_grad = None
    made.edge = Edge(m.new(unknown).id, maybe=True)
    return grad


# --- formulas ---------------------------------------------------------------------------------------------------


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
    """The gradient of a reduction, with the sizes that the reduction took away."""
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
    """Of a maximum over all elements: shared by those that are it."""
    mask = d.saved("self").method("eq", d.saved("result"))
    zeros = Term(d.m, d.m.new_tensor(d.operand.shape, d.operand.dtype))
    return zeros.method("masked_fill", mask, d.grad / mask.method("sum"))


def _picked(d: Derivative) -> Term:
    """Of a maximum along a dimension: scattered to where it was."""
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


def _by(base: str, *names: str) -> tuple[Formula]:
    """An operator of the gradient and what was saved, that torch has for this very purpose."""
    return (lambda d: d.op(base, d.grad, *[d.saved(n) for n in names]),)


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)

FORMULAS: dict[str, tuple[Formula, ...]] = {
    "AbsBackward0": (lambda d: d.grad * d.saved("self").method("sgn"),),
    "AddBackward0": (lambda d: d.grad, lambda d: _times(d, d.scalar("alpha", 1))),
    "AddmmBackward0": (
        lambda d: _times(d, d.scalar("beta", 1)), lambda d: _mat1(d, "mat2"), lambda d: _mat2(d, "mat1")
    ),
    "CeilBackward0": (_zeros,),
    "ClampBackward1": (_clamp,),
    "ClampMinBackward0": (lambda d: d.where(d.saved("self") >= 0, d.grad, 0.0),),
    "CloneBackward0": (lambda d: d.grad,),
    "CosBackward0": (lambda d: d.grad * -d.saved("self").method("sin"),),
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
    "PowBackward0": (_pow,),
    "PowBackward1": (_pow_self, _pow_exponent),
    "ReciprocalBackward0": (lambda d: -d.grad * (d.saved("result") * d.saved("result")),),
    "ReluBackward0": (lambda d: d.op("threshold_backward", d.grad, d.saved("result"), 0),),
    "RoundBackward0": (_zeros,),
    "RsqrtBackward0": (lambda d: -0.5 * d.grad * d.saved("result").method("pow", 3),),
    "SigmoidBackward0": _by("sigmoid_backward", "result"),
    "SignBackward0": (_zeros,),
    "SiluBackward0": (_silu,),
    "SinBackward0": (lambda d: d.grad * d.saved("self").method("cos"),),
    "SoftmaxBackward0": _by("_softmax_backward_data", "result"),
    "SoftplusBackward0": _by("softplus_backward", "self"),
    "SqrtBackward0": (lambda d: d.grad / (2 * d.saved("result")),),
    "SqueezeBackward0": (_squeeze_back,),
    "SqueezeBackward1": (_squeeze_back,),
    "SubBackward0": (
        lambda d: d.grad, lambda d: _times(Derivative(d.m, d.node, [(-d.grad).value], d.operand), d.scalar("alpha", 1))
    ),
    "SumBackward0": (lambda d: d.grad.method("expand", d.shape),),
    "SumBackward1": (_sum_dims,),
    "TBackward0": (lambda d: d.grad.method("t"),),
    "TanhBackward0": _by("tanh_backward", "result"),
    "UnsafeViewBackward0": (lambda d: d.grad.method("reshape", d.shape),),
    "UnsqueezeBackward0": (lambda d: d.grad.method("squeeze", (d.sizes("dim") or [0])[0]),),
    "ViewBackward0": (lambda d: d.grad.method("reshape", d.shape),),
}  # fmt: skip
"""By the node's name: the gradient along each of its edges, in order."""

__all__ = ["FORMULAS", "gradients", "opaque_gradient"]
