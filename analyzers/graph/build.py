"""From a tensor in the machine's memory to its graph as data.

The machine runs once more with a *probe*: when it comes by the name asked for, the graph that the tensor has at that
moment is written down. The last visit counts.
"""

from __future__ import annotations

from typing import Protocol

from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Counter, Edge, Node, Tensor
from analyzers.domain.values import Value
from analyzers.machine.core import Machine
from analyzers.machine.tensors import refreshed
from analyzers.report import Graph, GraphEdge, GraphNode, Place
from analyzers.syntax import nodes as n

MOST = 400
"""Nodes shown; a graph that a long loop has grown is cut there, with a note."""


class Places(Protocol):
    def place(self, loc: Loc) -> Place: ...


class GraphProbe:
    """Catches the tensor that `name` (or whatever stands at `offset`) holds when the machine comes by.

    With a `name`, the last binding or use of that name on the line of `offset` counts.
    """

    def __init__(self, places: Places, path: str, offset: int, name: str | None, text: bytes) -> None:
        self.places = places
        self.path = path
        self.offset = offset
        self.name = name
        start = text.rfind(b"\n", 0, offset) + 1
        end = text.find(b"\n", offset)
        self.line = (start, len(text) if end < 0 else end)
        self.graph: Graph | None = None
        self.best: tuple[int, int] | None = None

    def __call__(self, m: Machine, node: n.Node, value: Value) -> None:
        if m.frame.library or m.frame.module != self.path:
            return
        place = self.places.place(m.loc_of(m.frame, node))
        if self.name is not None:
            if not (self.line[0] <= place.start < self.line[1]) or m.source(node) != self.name:
                return
            rank = (0, -place.start)
        else:
            if not (place.start <= self.offset <= place.end):
                return
            rank = (place.end - place.start, 0)
        if self.best is not None and rank > self.best:
            return
        if m.tensor(value) is None:
            return
        self.best = rank
        self.graph = graph_of(m, value, m.source(node), self.places)


def graph_of(m: Machine, value: Value, name: str, places: Places) -> Graph:
    from analyzers.domain.values import Ref

    assert isinstance(value, Ref)
    tensor = refreshed(m, value.id)
    builder = _Builder(m, places)
    builder.start(value.id, tensor, name)
    return Graph(name, tuple(builder.nodes.values()), tuple(builder.edges), tuple(builder.notes))


class _Builder:
    def __init__(self, m: Machine, places: Places) -> None:
        self.m = m
        self.places = places
        self.nodes: dict[str, GraphNode] = {}
        self.edges: list[GraphEdge] = []
        self.notes: list[str] = []

    def place(self, loc: Loc | None) -> Place | None:
        return None if loc is None or loc.module.startswith("<") else self.places.place(loc)

    def start(self, ident: int, tensor: Tensor, name: str) -> None:
        root = "tensor"
        where = tensor.lineage.loc if tensor.lineage is not None else None
        self.nodes[root] = GraphNode(
            root, "tensor", name, tensor.requires_grad, tensor.is_leaf, (), None, self.place(where)
        )
        if tensor.requires_grad is False:
            self.cuts(root, tensor.lineage)
            return
        queue: list[tuple[str, Edge | None]] = [(root, tensor.edge if tensor.edge else Edge(leaf=ident))]
        for source, edge in queue:
            target = self.follow(edge)
            if target is None:
                continue
            known = target in self.nodes
            self.edges.append(GraphEdge(source, target))
            if known:
                continue
            if len(self.nodes) >= MOST:
                self.notes.append(f"only the {MOST} nodes nearest to `{name}` are shown")
                return
            queue += [(target, e) for e in self.add(target, edge)]

    def follow(self, edge: Edge | None) -> str | None:
        if edge is None:
            return None
        if edge.node is not None:
            return f"n{edge.node}"
        return f"l{edge.leaf}" if edge.leaf is not None else "unknown"

    def add(self, target: str, edge: Edge | None) -> tuple[Edge | None, ...]:
        assert edge is not None
        if edge.node is not None:
            node = self.m.node(edge.node)
            label = " | ".join(node.names) or node.what or "?"
            kind = "unknown" if node.kind == "unknown" else "operator"
            saved = tuple(self.saved(node))
            self.nodes[target] = GraphNode(target, kind, label, True, False, saved, node.freed, self.place(node.loc))  # type: ignore[arg-type]
            return tuple(e for e in node.edges if e is not None)
        if edge.leaf is not None:
            leaf = self.m.st.get(edge.leaf)
            assert isinstance(leaf, Tensor)
            place = self.place(leaf.lineage.loc if leaf.lineage else None)
            label = self.leaf_name(leaf, place)
            self.nodes[target] = GraphNode(target, "leaf", label, leaf.requires_grad, True, (), None, place)
            return ()
        self.nodes[target] = GraphNode(target, "unknown", "not known", None, None, (), None, None)
        return ()

    def leaf_name(self, leaf: Tensor, place: Place | None) -> str:
        for binding in self.m.bindings.values():
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
            assert isinstance(counter, Counter)
            same = versions_equal(saved.version, counter.version)
            state = "" if same else " (modified since)" if same is False else " (perhaps modified)"
            out.append(f"{saved.name}{state}")
        return out

    def cuts(self, root: str, lineage: Lineage | None) -> None:
        """Where the graph of what this was made of ended."""
        for index, step in enumerate(lineage.walk(400) if lineage is not None else ()):
            if step.cut is not None:
                name = f"cut{index}"
                self.nodes[name] = GraphNode(
                    name, "cut", f"{step.what} ({step.cut})", False, None, (), None, self.place(step.loc)
                )
                self.edges.append(GraphEdge(root, name))
