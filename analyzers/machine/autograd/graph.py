"""Edges and nodes: how a result joins the graph of its operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Node, Operand, Saved, Tensor
from analyzers.domain.values import Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import version_of
from analyzers.machine.core.machine import Machine
from analyzers.ops.autocast import CONVERTIBLE


def refreshed(m: Machine, ident: int) -> Tensor:
    """A tensor as torch would show it: a view whose base has been written since gets a regenerated place in the
    graph."""
    tensor = tensor_at(m, ident)
    if tensor.base is None:
        return tensor if tensor.perhaps_of is None else _doubted(m, ident, tensor, tensor.perhaps_of)
    above = tensor.base
    base = refreshed(m, above)
    if base.requires_grad is False and (tensor.requires_grad is False or tensor.edge is None):
        return tensor
    current = version_of(m, tensor)
    same = versions_equal(tensor.attr_version, current) if tensor.attr_version >= 0 else None
    requires = _requires_with(tensor, base)
    if same:
        if requires is not tensor.requires_grad:
            tensor = replace(tensor, requires_grad=requires)
            m.st.put(ident, tensor)
        return tensor
    if same is None or requires is None:
        tensor = replace(tensor, requires_grad=requires, edge=Edge() if requires is not False else None)
        m.st.put(ident, tensor)
        return tensor
    if tensor.creation != "default":
        return replace(tensor, requires_grad=requires)
    node = Node(
        ("AsStridedBackward0",), (edge_to(m, above),), loc=m.here(), what="view", seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations), via=m.via(),
    )  # fmt: skip
    made = m.new(node)
    tensor = replace(tensor, requires_grad=requires, edge=Edge(made.id), attr_version=current or 0)
    m.st.put(ident, tensor)
    return tensor


def _doubted(m: Machine, ident: int, tensor: Tensor, above: int) -> Tensor:
    """What may be a view of a tensor that requires grad by now, and did not when it was made."""
    if tensor.requires_grad is False and refreshed(m, above).requires_grad is not False:
        tensor = replace(tensor, requires_grad=None, edge=Edge())
        m.st.put(ident, tensor)
    return tensor


def requires_grad_of(m: Machine, ident: int) -> truth.Truth:
    """`requires_grad`; unlike `grad_fn`, reading it on a view does not regenerate the view's place in the graph."""
    tensor = tensor_at(m, ident)
    if tensor.base is None:
        return refreshed(m, ident).requires_grad
    return _requires_with(tensor, tensor_at(m, tensor.base))


def _requires_with(view: Tensor, base: Tensor) -> truth.Truth:
    """A view requires grad if its base does. But what is perhaps itself a view of something, and was made a leaf, is
    then not the base of its earlier views."""
    if base.requires_grad and base.perhaps_of is not None and base.edge is None and not view.requires_grad:
        return None
    return truth.any_of((view.requires_grad, base.requires_grad))


def edge_to(m: Machine, ident: int) -> Edge | None:
    """The edge from a node to an input."""
    tensor = refreshed(m, ident)
    if tensor.requires_grad is False:
        return None
    maybe = tensor.requires_grad is None
    if tensor.edge is None:
        return Edge(leaf=ident, maybe=maybe)
    return replace(tensor.edge, maybe=True) if maybe else tensor.edge


def leaves_behind(m: Machine, ident: int) -> set[int] | None:
    """The leaves that a tensor's graph leads to; None if part of it is unknown."""
    found: set[int] = set()
    for edge in _ends(m, ident):
        if edge.leaf is None:
            return None
        found.add(edge.leaf)
    return found


def may_reach_leaf(m: Machine, ident: int) -> bool:
    """Whether a tensor's graph leads to a leaf that is known, perhaps."""
    return any(edge.leaf is not None for edge in _ends(m, ident))


def _ends(m: Machine, ident: int) -> Iterator[Edge]:
    """The edges at which a tensor's graph ends: to leaves, or to where nobody knows."""
    seen: set[int] = set()
    stack = [edge_to(m, ident)]
    while stack:
        edge = stack.pop()
        if edge is None:
            continue
        if edge.node is None:
            yield edge
        elif edge.node not in seen:
            seen.add(edge.node)
            stack += m.node(edge.node).edges


def grad_fn_names(m: Machine, tensor: Tensor) -> tuple[str, ...] | None:
    """The possible names of `grad_fn`; empty if it is None, None if unknown."""
    if tensor.requires_grad is False:
        return ()
    if tensor.edge is None:
        return () if tensor.requires_grad else None if tensor.base is not None else ()
    if tensor.edge.node is None or tensor.edge.maybe or tensor.requires_grad is None:
        return None
    kind, names = m.node_part(tensor.edge.node, "kind"), m.node_part(tensor.edge.node, "names")
    if kind == "unknown" and not names:
        return None
    return names or None


@dataclass(slots=True)
class Step:
    """An operator about to be recorded: its inputs by parameter name, as tensor ids."""

    name: str
    what: str
    inputs: dict[str, tuple[int, ...]]
    names: tuple[str, ...]
    differentiable: tuple[str, ...] = ()
    kind: str = "op"
    parents: tuple[Lineage, ...] = ()
    forced: bool = False
    payload: Value | None = None
    requires: truth.Truth = field(default=False)
    scalars: tuple[tuple[str, Value], ...] = ()
    hidden: bool = False
    moved: bool = False

    def operands(self) -> list[int]:
        return [i for name in self.differentiable for i in self.inputs.get(name, ())]


def may_be_converted(m: Machine, step: Step) -> bool:
    """Whether autocast, where there is any, may convert the operands; an operator may be called by one whose operands
    it converts."""
    return m.extent.enclosing_operator != "" or step.name in CONVERTIBLE or step.what in CONVERTIBLE


def inputs_require_grad(m: Machine, step: Step) -> truth.Truth:
    return truth.any_of(requires_grad_of(m, i) for i in step.operands())


def edges_of(m: Machine, step: Step) -> tuple[Edge | None, ...]:
    return tuple(edge_to(m, i) for i in step.operands())


def make_node(m: Machine, step: Step, saved: Sequence[Saved], edges: tuple[Edge | None, ...] | None = None) -> int:
    node = Node(
        step.names,
        edges_of(m, step) if edges is None else edges,
        tuple(saved),
        loc=m.here(),
        what=step.what,
        kind=step.kind,
        seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations),
        payload=step.payload,
        via=m.via(),
        operands=tuple(operand(m, i) for i in step.operands()),
        scalars=step.scalars,
        hidden=step.hidden,
    )
    return m.new(node).id


def operand(m: Machine, ident: int) -> Operand:
    """What a node records about an input that it has an edge to."""
    tensor = tensor_at(m, ident)
    return Operand(tensor.shape, tensor.dtype, tensor.contiguous)
