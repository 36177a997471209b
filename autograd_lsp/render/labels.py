"""The words that every picture of a graph uses for a node."""

from __future__ import annotations

from analyzers.report import Graph, GraphNode


def children_of(graph: Graph) -> dict[str, tuple[GraphNode, ...]]:
    """For each node the nodes that its gradient flows to, in the order of the edges."""
    nodes = {node.id: node for node in graph.nodes}
    children: dict[str, tuple[GraphNode, ...]] = {}
    for edge in graph.edges:
        children[edge.source] = (*children.get(edge.source, ()), nodes[edge.target])
    return children


def remarks(node: GraphNode) -> tuple[str, ...]:
    """What is worth saying of a node beside its label."""
    words: list[str] = []
    match node.kind:
        case "leaf":
            words.append("leaf")
        case "cut":
            words.append("gradient stops here")
        case "unknown":
            words.append("not known")
        case "tensor":
            if node.is_leaf:
                words.append("leaf")
            if node.requires_grad is not None:
                words.append(f"requires_grad={node.requires_grad}")
        case "operator":
            pass
    if node.saved:
        words.append(f"saves {', '.join(node.saved)}")
    if node.freed:
        words.append("freed")
    return tuple(words)


def describe(node: GraphNode) -> str:
    """The label and the remarks on one line."""
    words = remarks(node)
    return f"{node.label}  {', '.join(words)}" if words else node.label
