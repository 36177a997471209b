"""What becomes of graphs: whether a backward goes through what a call made, and again through what one kept.

A *stretch* is the nodes that one call made, told by their numbers. A node is *met* when a backward goes through it, or
when code that the machine does not see may do so.

    for x in batches:
        out = net(x)                       # a stretch
        right += (out > 0).sum().item()    # and no backward meets it
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import Node, Tensor
from analyzers.domain.values import Func, Value
from analyzers.machine.autograd.reachability import MOST_MEMBERS, tensors
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import CustomBypassed, GraphUnused, RetainedInVain
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.classes import find_in_class, is_a

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


def watched(m: Machine, run: Callable[[], Value], custom: str = "", *, takes_context: bool = False) -> Value:
    """What a call returns; its nodes are a stretch, unless it is a module's part."""
    uses = uses_of(m)
    inside = uses.inside
    if (inside and not custom) or m.st.grad is not True:
        return run()
    low = m.sequence
    uses.inside = inside or not custom
    try:
        result = run()
    finally:
        uses.inside = inside
    made = [t for t in tensors(m, [result]) if t.requires_grad is True]
    if any(low < number for t in made if (number := _number(m, t)) is not None):
        uses.stretches.append(Stretch(m.site(), low, m.sequence, custom, takes_context))
    return result


def call_of_forward(m: Machine, func: Func, run: Callable[[], Value]) -> Value:
    """A function named `forward` is called; that of a custom function is meant for `apply`."""
    owner = func.owner
    if owner is None or m.frame.library or not is_a(m, owner, "torch.autograd.Function"):
        return run()
    if find_in_class(m, owner, "backward") is None:
        return run()
    takes_context = find_in_class(m, owner, "setup_context") is None
    return watched(m, run, func.qualname.rpartition(".")[0], takes_context=takes_context)


def _number(m: Machine, tensor: Tensor) -> int | None:
    node = tensor.edge.node if tensor.edge is not None else None
    found = m.st.find(node) if node is not None else None
    return found.seq if isinstance(found, Node) else None


def met(m: Machine, ident: int, node: Node) -> None:
    """A backward goes through a node, or may."""
    uses = uses_of(m)
    uses.met.add(node.seq)
    if uses.kept and (node.saved or node.kind != "op"):
        visit = (m.here(), m.user_frame().visit)
        uses.needed.update(loc for loc, number in uses.kept.get(ident, ()) if (loc, number) != visit)


def kept(m: Machine, nodes: Iterable[int]) -> None:
    """A backward has kept the graph that it went through."""
    uses = uses_of(m)
    site = m.site()
    uses.keepers.setdefault(site.loc, site)
    for ident in nodes:
        uses.kept.setdefault(ident, set()).add((site.loc, site.visit))


def all_met(m: Machine) -> None:
    """A backward went where the machine does not see."""
    uses = uses_of(m)
    uses.met_below = m.sequence
    uses.needed.update(uses.keepers)


def met_from(m: Machine, tensors: Iterable[Tensor]) -> None:
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
            met(m, ident, node)
            stack += [edge.node for edge in node.edges if edge is not None and edge.node is not None]


def let_go(m: Machine, tensor: Tensor) -> None:
    """The program itself lets go of a tensor's graph, and so knows that there was one."""
    uses = m.uses
    if uses is None or not (uses.stretches or uses.inside):
        return
    queue = [tensor.edge]
    for edge in queue:
        node = m.st.find(edge.node) if edge is not None and edge.node is not None else None
        if isinstance(node, Node) and node.seq not in uses.met and len(queue) < NEAR:
            uses.met.add(node.seq)
            queue.extend(node.edges)


def leave(m: Machine, values: Iterable[Value]) -> None:
    """Values leave the run, and whoever gets them may do what he likes."""
    met_from(m, tensors(m, values))


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
