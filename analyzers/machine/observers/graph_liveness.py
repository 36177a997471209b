"""Whether a graph is used: whether any backward goes through what a call created, and again through what one retained.

A *segment* is the nodes created by one call, identified by their sequence numbers. A node is *met* when a backward, or
possibly code that the machine cannot see, goes through it.

    for x in batches:
        out = net(x)                       # a segment
        right += (out > 0).sum().item()    # and no backward meets it
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import Node, Tensor
from analyzers.domain.renaming import Number
from analyzers.domain.values import Value
from analyzers.machine.autograd.reachability import MOST_MEMBERS, tensors
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import CustomBypassed, GraphGrew, GraphUnused, GraphUsed, RetainedInVain
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
from analyzers.machine.observers.partial_losses import PartialLosses, report_left_out

NEAR = 60
"""The most nodes marked behind a detached tensor."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The nodes numbered above `low`, up to `high`, of which `roots` made the results, in a call of `module`; `custom`
    is set if a custom function's `forward` was called directly."""

    site: Site
    module: int | None
    low: int
    high: int
    roots: tuple[int, ...]
    custom: str = ""
    takes_context: bool = False


@dataclass(slots=True)
class GraphUses:
    """One run's notes about its graphs."""

    segments: list[Segment] = field(default_factory=list)
    calls: list[tuple[bool, int, CallBegins] | None] = field(default_factory=list)
    """The calls in progress: whether they are in another one, and the last node; None for calls that do not count."""
    met: set[int] = field(default_factory=set)
    dropped: set[int] = field(default_factory=set)
    """The nodes of graphs that the program itself lets go."""
    sums: dict[int, GraphGrew] = field(default_factory=dict)
    """By its node, each running total with a graph that no backward had gone through yet."""
    met_below: int = 0
    """All nodes up to this number may have been met."""
    keepers: dict[Loc, Site] = field(default_factory=dict)
    """The backwards that retained their graph."""
    kept: dict[int, set[tuple[Loc, int]]] = field(default_factory=dict)
    """For each retained node, the backwards that retained it, and on which visits."""
    needed: set[Loc] = field(default_factory=set)
    """The backwards whose graph was used again."""


@hears(CallBegins)
def _begin(m: Machine, signal: CallBegins) -> None:
    """The nodes created by a call are a segment, unless it is part of another module's call."""
    uses = m.notebook(GraphUses, told=True)
    before = m.extent.in_module
    if (before and not signal.custom) or m.st.grad is not True:
        uses.calls.append(None)
        return
    uses.calls.append((before, m.ids.sequence, signal))
    m.extent.in_module = before or not signal.custom


@hears(CallEnded)
def _end(m: Machine, signal: CallEnded) -> None:
    uses = m.notebook(GraphUses, told=True)
    call = uses.calls.pop()
    if call is None:
        return
    m.extent.in_module, low, begun = call
    if signal.result is None:
        return
    made = (t.edge for t in tensors(m, [signal.result]) if t.requires_grad is True)
    roots = tuple(e.node for e in made if e is not None and e.node is not None and _number(m, e.node) > low)
    if roots:
        last = Number(m.ids.sequence)
        m.effect(_add, (m.site(), begun.module, Number(low + 1), last, roots, begun.custom, begun.takes_context))


def _add(m: Machine, made: tuple[Site, int | None, Number, Number, tuple[int, ...], str, bool]) -> None:
    site, module, first, last, roots, custom, takes_context = made
    segment = Segment(site, module, first.of - 1, last.of, roots, custom, takes_context)
    m.notebook(GraphUses, told=True).segments.append(segment)


def _number(m: Machine, node: int) -> int:
    found = m.st.find(node)
    return found.seq if isinstance(found, Node) else 0


@hears(NodeReached)
def _reached(m: Machine, signal: NodeReached) -> None:
    _mark_live(m, signal.ident, signal.node)


def _mark_live(m: Machine, ident: int, node: Node) -> None:
    """A backward goes, or may go, through a node."""
    uses = m.notebook(GraphUses)
    uses.met.add(node.seq)
    if uses.kept and (node.saved or node.kind != "op"):
        visit = (m.here(), m.user_frame().visit)
        uses.needed.update(loc for loc, number in uses.kept.get(ident, ()) if (loc, number) != visit)


