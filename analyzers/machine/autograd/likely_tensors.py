"""Tensors that stand in for unknown values: a loss with a graph, an element of a likely tensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzers.domain.copies import replace
from analyzers.domain.lineage import BESIDE, FIRST, Lineage, Loc, graph_trail
from analyzers.domain.objects import Counter, Edge, Node, Saved, Storage, Tensor
from analyzers.domain.values import NONE, Ref, Unknown, Value
from analyzers.machine.autograd.graph import edge_to
from analyzers.machine.autograd.trainables import weights
from analyzers.machine.core.machine import Machine

GUESS = "guess"
"""The first step in the trail of a tensor of which nothing says that it has no graph."""


def is_guess(lineage: Lineage | None) -> bool:
    """Whether that a tensor has no graph rests on data of which that is presumed: no step between took a graph away."""
    return lineage is not None and any(step.what == GUESS for step in graph_trail(lineage))


def is_doubted(m: Machine, lineage: Lineage | None) -> bool:
    return m.config.presumes and is_guess(lineage)


def has_no_graph(m: Machine, tensor: Tensor) -> bool:
    """Whether a tensor does not require grad, and not only as it is presumed to be data."""
    return tensor.requires_grad is False and not (
        is_doubted(m, tensor.lineage) or (m.config.presumes and _has_asked(m))
    )


def _has_asked(m: Machine) -> bool:
    """Whether this way is taken only if something unknown requires grad: what is made of it may have a graph, too."""
    return any(
        isinstance(symbol, tuple) and symbol[-1] == "requires_grad" and outcome is True
        for symbol, outcome in m.st.assumed.items()
    )


def presumed_loss(m: Machine, value: Value) -> Value:
    """A loss computed, out of sight, from tensors or models in `value.reach`."""
    if not isinstance(value, Unknown):
        return value
    edges: list[Edge] = []
    for ident in value.reach:
        found = m.st.find(ident)
        sources = [ident] if isinstance(found, Tensor) else weights(m, Ref(ident)) if found is not None else []
        edges += [edge for i in sources if (edge := edge_to(m, i)) is not None]
    if all(edge.maybe for edge in edges) or m.st.grad is None:
        return value
    parents = () if value.lineage is None else (value.lineage,)
    if m.st.grad is False:
        return m.new_tensor(None, "float32", lineage=Lineage("?", m.here(), parents, "no-grad", m.via()))
    return with_graph(m, tuple(edges), m.trail("?", parents))


def with_graph(m: Machine, edges: tuple[Edge, ...], lineage: Lineage, kept: tuple[Saved, ...] = ()) -> Ref:
    """A tensor computed along `edges` by an operator that saves something for backward, and what is `kept`."""
    node = Node(
        (), edges, (Saved("self", None, None), *kept), loc=m.here(), what=lineage.what, seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations), via=m.via(),
    )  # fmt: skip
    made = m.new_tensor(None, "float32", requires_grad=True, lineage=replace(lineage, attached=True))
    m.st.update(made.id, Tensor, lambda t: replace(t, edge=Edge(m.new(node).id), presumed=True, contiguous=None))
    return made


class PresumedParameters:
    """The parameters of presumed models, and those of them that an output was computed with: where that runs without
    gradients, as what has no weights does, too, only the `weighty`, which are more than their use suggests."""

    def __init__(self) -> None:
        self.made: set[int] = set()
        self.computed: set[int] = set()
        self.weighty: set[int] = set()


def leads_anywhere(node: Node) -> bool:
    """Whether a node stands for what unknown code computed, which may be of anything."""
    return node.what == "?"


@dataclass(slots=True)
class PartsWalked:
    """The parts of presumed models' results through which a backward went, so that they have a graph, and by whom;
    `several` are the nodes of models that were given several tensors."""

    steps: set[Lineage] = field(default_factory=set)
    at: dict[Loc | None, set[Lineage]] = field(default_factory=dict)
    latest: set[Lineage] = field(default_factory=set)
    several: set[int] = field(default_factory=set)


def note_walked(m: Machine, roots: Iterable[Lineage | None]) -> None:
    if m.config.presumes:
        walked = m.notebook(PartsWalked)
        walked.latest = {step for root in roots if root is not None for step in _parts(root)}
        walked.steps |= walked.latest
        walked.at.setdefault(m.here(), set()).update(walked.latest)


def may_be_apart(m: Machine, ident: int, node: Node) -> bool:
    """Whether the backward that freed the node of a presumed model, and the one that comes now, go through different
    parts of what it returned: given several tensors, it may compute each part from one of them."""
    if not m.config.presumes:
        return False
    walked = m.notebook(PartsWalked)
    before = walked.at.get(node.freed_at, set())
    return ident in walked.several and bool(before and walked.latest) and before.isdisjoint(walked.latest)


def may_be_beside(m: Machine, lineage: Lineage | None) -> bool:
    """Whether a tensor has a graph only if one of several parts of a presumed model's result has, as no backward has
    shown."""
    if lineage is None or not m.config.presumes:
        return False
    parts = _parts(lineage)
    return bool(parts) and parts.isdisjoint(m.notebook(PartsWalked).steps)


def _parts(lineage: Lineage) -> set[Lineage]:
    return {step for step in graph_trail(lineage) if step.what in {FIRST, BESIDE}}


def part_of(m: Machine, whole: Tensor, step: str | None = None) -> Ref:
    """An item or attribute of a presumed model's result; `step` says which kind, where it is not the first item."""
    lineage = m.trail(step, (whole.lineage,)) if step is not None and whole.lineage is not None else whole.lineage
    storage, counter = m.fresh(), m.fresh()
    m.st.put(storage, Storage())
    m.st.put(counter, Counter())
    return m.new(replace(whole, storage=storage, counter=counter, grad=NONE, shape=None, lineage=lineage))
