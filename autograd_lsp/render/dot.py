"""An autograd graph in Graphviz's DOT language; the arrows point the way gradients flow."""

from __future__ import annotations

from analyzers.report import Graph, GraphNode
from autograd_lsp.render.labels import label_of, remarks
from autograd_lsp.text.sinks import printable

_STYLES = {
    "tensor": 'shape=box, style="rounded,filled", fillcolor="#dbeafe"',
    "operator": 'shape=box, style="filled", fillcolor="#f3f4f6"',
    "leaf": 'shape=ellipse, style="filled", fillcolor="#dcfce7"',
    "cut": 'shape=octagon, style="filled", fillcolor="#fee2e2"',
    "unknown": 'shape=box, style="dashed"',
    "presumed": 'shape=ellipse, style="dashed"',
}


def render_dot(graph: Graph) -> str:
    lines = [
        f"digraph {_quoted(printable(graph.name))} {{",
        "  rankdir=TB;",
        '  node [fontname="monospace"];',
        *(f"  {_quoted(node.id)} [label={_label(node)}, {_STYLES[node.kind]}];" for node in graph.nodes),
        *(f"  {_quoted(edge.source)} -> {_quoted(edge.target)};" for edge in graph.edges),
        "}",
    ]
    return "\n".join(lines)


def _label(node: GraphNode) -> str:
    return '"' + "\\n".join(_escaped(line) for line in (label_of(node), *remarks(node))) + '"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
