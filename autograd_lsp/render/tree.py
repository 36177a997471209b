"""An autograd graph as an indented tree, the way gradients flow: from the tensor down to the leaves.

A node that several results share is printed once, and named again wherever else it is reached.

```text
loss
└─ SumBackward0
   └─ ExpBackward0  saves result
      └─ x  leaf
```
"""

from __future__ import annotations

from collections.abc import Callable

from analyzers.report import Graph, GraphNode, Place
from autograd_lsp.render.labels import children_of, describe, label_of, nowhere
from autograd_lsp.text.sinks import printable


def render_tree(graph: Graph, *, max_lines: int | None = None, where: Callable[[Place], str] = nowhere) -> str:
    """The tree, cut after `max_lines` lines with a count of what is left; `where` names a place, as `line 3`."""
    lines: list[str] = []
    if graph.nodes:
        _Tree(graph, lines, where).walk()
    if max_lines is not None and len(lines) > max_lines:
        lines[max_lines:] = [f"… and {len(lines) - max_lines} more"]
    return "\n".join([*lines, *(f"note: {printable(note)}" for note in graph.notes)])


class _Tree:
    def __init__(self, graph: Graph, lines: list[str], where: Callable[[Place], str]) -> None:
        self.root = graph.nodes[0]
        self.where = where
        self.children = children_of(graph)
        self.lines = lines

    def walk(self) -> None:
        """Depth first with a stack of its own: the graph of a long loop is deeper than Python's."""
        seen: set[str] = set()
        stack: list[tuple[GraphNode, str, str]] = [(self.root, "", "")]
        while stack:
            node, lead, indent = stack.pop()
            below = self.children.get(node.id, ())
            if node.id in seen:
                self.lines.append(lead + label_of(node) + ("  (see above)" if below else ""))
                continue
            seen.add(node.id)
            self.lines.append(lead + describe(node, self.where))
            rows = [
                (child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))
                for child, last in ((child, index == len(below) - 1) for index, child in enumerate(below))
            ]
            stack.extend(reversed(rows))
