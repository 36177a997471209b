"""Joins two graphs: nodes, edges, what was saved and the versions of that.

A node that both ways know by its id, or that stands at the same place in both graphs, becomes one that stands for
either. What both keep is kept and where both lead it leads; what only one of them keeps, or leads to, is so perhaps.

    if penalty:
        loss = loss + w.norm()
    loss.backward()     # surely through `loss` as it was before, perhaps through the norm
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import VERSION_BASE, Counter, Edge, Node, Saved, Tensor
from analyzers.domain.state import State

PLAIN = frozenset({"copy-slices", "op", "unknown"})
"""The kinds of nodes that do nothing of their own when they run."""

NEAR = 16
"""The most nodes among which two unlike ones are searched for what both lead to."""

MOST_EDGES = 8
"""The most edges that a node has perhaps."""


class GraphJoin:
    """The pairs of objects that a join of `a` and `b` makes one of; `allocate` gives fresh ids."""

    def __init__(self, a: State, b: State, allocate: Callable[[], int]) -> None:
        self.a = a
        self.b = b
        self.allocate = allocate
        self.pairs: dict[tuple[int, int], int] = {}
        self.work: list[tuple[int, int, int]] = []
        self.bases: dict[int, int] = {}

    def pair(self, i: int, j: int) -> int:
        """The id that stands for `i` here and `j` there."""
        if i == j:
            return i
        target = self.pairs.get((i, j))
        if target is None:
            target = self.allocate()
            self.pairs[i, j] = target
            self.work.append((i, j, target))
        return target

    def maybe_pair(self, i: int | None, j: int | None) -> int | None:
        if i is None or j is None:
            return None
        if i == j:
            return i
        here, there = self.a.find(i), self.b.find(j)
        if here is None or there is None or type(here) is not type(there):
            return None
        return self.pair(i, j)

    def tables(self, i: int | None, j: int | None) -> int | None:
        """Tables of hooks; -1 for one that is there on one way only."""
        if i is None and j is None:
            return None
        found = self.maybe_pair(i, j)
        return -1 if found is None else found

    def edges(self, x: Edge | None, y: Edge | None) -> Edge | None:
        if x == y:
            return x
        if x is None or y is None:
            there = x or y
            return there and replace(there, maybe=True)
        maybe = x.maybe or y.maybe
        if x.node is not None and y.node is not None and x.output == y.output:
            node = self.maybe_pair(x.node, y.node)
            return Edge(node, x.output, maybe=maybe, onward=x.onward or y.onward)
        if x.leaf is not None and y.leaf is not None:
            leaf = self.maybe_pair(x.leaf, y.leaf)
            return Edge(leaf=leaf, maybe=maybe)
        return Edge(maybe=maybe)

    def counters(self, x: Counter, y: Counter, target: int) -> Counter:
        writes = y.writes if (y.version or 0) >= (x.version or 0) and y.writes else x.writes
        if x.version == y.version:
            return Counter(x.version, writes)
        return Counter(self.rebased(target), writes)

    def rebased(self, target: int) -> int:
        """A version of a base that nothing else has, with room below for versions saved earlier."""
        base = self.bases.get(target)
        if base is None:
            base = self.allocate() * VERSION_BASE + VERSION_BASE // 2
            self.bases[target] = base
        return base

    def places(self, x: Tensor, y: Tensor) -> Edge | None:
        """Where gradients of a tensor go. Of one that requires none they go nowhere, unless it is the other."""
        for one, other in ((x, y), (y, x)):
            if one.edge is None and one.requires_grad is False and other.edge is not None:
                return replace(other.edge, maybe=True)
        if x.edge != y.edge and (x.edge is None or y.edge is None):
            return Edge(maybe=True)
        return self.edges(x.edge, y.edge)

    def nodes(self, x: Node, y: Node, i: int, j: int) -> Node:
        # The name of a node of which none is given may be any.
        names = tuple(dict.fromkeys((*x.names, *y.names))) if x.names and y.names else ()
        freed = truth.join(x.freed, y.freed)
        joined = replace(y, names=names, freed=freed, seq=max(x.seq, y.seq), hidden=x.hidden or y.hidden)
        if x.kind == y.kind and x.payload == y.payload and _in_order(x, y):
            joined.edges = tuple(self.edges(p, q) for p, q in zip(x.edges, y.edges, strict=True))
        elif x.kind in PLAIN and y.kind in PLAIN:
            joined.edges, joined.operands, joined.scalars = self.either(x, y, i, j), (), ()
            joined.kind = "unknown" if "unknown" in {x.kind, y.kind} else "op"
            joined.payload = x.payload if x.payload == y.payload else None
            joined.overlapping = False
        else:
            joined.edges, joined.kind, joined.saved = (Edge(),), "unknown", ()
            return joined
        if [each.name for each in x.saved] == [each.name for each in y.saved]:
            joined.saved = tuple(self.saved(p, q) for p, q in zip(x.saved, y.saved, strict=True))
        else:
            joined.saved = self.all_saved(x.saved, y.saved)
        if x.kind != y.kind and "copy-slices" in {x.kind, y.kind}:
            # It cannot be run twice.
            joined.saved = (*joined.saved, Saved("", None, None, maybe=True))
        if x.hooks != y.hooks:
            ours, theirs = dict(x.hooks), dict(y.hooks)
            tables = [(at, self.tables(ours.get(at), theirs.get(at)) or -1) for at in sorted({*ours, *theirs})]
            joined.hooks = tuple(tables)
        return joined

    def either(self, x: Node, y: Node, i: int, j: int) -> tuple[Edge | None, ...]:
        """The edges of what is one of two unlike nodes: where both lead it leads too, where one does it leads perhaps.

        total = 0
        for x in data:
            total = total + loss(x)     # the first sum has one edge, those after it have two
        """
        ours = [edge for edge in x.edges if edge is not None]
        theirs = [edge for edge in y.edges if edge is not None]
        both: list[Edge | None] = []
        for mine in list(ours):
            for other in theirs:
                if self.alike(mine, other):
                    both.append(self.edges(mine, other))
                    ours.remove(mine)
                    theirs.remove(other)
                    break
        if all(edge is None or edge.maybe for edge in both):
            here, there = _surely_reached(self.a, x, i), _surely_reached(self.b, y, j)
            shared = _first([edge for edge in here if edge in there and (i != j or edge != Edge(i))], here)
            ours = [] if Edge(i) in shared else ours
            theirs = [] if Edge(j) in shared else theirs
            both += shared
        rest = [replace(edge, maybe=True) for edge in dict.fromkeys((*ours, *theirs)) if edge not in both]
        return (*both, *(rest if len(rest) <= MOST_EDGES else [Edge(maybe=True)]))

    def alike(self, x: Edge, y: Edge) -> bool:
        """Whether two edges lead to the same, or to what the same place of the program has made."""
        if x.leaf is not None and y.leaf is not None:
            return x.leaf == y.leaf or self.made_alike(x.leaf, y.leaf)
        if x.node is None or y.node is None or x.output != y.output:
            return False
        mine, other = self.a.find(x.node), self.b.find(y.node)
        if x.node == y.node or not isinstance(mine, Node) or not isinstance(other, Node):
            return x.node == y.node
        if mine.loc is None or mine.loc != other.loc or mine.via != other.via:
            return False
        return mine.what == other.what or not set(mine.names).isdisjoint(other.names)

    def made_alike(self, i: int, j: int) -> bool:
        """Whether the same place of the program has made two tensors, not both on one way."""
        here, there = self.a.find(i), self.b.find(j)
        if self.a.find(j) is not None and self.b.find(i) is not None:
            return False
        if not isinstance(here, Tensor) or not isinstance(there, Tensor) or not here.lineage or not there.lineage:
            return False
        mine, other = here.lineage, there.lineage
        return mine.loc is not None and (mine.what, mine.loc, mine.via) == (other.what, other.loc, other.via)

    def all_saved(self, xs: tuple[Saved, ...], ys: tuple[Saved, ...]) -> tuple[Saved, ...]:
        """What both have kept is kept, what one of them has perhaps."""
        theirs = {(y.name, y.counter): y for y in ys}
        both = {key: x for x in xs if (key := (x.name, x.counter)) in theirs}
        kept = [self.saved(x, theirs[key]) for key, x in both.items()]
        rest = [one for one in (*xs, *ys) if (one.name, one.counter) not in both]
        return (*kept, *[replace(one, maybe=True) for one in rest])

    def saved(self, x: Saved, y: Saved) -> Saved:
        if x == y:
            return x
        if x.counter is None and y.counter is None:
            return replace(x, among=tuple(dict.fromkeys((*x.among, *y.among))))
        if x.counter is None or y.counter is None or x.name != y.name:
            return replace(x, counter=x.counter if x.counter is not None else y.counter, version=None)
        counter = self.pair(x.counter, y.counter)
        tensor = x.tensor if x.tensor == y.tensor else self.maybe_pair(x.tensor, y.tensor)
        storage = x.storage if x.storage == y.storage else self.maybe_pair(x.storage, y.storage)
        return replace(
            x,
            counter=counter,
            version=self.saved_version(x, y, counter),
            tensor=tensor,
            storage=storage,
            writes=max(x.writes, y.writes),
            maybe=x.maybe or y.maybe,
            unseen=x.unseen and y.unseen,
        )

    def saved_version(self, x: Saved, y: Saved, counter: int) -> int | None:
        here, there = self.a.find(x.counter or 0), self.b.find(y.counter or 0)
        if not isinstance(here, Counter) or not isinstance(there, Counter):
            return None
        if x.version is None or y.version is None or here.version is None or there.version is None:
            return None
        if here.version == there.version:
            return x.version if x.version == y.version else None
        if here.version - x.version == there.version - y.version:
            return self.rebased(counter) - (here.version - x.version)
        return None


def _in_order(x: Node, y: Node) -> bool:
    """Whether the edges of two nodes of one kind are of the same operands, one by one."""
    if len(x.edges) != len(y.edges):
        return False
    return x.kind not in PLAIN or all(len(n.operands) == len(n.edges) for n in (x, y))


def _surely_reached(state: State, node: Node, ident: int) -> dict[Edge, frozenset[Edge]]:
    """What a backward through a node reaches on every way, nearest first, and what it reaches from each."""
    found: dict[Edge, frozenset[Edge]] = {}
    _reach(state, Edge(ident), node, found)
    return found


def _reach(state: State, edge: Edge, node: Node, found: dict[Edge, frozenset[Edge]]) -> frozenset[Edge]:
    found[edge] = frozenset()
    below: set[Edge] = set()
    sure = [onward for onward in node.edges if onward is not None and not onward.maybe]
    for onward in sure if node.kind != "unknown" else ():
        below.add(onward)
        if onward in found:
            below |= found[onward]
        elif len(found) < NEAR:
            inner = state.find(onward.node) if onward.node is not None else None
            if isinstance(inner, Node):
                below |= _reach(state, onward, inner, found)
            elif onward.leaf is not None:
                found[onward] = frozenset()
    found[edge] = frozenset(below)
    return found[edge]


def _first(edges: Sequence[Edge], found: Mapping[Edge, frozenset[Edge]]) -> list[Edge]:
    """Those of the edges that none of the others leads to."""
    return [edge for edge in edges if not any(edge in found[other] for other in edges)]