@hears(GraphRetained)
def _kept(m: Machine, signal: GraphRetained) -> None:
    uses = m.notebook(GraphUses)
    site = m.site()
    uses.keepers.setdefault(site.loc, site)
    for ident in signal.nodes:
        uses.kept.setdefault(ident, set()).add((site.loc, site.visit))


@hears(BackwardUnseen)
def _all_met(m: Machine, signal: BackwardUnseen) -> None:
    del signal
    uses = m.notebook(GraphUses)
    uses.met_below = m.ids.sequence
    uses.needed.update(uses.keepers)


@hears(Escaped)
def _escaped(m: Machine, signal: Escaped) -> None:
    _mark_live_from(m, signal.tensors)


def _mark_live_from(m: Machine, tensors: Iterable[Tensor]) -> None:
    """Code that the machine cannot see has these tensors, and may call backward on them."""
    uses = m.notebook(GraphUses)
    if not (uses.segments or uses.kept or m.extent.in_module or uses.sums or m.notebook(PartialLosses).found):
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
            _mark_live(m, ident, node)
            stack += [edge.node for edge in node.edges if edge is not None and edge.node is not None]


@hears(GraphDropped)
def _let_go(m: Machine, signal: GraphDropped) -> None:
    """The program itself drops a graph, so it is aware that there was one."""
    uses = m.notebook(GraphUses)
    if not (uses.segments or m.extent.in_module):
        return
    queue = [signal.tensor.edge]
    for edge in queue:
        node = m.st.find(edge.node) if edge is not None and edge.node is not None else None
        if not isinstance(node, Node) or node.seq in uses.met or node.seq in uses.dropped or len(queue) >= NEAR:
            continue
        uses.dropped.add(node.seq)
        queue.extend(node.edges)


def escape(m: Machine, values: Iterable[Value]) -> None:
    """Values leave the run, and whoever receives them may do anything with them."""
    _mark_live_from(m, tensors(m, values))


def report_dead(m: Machine) -> None:
    """At the end of a run, report what was never used."""
    uses = m.notebook(GraphUses)
    for loc, site in uses.keepers.items():
        if loc not in uses.needed:
            m.note(RetainedInVain(site))
    met = uses.met | uses.dropped
    report_left_out(m, lambda number: number in met or number <= uses.met_below)
    _report_sums(m, uses)
    numbers = sorted(met)
    used: dict[Loc, dict[tuple[Loc, ...], Site]] = {}
    for segment in uses.segments:
        if segment.low < uses.met_below or bisect_right(numbers, segment.high) > bisect_right(numbers, segment.low):
            used.setdefault(segment.site.loc, {}).setdefault(segment.site.via, segment.site)
            if segment.custom:
                m.note(CustomBypassed(segment.site, segment.custom, segment.takes_context))
    calls = Counter(segment.module for segment in uses.segments)
    unused = [
        s
        for s in uses.segments
        # A module that each round makes for itself is shown, or tested, and not evaluated.
        if not s.custom and s.site.iterations and calls[s.module] > 1 and s.site.loc not in used
    ]
    lows = [segment.low for segment in unused]
    begun = [segment for segment in unused if not _goes_on(m, segment, unused, lows)]
    for segment in begun:
        m.note(GraphUnused(segment.site))
    for sites in used.values() if begun else ():
        for site in sites.values():
            m.note(GraphUsed(site))


def _report_sums(m: Machine, uses: GraphUses) -> None:
    """Totals that no backward ever goes through, wherever they were summed up."""
    live = {total.site.loc for node, total in uses.sums.items() if node in uses.met or node <= uses.met_below}
    for total in uses.sums.values():
        if total.site.loc not in live:
            m.note(total)


def _goes_on(m: Machine, segment: Segment, others: Sequence[Segment], lows: Sequence[int]) -> bool:
    """Whether what a call created only goes on with the graph of another call, in the same function.

    `lows` are those of `others`, which follow one another.
    """
    site = segment.site
    stack, seen = list(segment.roots), set[int]()
    while stack and len(seen) < MOST_MEMBERS:
        node = m.st.find(stack.pop())
        if not isinstance(node, Node) or node.seq in seen:
            continue
        seen.add(node.seq)
        other = others[bisect_left(lows, node.seq) - 1]
        inside = other is not segment and other.low < node.seq <= other.high
        if inside and (other.site.loc.chunk, other.site.via) == (site.loc.chunk, site.via):
            return True
        stack += [edge.node for edge in node.edges if edge is not None and edge.node is not None]
    return False
