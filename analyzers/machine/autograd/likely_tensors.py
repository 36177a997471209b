"""Tensors that stand in for unknown values: a loss with a graph, an element of a likely tensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analyzers.domain.lineage import Lineage, graph_trail
from analyzers.domain.objects import Counter, Edge, Node, Saved, Storage, Tensor
from analyzers.domain.values import NONE, Ref, Unknown, Value
from analyzers.machine.autograd.graph import edge_to
from analyzers.machine.autograd.reachability import MOST, held_by
from analyzers.machine.autograd.trainables import weights
from analyzers.machine.core.machine import Machine

GUESS = "data"
"""The first step in the trail of a tensor of which nothing says that it has no graph."""


def is_guess(lineage: Lineage | None) -> bool:
    """Whether that a tensor has no graph rests on data of which that is presumed: no step between took a graph away."""
    return lineage is not None and any(step.what == GUESS for step in graph_trail(lineage))


def presumed_loss(m: Machine, value: Value) -> Value:
    """A loss computed, out of sight, from tensors or models in `value.reach`."""
    if not isinstance(value, Unknown):
        return value
    edges = [edge for ident in _sources(m, value.reach) if (edge := edge_to(m, ident)) is not None]
    if all(edge.maybe for edge in edges) or m.st.grad is None:
        return value
    parents = () if value.lineage is None else (value.lineage,)
    if m.st.grad is False:
        return m.new_tensor(None, "float32", lineage=Lineage("?", m.here(), parents, "no-grad", m.via()))
    return with_graph(m, tuple(edges), m.trail("?", parents))


def _sources(m: Machine, reach: Iterable[int]) -> list[int]:
    """The tensors among these objects and what they hold, and the weights of modules."""
    found: list[int] = []
    seen = set(reach)
    queue = list(reach)
    for ident in queue:
        held = m.st.find(ident)
        inner = weights(m, Ref(ident))
        found += [ident] if isinstance(held, Tensor) else inner
        if held is not None and not inner and len(queue) < MOST:
            fresh = [one for one in held_by(held) if one not in seen]
            seen.update(fresh)
            queue += fresh
    return found


def with_graph(m: Machine, edges: tuple[Edge, ...], lineage: Lineage, kept: tuple[Saved, ...] = ()) -> Ref:
    """A tensor computed along `edges` by an operator that saves something for backward, and what is `kept`."""
    node = Node(
        (), edges, (Saved("self", None, None), *kept), loc=m.here(), what=lineage.what, seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations), via=m.via(),
    )  # fmt: skip
    made = m.new_tensor(None, "float32", requires_grad=True, lineage=lineage)
    m.st.update(made.id, Tensor, lambda t: replace(t, edge=Edge(m.new(node).id), presumed=True, contiguous=None))
    return made


def leads_anywhere(node: Node) -> bool:
    """Whether a node stands for what unknown code computed, which may be of anything."""
    return node.what == "?"


def part_of(m: Machine, whole: Tensor) -> Ref:
    """An item or attribute of a presumed model's result."""
    storage, counter = m.fresh(), m.fresh()
    m.st.put(storage, Storage())
    m.st.put(counter, Counter())
    return m.new(replace(whole, storage=storage, counter=counter, grad=NONE))
