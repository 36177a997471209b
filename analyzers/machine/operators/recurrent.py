"""Recurrent operators: decomposed over a few time steps, otherwise a single node."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge, Node, Tensor
from analyzers.domain.values import FALSE, TRUE, Const, Value
from analyzers.machine.autograd.graph import Step, inputs_require_grad, make_node
from analyzers.machine.autograd.results import new_result, pieces
from analyzers.machine.autograd.saved_tensors import PRIVATE, save
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import infer, tensors_in, unknown_operand
from analyzers.ops.infer import ANY
from analyzers.ops.table import Row

MOST = 12
"""The most time steps, over all layers and directions, that are run individually."""


_OPERANDS = frozenset({"input", "data", "hx", "params", "w_ih", "w_hh", "b_ih", "b_hh"})


def few_steps(m: Machine, row: Row, bound: dict[str, Value]) -> bool:
    """Whether the operator is run as its parts, which are in the prelude."""
    names = [name for name in bound if name in _OPERANDS]
    if "data" in bound or any(unknown_operand(m, bound[name]) for name in names):
        return False
    operands = [tensor_at(m, i) for name in names for i in tensors_in(m, bound[name])]
    if any(t.shape is None or None in t.shape or t.dtype is None for t in operands):
        return False
    if row.base.endswith("_cell"):
        return True
    layers, both = bound.get("num_layers"), bound.get("bidirectional")
    given = m.tensor(bound["input"])
    if not isinstance(layers, Const) or not isinstance(both, Const) or given is None or not given.shape:
        return False
    rounds: int = layers.value * (2 if both.value else 1)  # type: ignore[operator]
    if row.base == "lstm" and given.dtype == "float32" and len({t.shape for t in _states(m, bound)}) == 1:
        # One operator for all time steps of a layer.
        return rounds <= MOST
    length = given.shape[1 if bound.get("batch_first") == TRUE else 0]
    return length is not None and length * rounds <= MOST


def _states(m: Machine, bound: dict[str, Value]) -> list[Tensor]:
    return [tensor_at(m, i) for i in tensors_in(m, bound["hx"])]


def unknown_steps(m: Machine, row: Row, bound: dict[str, Value], what: str) -> Value | None:
    """A single node for all time steps: each step saves results of its own, so a second backward finds them freed.

    Whether an input or a weight itself is saved depends on the length and the memory layout.
    """
    names = tuple(name for name in bound if name in _OPERANDS)
    values = [bound[name] for name in names]
    hidden = any(unknown_operand(m, value) for value in values)
    types = infer(m, row, bound) or (ANY,) * len(row.returns)
    inputs = {name: tensors_in(m, bound[name]) for name in names}
    step = Step(row.base, what, inputs, (), names, "op", m.parents(values))
    step.requires = inputs_require_grad(m, step)
    if hidden and not step.requires:
        step.requires = None
    requires = False if m.st.inference else truth.both(m.st.grad, step.requires)
    node = None
    if requires is not False:
        operands = [(name, i) for name in names for i in inputs[name] if row.base == "lstm" or not _is_bias(m, i)]
        kept = [save(m, ident, name, maybe=True) for name, ident in operands]
        node = make_node(m, step, [PRIVATE, *kept])
        if hidden:
            m.st.update(node, Node, lambda made: replace(made, edges=(*made.edges, Edge(maybe=True))))
    results = []
    for index, t in enumerate(types):
        own = node
        name = _last_part(row, bound, index)
        if node is not None and name is not None:
            step.names = (name,)
            own = make_node(m, step, (), (Edge(node, index),))
        results.append(new_result(m, step, t.shape, t.dtype, own, requires=requires, contiguous=None))
    return pieces(results)


def _is_bias(m: Machine, ident: int) -> bool:
    """Whether it is only added, for which nothing is saved."""
    shape = tensor_at(m, ident).shape
    return shape is not None and len(shape) == 1


def _last_part(row: Row, bound: dict[str, Value], index: int) -> str | None:
    """The node that created a result: states are stacked, as are the outputs of each direction."""
    if row.base not in {"rnn_tanh", "rnn_relu", "gru"} or "input" not in bound:
        return None
    if index > 0:
        return "StackBackward0"
    turned, both = bound.get("batch_first"), bound.get("bidirectional")
    if turned == TRUE:
        return "TransposeBackward1"
    if turned != FALSE or both not in {TRUE, FALSE}:
        return None
    return "CatBackward0" if both == TRUE else "StackBackward0"
