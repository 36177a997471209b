"""The dotted paths that an expression names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.syntax import nodes as n


def attribute_paths(trees: Iterable[object]) -> Iterator[str]:
    """`p.grad` and `p.grad.zero_` of `p.grad.zero_()`: each attribute that is reached from a name."""
    for node in n.walk(trees):
        path = _path(node) if isinstance(node, n.Attribute) else None
        if path is not None:
            yield path


def paths_handed_over(tree: n.Expr) -> frozenset[str]:
    """Of `ready(p.grad, 3)`, `p.grad`: the attributes that calls in an expression are given."""
    calls = [node for node in n.walk([tree]) if isinstance(node, n.Call)]
    return frozenset(attribute_paths([call.args for call in calls] + [call.keywords for call in calls]))


def _path(node: n.Node) -> str | None:
    if isinstance(node, n.Name):
        return node.id
    before = _path(node.value) if isinstance(node, n.Attribute) else None
    return f"{before}.{node.attr}" if isinstance(node, n.Attribute) and before is not None else None
