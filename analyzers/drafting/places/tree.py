"""Places and nodes: the node at a place, the nodes around and inside it, and the place of another node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts
from analyzers.syntax import nodes as n


def children(node: n.Node | n.Arguments) -> Iterator[n.Node]:
    for slot in fields(node):
        yield from _nodes(getattr(node, slot.name))


def _nodes(value: object) -> Iterator[n.Node]:
    if isinstance(value, n.Node):
        yield value
    elif isinstance(value, n.Arguments):
        yield from children(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def walk(node: n.Node) -> Iterator[n.Node]:
    yield node
    for child in children(node):
        yield from walk(child)


def path_to(facts: Facts, loc: Loc) -> list[n.Node]:
    """The nodes around `loc`, outermost first, ending in the smallest that spans it."""
    path: list[n.Node] = []
    level: Iterator[n.Node] | tuple[n.Stmt, ...] = facts.places.chunk(loc).body
    while True:
        inner = next((c for c in level if c.start <= loc.start and loc.end <= c.end and c.start < c.end), None)
        if inner is None:
            return path
        path.append(inner)
        level = children(inner)


def node_at(facts: Facts, loc: Loc) -> n.Node | None:
    """The expression that spans exactly `loc`, or else the statement that does."""
    exact = [node for node in path_to(facts, loc) if (node.start, node.end) == (loc.start, loc.end)]
    return exact[-1] if exact else None


def outside_forward(facts: Facts, loc: Loc, via: tuple[Loc, ...]) -> Loc:
    """Where a network is called: the nearest place that is not in a `forward`."""
    for place in (loc, *reversed(via)):
        inside = [node.name for node in path_to(facts, place) if isinstance(node, n.FunctionDef)]
        if not inside or inside[-1] not in {"forward", "__call__"}:
            return place
    return loc


def is_statement(node: n.Node) -> bool:
    return isinstance(node, n.Stmt)


def statement_at(facts: Facts, loc: Loc) -> n.Node | None:
    """The innermost statement around `loc`."""
    return next((node for node in reversed(path_to(facts, loc)) if is_statement(node)), None)


def at(loc: Loc, node: n.Node) -> Loc:
    """The place of another node of the same chunk."""
    return replace(loc, start=node.start, end=node.end)


def between(loc: Loc, start: int, end: int) -> Loc:
    return replace(loc, start=start, end=end)


def before_dot(facts: Facts, loc: Loc, attribute: n.Attribute) -> Loc:
    """The empty place after the owner of an attribute and its parentheses."""
    text = facts.places.chunk(loc).text[: attribute.attr_start].rstrip().removesuffix(b".").rstrip()
    return between(loc, len(text), len(text))


def is_bare(node: n.Node) -> bool:
    """Whether `.method()` appended to an expression applies to all of it."""
    return isinstance(node, n.Name | n.Attribute | n.Call | n.Subscript | n.ListExpr)


def indentation(facts: Facts, loc: Loc, statement: n.Node) -> str | None:
    """The white space before a statement; None if anything else precedes it on its line."""
    text = facts.places.chunk(loc).text[: statement.start].decode("utf-8", "replace")
    line = text.rpartition("\n")[2]
    return line if not line.strip() else None


def is_variable(node: n.Node) -> bool:
    """A name, an attribute, or a string key of a dict: something that an assignment can rebind."""
    match node:
        case n.Subscript(value=owner, index=n.Constant(value=str())):
            return is_variable(owner)
        case n.Attribute(value=owner):
            return is_variable(owner)
    return isinstance(node, n.Name)
