"""An autograd graph as a Mermaid flowchart, for Markdown that draws it."""

from __future__ import annotations

from analyzers.report import Graph, GraphNode
from autograd_lsp.render.labels import label_of, remarks

_SHAPES = {
    "tensor": ("([", "])"),
    "operator": ("[", "]"),
    "leaf": ("((", "))"),
    "cut": ("{{", "}}"),
    "unknown": ("[/", "/]"),
    "presumed": ("((", "))"),
}


def render_mermaid(graph: Graph) -> str:
    """Node names are numbered: Mermaid reads words such as `end` as its own."""
    names = {node.id: f"n{index}" for index, node in enumerate(graph.nodes)}
    lines = [
        "flowchart TD",
        *(f"  {names[node.id]}{_shaped(node)}" for node in graph.nodes),
        *(f"  {names[edge.source]} --> {names[edge.target]}" for edge in graph.edges),
    ]
    return "\n".join(lines)


def _shaped(node: GraphNode) -> str:
    before, after = _SHAPES[node.kind]
    return f'{before}"{"<br/>".join(_escaped(line) for line in (label_of(node), *remarks(node)))}"{after}'


def _escaped(text: str) -> str:
    named = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "\n": " "}
    return "".join(named.get(character, character) for character in text)
