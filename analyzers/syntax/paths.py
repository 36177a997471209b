"""The dotted paths that an expression names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.syntax import nodes as n


def attribute_paths(trees: Iterable[object]) -> Iterator[str]:
    """`p.grad` and `p.grad.zero_` of `p.grad.zero_()`: each attribute that is reached from a name."""
    for node in n.walk(trees):
        path = path_of(node) if isinstance(node, n.Attribute) else None
        if path is not None:
            yield path


def paths_handed_over(tree: n.Expr) -> frozenset[str]:
    """Of `ready(p.grad, x)`, `p.grad` and `x`: the names and attributes that calls in an expression are given."""
    calls = [node for node in n.walk([tree]) if isinstance(node, n.Call)]
    values = [value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords))]
    names = [path for value in values if (path := path_of(value)) is not None]
    return frozenset([*names, *attribute_paths(values)])


def paths_at_fault(node: n.Node, *, of_kind: bool) -> frozenset[str]:
    """What an expression names that fails: `x.grad` and `x.grad.data` of `x.grad.data`. With `of_kind` it fails as a
    value is of another kind than one that has the attribute, which is then named, too: `x` of `x.cpu`."""
    owner = path_of(node.value) if of_kind and isinstance(node, n.Attribute) else None
    return frozenset([*attribute_paths([node]), *([] if owner is None else [owner])])


def path_of(node: n.Node) -> str | None:
    """`p.grad`, if that is what an expression is."""
    if isinstance(node, n.Name):
        return node.id
    before = path_of(node.value) if isinstance(node, n.Attribute) else None
    return f"{before}.{node.attr}" if isinstance(node, n.Attribute) and before is not None else None
