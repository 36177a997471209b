"""Which names statements bind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.syntax import nodes as n


def names_bound(trees: Iterable[object]) -> frozenset[str]:
    """The names that some trees assign to, the bodies of functions in them included."""
    return frozenset(name for node in n.walk(trees) for name in _bound_by(node))


def names_in(target: n.Expr) -> Iterator[str]:
    """The names that a target binds: `a` and `b` in `a, (b, *c.d)`."""
    match target:
        case n.Name(id=name):
            yield name
        case n.TupleExpr(elts=elts) | n.ListExpr(elts=elts):
            for element in elts:
                yield from names_in(element)
        case n.Starred(value=value):
            yield from names_in(value)


def _bound_by(node: n.Node) -> Iterator[str]:
    match node:
        case n.Assign(targets=targets):
            for target in targets:
                yield from names_in(target)
        case n.AugAssign(target=target) | n.AnnAssign(target=target) | n.For(target=target):
            yield from names_in(target)
        case n.WithItem(target=target) if target is not None:
            yield from names_in(target)
        case n.NamedExpr():
            yield from names_in(node.target)
