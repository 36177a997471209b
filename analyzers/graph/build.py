"""Builds the graph of a tensor in the machine's memory, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Counter, Edge, Node, Tensor
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.core.machine import Machine
from analyzers.report import Graph, GraphEdge, GraphNode, Place

MOST = 400
"""Nodes shown; a graph that a long loop has grown is cut there, with a note."""

MOST_CUTS = 6
MOST_STEPS = 600
"""Cuts shown, and steps of a trail that are searched for them."""


class Places(Protocol):
    def place(self, loc: Loc) -> Place: ...

    def text(self, loc: Loc) -> str: ...


def place_of(places: Places, loc: Loc | None) -> Place | None:
    """None for what lies in no file of the user's."""
    return None if loc is None or loc.module.startswith("<") else places.place(loc)


def graph_of(m: Machine, ident: int, name: str, places: Places, names: Mapping[int, str]) -> Graph:
    """The graph above a tensor as it is now; `names` are what the program calls its tensors."""
    builder = _Builder(m, places, names)
    builder.start(ident, refreshed(m, ident), name)
    return Graph(name, tuple(builder.nodes.values()), tuple(builder.edges), tuple(builder.notes))


class _Builder:
    def __init__(self, m: Machine, places: Places, names: Mapping[int, str]) -> None:
        self.m = m
        self.places = places
        self.names = names
        self.nodes: dict[str, GraphNode] = {}
        self.numbers: dict[tuple[str, int], str] = {}
        """Nodes and leaves by the order in which they are met: heap ids would tell of all that ran before."""
        self.edges: list[GraphEdge] = []
        self.notes: list[str] = []
        self.made_at: dict[Loc, str] = {}
        """By where in the program it was made, the first of the nodes; rather one to which an operand gave no edge."""
        self.leaf_trails: set[int] = set()
        self.stand_ins = dict(_stand_ins(m))

    def place(self, loc: Loc | None) -> Place | None:
        return place_of(self.places, loc)

    def start(self, ident: int, tensor: Tensor, name: str) -> None:
        root = "tensor"
        where = tensor.lineage.loc if tensor.lineage is not None else None
        self.nodes[root] = GraphNode(
            root, "tensor", name, tensor.requires_grad, tensor.is_leaf, (), None, self.place(where)
        )
        if tensor.requires_grad is not False:
            self.walk(root, tensor.edge if tensor.edge else Edge(leaf=ident), name)
        self.cuts(root, tensor.lineage)

    def walk(self, root: str, edge: Edge, name: str) -> None:
        queue: list[tuple[str, Edge | None]] = [(root, edge)]
        for source, onward in queue:
            target = self.follow(onward)
            if target is None:
                continue
            known = target in self.nodes
            if not known and len(self.nodes) >= MOST:
                self.notes.append(f"only the {MOST} nodes nearest to `{name}` are shown")
                return
            self.edges.append(GraphEdge(source, target))
            if not known:
                queue += [(target, e) for e in self.add(target, onward)]

    def follow(self, edge: Edge | None) -> str | None:
        if edge is None:
            return None
        if edge.node is not None:
            return self.numbered("n", edge.node)
        return self.numbered("l", edge.leaf) if edge.leaf is not None else "unknown"

    def numbered(self, kind: str, ident: int) -> str:
        return self.numbers.setdefault((kind, ident), f"{kind}{len(self.numbers) + 1}")

    def add(self, target: str, edge: Edge | None) -> tuple[Edge | None, ...]:
        assert edge is not None
        if edge.node is not None:
            node = self.m.node(edge.node)
            label = " | ".join(node.names) or node.what or "?"
            saved = tuple(self.saved(node))
            freed_at = self.place(node.freed_at) if node.freed is not False else None
            self.nodes[target] = GraphNode(
                target, "unknown" if node.kind == "unknown" else "operator", label, True, False, saved, node.freed,
                self.place(node.loc), freed_at,
            )  # fmt: skip
            if node.loc is not None and (None in node.edges or node.loc not in self.made_at):
                self.made_at[node.loc] = target
            return tuple(e for e in node.edges if e is not None)
        if edge.leaf is not None:
            leaf = self.m.st.get(edge.leaf)
            assert isinstance(leaf, Tensor)
            if leaf.lineage is not None:
                self.leaf_trails.add(id(leaf.lineage))
            place = self.place(leaf.lineage.loc if leaf.lineage else None)
            label = self.names.get(edge.leaf) or self.leaf_name(leaf)
            self.nodes[target] = GraphNode(target, "leaf", label, leaf.requires_grad, True, (), None, place)
            return ()
        self.nodes[target] = GraphNode(target, "unknown", "not known", None, None, (), None, None)
        return ()

    def leaf_name(self, leaf: Tensor) -> str:
        for binding in self.m.record.bindings.values():
            if binding.lineage is not None and binding.lineage is leaf.lineage:
                return binding.name
        return "parameter" if leaf.parameter else "leaf"

    def saved(self, node: Node) -> list[str]:
        out = []
        for saved in node.saved:
            if saved.counter is None:
                out.append(f"{saved.name or 'a copy'} (private)")
                continue
            counter = self.m.st.get(saved.counter)
            same = versions_equal(saved.version, counter.version) if isinstance(counter, Counter) else None
            state = "" if same else " (modified since)" if same is False else " (perhaps modified)"
            out.append(f"{saved.name}{state}")
        return out

    def cuts(self, root: str, lineage: Lineage | None) -> None:
        """Where the graph of what this was made of ended, and what is presumed to have none; what lies behind a cut, or
        makes a leaf, is not looked at."""
        seen: set[tuple[Loc | None, str]] = set()
        met: set[int] = set()
        queue = [] if lineage is None else [(lineage, root)]
        for step, below in queue:
            if id(step) in met or id(step) in self.leaf_trails or len(met) > MOST_STEPS or len(seen) >= MOST_CUTS:
                continue
            met.add(id(step))
            if id(step) in self.stand_ins:
                label = self.names.get(self.stand_ins[id(step)], "data")
                name = f"presumed{len(met)}"
                self.nodes[name] = GraphNode(name, "presumed", label, False, True, (), None, self.place(step.loc))
                self.edges.append(GraphEdge(below, name))
            elif step.cut is None:
                here = self.made_at.get(step.loc, below) if step.loc is not None else below
                queue += [(parent, here) for parent in step.parents]
            elif (step.loc, step.cut) not in seen:
                seen.add((step.loc, step.cut))
                name = f"cut{len(seen)}"
                self.nodes[name] = GraphNode(name, "cut", cut_label(step), False, None, (), None, self.place(step.loc))
                self.edges.append(GraphEdge(below, name))


def _stand_ins(m: Machine) -> Iterator[tuple[int, int]]:
    """The tensors that stand for unknown data, by the trails on which they are met."""
    for ident in m.st.stand_ins.values():
        tensor = m.st.find(ident)
        if isinstance(tensor, Tensor) and tensor.lineage is not None and tensor.requires_grad is False:
            yield id(tensor.lineage), ident


def cut_label(step: Lineage) -> str:
    """`detach`, `mul (no-grad)`: what was done there, and how that ended the graph."""
    return step.what if step.what.strip("_.") == step.cut else f"{step.what} ({step.cut})"
