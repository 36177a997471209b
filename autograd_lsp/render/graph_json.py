"""An autograd graph as the JSON that `graph --format json` prints and `autograd/graph` answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzers.report import Graph, Place
from autograd_lsp.render.dot import render_dot


def graph_json(graph: Graph, locate: Callable[[Place], dict[str, Any]]) -> dict[str, Any]:
    """`locate` says where a place is, in the words of the face that asks."""
    return {
        "name": graph.name,
        "nodes": [
            {
                "id": node.id,
                "kind": node.kind,
                "label": node.label,
                "requires_grad": node.requires_grad,
                "is_leaf": node.is_leaf,
                "saved": list(node.saved),
                "freed": node.freed,
                "freed_at": locate(node.freed_at) if node.freed_at is not None else None,
                **(locate(node.place) if node.place is not None else {"range": None}),
            }
            for node in graph.nodes
        ],
        "edges": [{"from": edge.source, "to": edge.target} for edge in graph.edges],
        "notes": list(graph.notes),
        "dot": render_dot(graph),
    }
