"""An autograd graph as an SVG picture, whose colours follow the viewer's light or dark theme.

The arrows point the way gradients flow. What is freed has a dashed border and is struck out, a cut is red, and
what is not known, or presumed to be data, is an outline of dashes.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from analyzers.report import Graph, GraphNode, Place
from autograd_lsp.render.labels import label_of, nowhere, remarks
from autograd_lsp.render.layers import Size, Way, lay_out
from autograd_lsp.text.sinks import printable

_CHARACTER = 7.3
_LINE = 16
_PADDING = 8
_MARGIN = 12
_GAP = Size(24, 36)
_LONGEST = 48

_STYLE = """\
svg { font: 12px ui-monospace, Menlo, Consolas, monospace; color-scheme: light dark; background: #ffffff }
text { fill: #1f2937; text-anchor: middle; dominant-baseline: middle }
.small { fill: #4b5563; font-size: 11px }
.box { stroke: #6b7280; fill: #f3f4f6 }
.tensor .box { fill: #dbeafe; stroke: #1d4ed8 }
.leaf .box { fill: #dcfce7; stroke: #15803d }
.cut .box { fill: #fee2e2; stroke: #b91c1c }
.unknown .box, .presumed .box { fill: none; stroke-dasharray: 2 3 }
.freed .box { stroke: #b45309; stroke-dasharray: 6 3 }
.freed .label { text-decoration: line-through }
.edge { fill: none; stroke: #6b7280 }
.edge.cut { stroke: #b91c1c; stroke-dasharray: 4 3 }
.head { fill: #6b7280 }
@media (prefers-color-scheme: dark) {
svg { background: #111827 }
text { fill: #f3f4f6 }
.small { fill: #d1d5db }
.box { stroke: #9ca3af; fill: #1f2937 }
.tensor .box { fill: #1e3a8a; stroke: #93c5fd }
.leaf .box { fill: #14532d; stroke: #86efac }
.cut .box { fill: #7f1d1d; stroke: #fca5a5 }
.unknown .box, .presumed .box { fill: none }
.freed .box { stroke: #fbbf24 }
.edge { stroke: #9ca3af }
.edge.cut { stroke: #fca5a5 }
.head { fill: #9ca3af }
}"""


def render_svg(graph: Graph, where: Callable[[Place], str] = nowhere) -> str:
    """`where` names a place, as `line 3`."""
    lines = {node.id: _lines(node, where) for node in graph.nodes}
    sizes = {node.id: _size(node, lines[node.id]) for node in graph.nodes}
    layout = lay_out(sizes, [(edge.source, edge.target) for edge in graph.edges], _GAP)
    cuts = {node.id for node in graph.nodes if node.kind == "cut"}
    notes = [printable(note) for note in graph.notes]
    width = max([layout.size.width, *(_CHARACTER * len(note) for note in notes)]) + 2 * _MARGIN
    height = layout.size.height + _LINE * len(notes) + 2 * _MARGIN
    below = layout.size.height + _LINE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" height="{height:g}"'
            f' viewBox="{-_MARGIN} {-_MARGIN} {width:g} {height:g}">',
            f"<title>{escape(f'The autograd graph of {printable(graph.name)}')}</title>",
            f"<style>\n{_STYLE}\n</style>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
            ' orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
            *(_edge(way, is_cut=way.target in cuts) for way in layout.ways),
            *(_node(node, lines[node.id], layout.centres[node.id], sizes[node.id]) for node in graph.nodes),
            *(_text("small", width / 2 - _MARGIN, below + _LINE * n, note) for n, note in enumerate(notes)),
            "</svg>",
        ]
    )


def _lines(node: GraphNode, where: Callable[[Place], str]) -> tuple[str, ...]:
    here = where(node.place) if node.place is not None else ""
    return tuple(_short(text) for text in (label_of(node), *remarks(node, where), *((here,) if here else ())))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _size(node: GraphNode, lines: tuple[str, ...]) -> Size:
    """What is round at its ends is wider."""
    height = len(lines) * _LINE + _PADDING
    ends = height / 2 if node.kind in {"leaf", "presumed"} else 2 * _PADDING
    return Size(round(max(map(len, lines)) * _CHARACTER + ends), height)


def _node(node: GraphNode, lines: tuple[str, ...], centre: tuple[float, float], size: Size) -> str:
    x, y = centre
    corner = {"leaf": size.height / 2, "presumed": size.height / 2, "tensor": _PADDING}.get(node.kind, 0)
    top = y - (len(lines) - 1) * _LINE / 2
    return "".join(
        [
            f'<g class="{node.kind}{" freed" * bool(node.freed)}"><title>{escape(label_of(node))}</title>',
            f'<rect class="box" x="{x - size.width / 2:g}" y="{y - size.height / 2:g}" rx="{corner:g}"'
            f' width="{size.width:g}" height="{size.height:g}"/>',
            *(_text("small" if n else "label", x, top + n * _LINE, line) for n, line in enumerate(lines)),
            "</g>",
        ]
    )


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _edge(way: Way, *, is_cut: bool) -> str:
    """A curve that leaves and enters each point from straight above or below."""
    (x, y), *others = way.points
    path = f"M{x:g} {y:g}"
    for to_x, to_y in others:
        middle = (y + to_y) / 2
        path += f"C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    return f'<path class="edge{" cut" * is_cut}" marker-end="url(#arrow)" d="{path}"/>'
