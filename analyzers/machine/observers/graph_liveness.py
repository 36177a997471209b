"""What becomes of graphs: whether a backward goes through what a call made, and again through what one kept.

A *stretch* is the nodes that one call made, told by their numbers. A node is *met* when a backward goes through it, or
when code that the machine does not see may do so.

    for x in batches:
        out = net(x)                       # a stretch
        right += (out > 0).sum().item()    # and no backward meets it
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import Node, Tensor
from analyzers.domain.values import Value
from analyzers.machine.autograd.reachability import MOST_MEMBERS, tensors
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import CustomBypassed, GraphUnused, RetainedInVain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import (
    BackwardUnseen,
    CallBegins,
    CallEnded,
    Escaped,
    GraphDropped,
    GraphRetained,
    NodeReached,
    hears,
)

NEAR = 60
"""Nodes behind a tensor that is detached."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The nodes numbered above `low`, up to `high`; `custom` where a custom function's `forward` was called itself."""

    site: Site
    low: int
    high: int
    custom: str = ""
    takes_context: bool = False


@dataclass(slots=True)
class Uses:
    """What one run notes of its graphs."""

    stretches: list[Stretch] = field(default_factory=list)
    inside: bool = False
    calls: list[tuple[bool, int, CallBegins] | None] = field(default_factory=list)
    """The calls under way: what `inside` was before, and the last node; None for those that do not count."""
    met: set[int] = field(default_factory=set)
    met_below: int = 0
    """Nodes up to this number may all have been met."""
    keepers: dict[Loc, Site] = field(default_factory=dict)
    """The backwards that kept their graph."""
    kept: dict[int, set[tuple[Loc, int]]] = field(default_factory=dict)
    """For each node that was kept, by which backwards, and on which visits."""
    needed: set[Loc] = field(default_factory=set)
    """The backwards whose graph was met again."""


def uses_of(m: Machine) -> Uses:
    if m.uses is None:
        m.uses = Uses()
    return m.uses


@hears(CallBegins)
def _begin(m: Machine, signal: CallBegins) -> None:
    """The nodes that a call makes are a stretch, unless it is a module's part."""
    uses = uses_of(m)
    before = uses.inside
    if (before and not signal.custom) or m.st.grad is not True:
        uses.calls.append(None)
        return
    uses.calls.append((before, m.sequence, signal))
    uses.inside = before or not signal.custom


@hears(CallEnded)
def _end(m: Machine, signal: CallEnded) -> None:
    uses = uses_of(m)
    call = uses.calls.pop()
    if call is None:
        return
    uses.inside, low, begun = call
    if signal.result is None:
        return
    made = [t for t in tensors(m, [signal.result]) if t.requires_grad is True]
    if any(low < number for t in made if (number := _number(m, t)) is not None):
        uses.stretches.append(Stretch(m.site(), low, m.sequence, begun.custom, begun.takes_context))


def _number(m: Machine, tensor: Tensor) -> int | None:
    node = tensor.edge.node if tensor.edge is not None else None
    found = m.st.find(node) if node is not None else None
    return found.seq if isinstance(found, Node) else None


@hears(NodeReached)
def _reached(m: Machine, signal: NodeReached) -> None:
    _meet(m, signal.ident, signal.node)


def _meet(m: Machine, ident: int, node: Node) -> None:
    """A backward goes through a node, or may."""
    uses = uses_of(m)
    uses.met.add(node.seq)
    if uses.kept and (node.saved or node.kind != "op"):
        visit = (m.here(), m.user_frame().visit)
        uses.needed.update(loc for loc, number in uses.kept.get(ident, ()) if (loc, number) != visit)


@hears(GraphRetained)
def _kept(m: Machine, signal: GraphRetained) -> None:
    uses = uses_of(m)
    site = m.site()
    uses.keepers.setdefault(site.loc, site)
    for ident in signal.nodes:
        uses.kept.setdefault(ident, set()).add((site.loc, site.visit))


@hears(BackwardUnseen)
def _all_met(m: Machine, signal: BackwardUnseen) -> None:
    del signal
    uses = uses_of(m)
    uses.met_below = m.sequence
    uses.needed.update(uses.keepers)


@hears(Escaped)
def _escaped(m: Machine, signal: Escaped) -> None:
    _meet_from(m, signal.tensors)


def _meet_from(m: Machine, tensors: Iterable[Tensor]) -> None:
    """Code that the machine does not see has these tensors, and may send them backward."""
    if m.uses is None or not (m.uses.stretches or m.uses.kept or m.uses.inside):
        return
    stack = [t.edge.node for t in tensors if t.edge is not None and t.edge.node is not None]
    seen: set[int] = set()
    while stack and len(seen) < MOST_MEMBERS:
        ident = stack.pop()
        if ident in seen:
            continue
        seen.add(ident)
        node = m.st.find(ident)
        if isinstance(node, Node):
            _meet(m, ident, node)
            stack += [edge.node for edge in node.edges if edge is not None and edge.node is not None]


@hears(GraphDropped)
def _let_go(m: Machine, signal: GraphDropped) -> None:
    """The program itself lets go of a graph, and so knows that there was one."""
    uses = m.uses
    if uses is None or not (uses.stretches or uses.inside):
        return
    queue = [signal.tensor.edge]
    for edge in queue:
        node = m.st.find(edge.node) if edge is not None and edge.node is not None else None
        if isinstance(node, Node) and node.seq not in uses.met and len(queue) < NEAR:
            uses.met.add(node.seq)
            queue.extend(node.edges)


def leave(m: Machine, values: Iterable[Value]) -> None:
    """Values leave the run, and whoever gets them may do what he likes."""
    _meet_from(m, tensors(m, values))


def tell(m: Machine) -> None:
    """Note, at the end of a run, what nothing used."""
    uses = m.uses
    if uses is None:
        return
    for loc, site in uses.keepers.items():
        if loc not in uses.needed:
            m.note(RetainedInVain(site))
    numbers = sorted(uses.met)
    used: set[Loc] = set()
    for stretch in uses.stretches:
        if stretch.low < uses.met_below or bisect_right(numbers, stretch.high) > bisect_right(numbers, stretch.low):
            used.add(stretch.site.loc)
            if stretch.custom:
                m.note(CustomBypassed(stretch.site, stretch.custom, stretch.takes_context))
    for stretch in uses.stretches:
        if not stretch.custom and stretch.site.iterations and stretch.site.loc not in used:
            m.note(GraphUnused(stretch.site))
