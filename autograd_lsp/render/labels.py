"""The words that every picture of a graph uses for a node."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.report import Graph, GraphNode, Place
from autograd_lsp.text.sinks import printable


def label_of(node: GraphNode) -> str:
    return printable(node.label)


def children_of(graph: Graph) -> dict[str, tuple[GraphNode, ...]]:
    """For each node the nodes that its gradient flows to, in the order of the edges."""
    nodes = {node.id: node for node in graph.nodes}
    children: dict[str, tuple[GraphNode, ...]] = {}
    for edge in graph.edges:
        children[edge.source] = (*children.get(edge.source, ()), nodes[edge.target])
    return children


def nowhere(place: Place) -> str:
    """For a picture that says of nothing where it is."""
    del place
    return ""


def remarks(node: GraphNode, where: Callable[[Place], str] = nowhere) -> tuple[str, ...]:
    """What is worth saying of a node beside its label; `where` names a place, as `line 3`."""
    words: list[str] = []
    match node.kind:
        case "leaf":
            words.append("leaf")
        case "cut":
            words.append("gradient stops here")
        case "unknown":
            words += ["not known"] * (node.label != "not known")
        case "presumed":
            words.append("presumed to be data without a graph")
        case "tensor":
            if node.is_leaf:
                words.append("leaf")
            if node.requires_grad is not None:
                words.append(f"requires_grad={node.requires_grad}")
        case "operator":
            pass
    if node.saved:
        words.append(printable(f"saves {', '.join(node.saved)}"))
    if node.freed is not False and (node.freed or node.freed_at is not None):
        by = where(node.freed_at) if node.freed_at is not None else ""
        words.append(("freed" if node.freed else "perhaps freed") + (f" by {by}" if by else ""))
    return tuple(words)


def describe(node: GraphNode, where: Callable[[Place], str] = nowhere) -> str:
    """The label, where the node was made, and the remarks, on one line."""
    here = where(node.place) if node.place is not None else ""
    label, words = f"{label_of(node)} [{here}]" if here else label_of(node), remarks(node, where)
    return f"{label}  {', '.join(words)}" if words else label
