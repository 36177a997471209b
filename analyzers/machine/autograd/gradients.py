"""Gradients that are actually looked at: computed by each node's formula, possibly with a graph of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Edge, Node, Operand
from analyzers.domain.values import NONE, TRUE, Const, Ref, Value
from analyzers.machine.autograd.graph import edge_to, refreshed
from analyzers.machine.autograd.tensor_arithmetic import Term, summed_to
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine

Gradient: TypeAlias = Callable[[Machine, Node, Sequence[Value], int], Term]

GRADIENTS: Final[dict[str, tuple[Gradient, ...]]] = {}
"""By node name, the formulas that compute the gradient along each edge, or a single one for all edges. Each gets the
number of its edge."""


_ASKED = {"embedding": "sparse", "embedding_bag": "sparse", "_embedding_bag": "sparse", "gather": "sparse_grad"}
"""The argument that makes an operator's gradient sparse."""


def gradient_is_sparse(node: Node, arriving: truth.Truth) -> truth.Truth:
    """Whether the gradients a node produces are sparse; `arriving`: whether its incoming gradient is."""
    base = node.payload.value if isinstance(node.payload, Const) else None
    asked = dict(node.scalars).get(_ASKED.get(str(base), ""))
    if asked == TRUE:
        return True
    return False if arriving is False and node.kind in {"op", "copy-slices"} else None


def summed(one: truth.Truth, other: truth.Truth) -> truth.Truth:
    """Whether a sum is sparse: one dense summand makes it dense."""
    if one is False or other is False:
        return False
    return True if one and other else None


def gradients(m: Machine, node: Node, grads: Sequence[Value], wanted: Sequence[bool]) -> list[Value]:
    """The gradient along each edge of a node, None for those not `wanted`; to be run in grad mode."""
    if node.kind == "inside":
        return [grads[0]]
    overwritten = any(saved.name == "original_self" for saved in node.saved)
    plain = node.kind == "op" and len(node.names) == 1 and not overwritten
    formulas = GRADIENTS.get(node.names[0]) if plain else None
    out: list[Value] = []
    for index, edge in enumerate(node.edges):
        operand = node.operands[index] if index < len(node.operands) else Operand()
        if edge is None or not wanted[index] or all(g == NONE for g in grads):
            out.append(NONE)
            continue
        formula = None
        if formulas is not None and operand.shape is not None:
            formula = formulas[index] if index < len(formulas) else formulas[-1] if len(formulas) == 1 else None
        made = _computed(m, node, grads, index, formula) if formula is not None else None
        fresh = fresh_memory(node) or (node.kind == "copy-slices" and index == 0)
        out.append(made if made is not None else opaque_gradient(m, node, grads, operand, fresh=fresh))
    return out


def _computed(m: Machine, node: Node, grads: Sequence[Value], index: int, formula: Gradient) -> Value | None:
    operand = node.operands[index]
    before = m.extent.enclosing_operator
    m.extent.enclosing_operator = before or node.what
    try:
        result = formula(m, node, grads, index)
    finally:
        m.extent.enclosing_operator = before
    found = m.tensor(result.value)
    if found is None or found.shape is None or None in found.shape or operand.shape is None:
        return None
    return summed_to(result, operand.shape).value


# Their backward allocates memory for the gradient; other nodes may pass on the incoming one, or a view of it.
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
    """Whether the gradient that a node passes on is definitely not a view."""
    return node.kind == "op" and bool(node.names) and _FRESH.issuperset(node.names)


def opaque_gradient(m: Machine, node: Node, grads: Sequence[Value], operand: Operand, *, fresh: bool = False) -> Value:
    """A gradient with an unknown formula: it may have a graph if any of its inputs has one.

    Unless `fresh`, it may also be a view of another gradient, or that gradient itself.
    """
    sources = [g.id for g in grads if isinstance(g, Ref) and m.tensor(g) is not None]
    hidden = node.kind != "op" or any(s.name == "original_self" for s in node.saved)
    for saved in node.saved:
        if saved.tensor is not None and m.st.find(saved.tensor) is not None:
            sources.append(saved.tensor)
    requires = truth.any_of(refreshed(m, i).requires_grad for i in sources)
    cut: Cut | None = "no-grad" if m.st.grad is False else None
    behind = tuple(one for i in sources if (one := tensor_at(m, i).lineage) is not None)
    grad = m.new_tensor(operand.shape, operand.dtype, lineage=Lineage("grad", m.here(), behind, cut, m.via()))
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
        epoch=tuple(m.extent.iterations), via=m.via(),
    )  # fmt: skip
    made.requires_grad = None
    made.edge = Edge(m.new(unknown).id, maybe=True)
    return grad
