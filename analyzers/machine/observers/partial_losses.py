"""Losses that are summed up, while backward is called on one of the terms.

    total = match + 0.1 * penalty
    match.backward()                     # and no backward goes through the penalty

When a backward begins, the names around it are searched for a sum that its root is a term of. Whether any backward has
gone through that sum, or through its other terms, is known at the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Instance, Node, Tensor, by_name
from analyzers.domain.values import NONE, Ref
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import TermsLeftOut
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import BackwardBegins, NodeReached, hears

SUMS = frozenset({
    "AddBackward0", "SubBackward0", "MulBackward0", "DivBackward0", "NegBackward0", "SumBackward0", "MeanBackward0",
    "StackBackward0", "ToCopyBackward0",
})  # fmt: skip
"""Nodes of what adds up terms, and weighs them."""

MOST_NODES = 32
"""The most nodes of a sum that are looked at."""


@dataclass(frozen=True, slots=True)
class Partial:
    """A backward on a term of `total`, which is the node numbered `number`; `others` are the other terms, by number."""

    site: Site
    name: str
    total: Lineage
    made: Loc | None
    number: int
    others: tuple[tuple[int, Loc | None], ...]


@dataclass(slots=True)
class PartialLosses:
    found: list[Partial] = field(default_factory=list)
    met: set[Loc | None] = field(default_factory=set)
    """Where nodes were made that a backward has gone through."""


@hears(NodeReached)
def _reached(m: Machine, signal: NodeReached) -> None:
    m.notebook(PartialLosses).met.add(signal.node.loc)


@hears(BackwardBegins)
def _begins(m: Machine, signal: BackwardBegins) -> None:
    if not m.extent.iterations:
        return
    roots = {edge.node for edge in signal.roots if edge.node is not None}
    begun = {ident for root in roots for ident in _scaled(m, root)}
    if not begun:
        return
    for name, tensor in _named(m):
        edge, made = tensor.edge, tensor.lineage
        if edge is None or edge.node is None or edge.node in begun or made is None:
            continue
        terms = _terms(m, edge.node)
        node = m.st.find(edge.node)
        if isinstance(node, Node) and not begun.isdisjoint(terms):
            others = tuple((t.seq, t.loc) for ident, t in terms.items() if ident not in begun and not _goes_on(t))
            m.notebook(PartialLosses).found.append(Partial(m.site(), name, made, node.loc, node.seq, others))


def report_left_out(m: Machine, is_met: Callable[[int], bool]) -> None:
    """At the end of a run, report the terms that no backward went through; `is_met` tells that of nodes by number."""
    notes = m.notebook(PartialLosses)
    for partial in notes.found:
        left = [loc for number, loc in partial.others if not is_met(number) and loc not in notes.met]
        if left and not is_met(partial.number) and partial.made not in notes.met:
            m.note(TermsLeftOut(partial.site, partial.name, partial.total, tuple(left)))


def _scaled(m: Machine, root: int) -> Iterator[int]:
    """A root, and what it is a multiple of: `loss` of `(loss / 4).backward()`."""
    at: int | None = root
    for _ in range(MOST_NODES):
        node = m.st.find(at) if at is not None else None
        if at is None or not isinstance(node, Node):
            return
        yield at
        edges = [edge for edge in node.edges if edge is not None]
        at = edges[0].node if len(edges) == 1 and node.names in {("MulBackward0",), ("DivBackward0",)} else None


def _terms(m: Machine, root: int) -> dict[int, Node]:
    """What a sum adds up, by id: the first nodes behind it that are no sums, and the sums between."""
    found: dict[int, Node] = {}
    stack = [root]
    while stack and len(found) < MOST_NODES:
        ident = stack.pop()
        node = m.st.find(ident)
        if ident in found or not isinstance(node, Node):
            continue
        if ident != root:
            found[ident] = node
        if _goes_on(node):
            stack += [edge.node for edge in node.edges if edge is not None and edge.node is not None]
    return found


def _goes_on(node: Node) -> bool:
    """Whether a node adds up, or weighs, what other nodes made."""
    return SUMS.issuperset(node.names) and any(edge is not None and edge.node is not None for edge in node.edges)


def _named(m: Machine) -> Iterator[tuple[str, Tensor]]:
    """The losses that the current function has names for: tensors of one element, or of unknown shape."""
    frame = m.user_frame()
    values = by_name(m.env(frame.env).vars)
    owner = m.obj(dict(values).get("self", NONE))
    if isinstance(owner, Instance):
        values += [(f"self.{name}", value) for name, value in by_name(owner.attrs)]
    for name, value in values:
        tensor = m.tensor(value) if isinstance(value, Ref) else None
        if tensor is not None and tensor.requires_grad is True and (tensor.shape is None or not tensor.shape):
            yield name, tensor
