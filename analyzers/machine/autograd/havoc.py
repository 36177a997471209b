"""What unknown code may do to a tensor it can reach."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge, Node, Tensor
from analyzers.domain.values import NONE, Unknown, Value
from analyzers.machine.autograd.versions import blur_tensor
from analyzers.machine.core.havoc import put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import NodeReached, tell


def havoc_tensor(m: Machine, ident: int, tensor: Tensor, seen: set[int]) -> None:
    blur_tensor(m, ident)
    requires = True if tensor.requires_grad and tensor.is_leaf is False else None
    if tensor.requires_grad is False and tensor.parameter is False and tensor.edge is None:
        requires = None
    grad: Value = Unknown("grad", reach=(ident,)) if _may_be_replaced(m, tensor.grad) else tensor.grad
    found = m.st.get(ident)
    assert isinstance(found, Tensor)
    edge = found.edge if requires else None
    if requires is None:
        edge = Edge()
    retains = None if found.retains_grad is False and found.is_leaf is not True else found.retains_grad
    doubted = replace(found, requires_grad=requires, grad=grad, edge=edge, attr_version=-1, retains_grad=retains)
    put(m, ident, found, doubted)
    if retains is None:
        m.retain(ident)
    if tensor.edge is not None and tensor.edge.node is not None:
        _free_perhaps(m, tensor.edge.node, seen)
    base = m.st.get(tensor.base) if tensor.base is not None else None
    if tensor.base is not None and isinstance(base, Tensor) and base.requires_grad is False:
        # What is written into a view takes its base into the graph.
        havoc_tensor(m, tensor.base, base, seen)


def _free_perhaps(m: Machine, start: int, seen: set[int]) -> None:
    """The callee may have run a backward through the graph."""
    stack = [start]
    while stack:
        ident = stack.pop()
        if ident in seen or len(seen) > 4000:
            continue
        seen.add(ident)
        node = m.st.get(ident)
        if not isinstance(node, Node):
            continue
        tell(m, NodeReached(ident, node))
        if node.freed is False and (node.saved or node.kind != "op"):
            m.st.put(ident, replace(node, freed=None, freed_at=m.here(), freed_via=m.via()))
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node is not None:
                stack.append(edge.node)
            elif edge.leaf is not None and edge.leaf not in seen:
                m.opaque()
                leaf = m.st.get(edge.leaf)
                if isinstance(leaf, Tensor) and _may_be_replaced(m, leaf.grad):
                    m.st.put(edge.leaf, replace(leaf, grad=Unknown("grad", reach=(edge.leaf,))))
    for ident, kept in m.retaining():
        if _may_be_replaced(m, kept.grad) and kept.edge is not None and kept.edge.node in seen:
            m.st.put(ident, replace(kept, grad=Unknown("grad", reach=(ident,))))


def _may_be_replaced(m: Machine, grad: Value) -> bool:
    """Whether a backward leaves another object as a gradient: where there is none, or one with a graph, to which it may
    add out of place."""
    held = m.tensor(grad)
    return grad == NONE or (held is not None and held.requires_grad is not False)
