"""Statements as lines of a block: their neighbours, the names in them, and whether they have their lines to themselves.

A *spot* is a statement and its place. Statements of the module are chunks of their own, so a block of the module has
spots in many chunks; any other block lies in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts
from analyzers.drafting.places.tree import at, indentation, path_to, walk
from analyzers.syntax import nodes as n
from analyzers.syntax.paths import names_bound
from analyzers.syntax.paths import names_in as targets_in

Spot: TypeAlias = tuple[Loc, n.Node]


def block_around(facts: Facts, loc: Loc) -> tuple[list[Spot], int] | None:
    """The block of the innermost statement around a place, and which one of its statements that is."""
    path = [node for node in path_to(facts, loc) if isinstance(node, n.Stmt | n.ExceptHandler | n.MatchCase)]
    while path and not isinstance(path[-1], n.Stmt):
        path.pop()
    if not path:
        return None
    inner = path[-1]
    if len(path) == 1:
        spots = module_block(facts, loc.module) if "." not in loc.chunk else []
    else:
        body = next((body for body in bodies(path[-2]) if any(s is inner for s in body)), ())
        spots = [(at(loc, statement), statement) for statement in body]
    place = at(loc, inner)
    index = next((i for i, (there, _) in enumerate(spots) if there == place), None)
    return (spots, index) if index is not None else None


def module_block(facts: Facts, module: str) -> list[Spot]:
    """The statements of a file."""
    chunks = facts.places.statements(module)
    return [(Loc(module, chunk.key, s.start, s.end), s) for chunk in chunks for s in chunk.body]


def bodies(node: n.Node) -> Iterator[tuple[n.Stmt, ...]]:
    """The blocks right inside a statement."""
    for slot in ("body", "orelse", "finalbody"):
        block = getattr(node, slot, ())
        if isinstance(block, tuple):
            yield block


def contains(spot: Spot, loc: Loc) -> bool:
    """Whether a place lies in a statement."""
    place = spot[0]
    return (place.module, place.chunk) == (loc.module, loc.chunk) and place.start <= loc.start <= loc.end <= place.end


def names_in(node: n.Node) -> set[str]:
    """Every name that a statement of one chunk reads or binds."""
    return {inner.id for inner in walk(node) if isinstance(inner, n.Name)} | bound_in(node)


def names_of(facts: Facts, spot: Spot) -> set[str]:
    """Every name in a statement, including the methods of a class."""
    loc, statement = spot
    found = names_in(statement)
    for inner in walk(statement):
        if isinstance(inner, n.ChunkRef):
            methods = facts.places.chunk(Loc(loc.module, inner.key, 0, 0)).body
            found = found.union(*(names_of(facts, (Loc(loc.module, inner.key, 0, 0), m)) for m in methods))
    return found


def bound_in(node: n.Node) -> set[str]:
    """The names that a statement binds or deletes, its inner functions' and comprehensions' own included."""
    found = set(names_bound([node]))
    for inner in walk(node):
        match inner:
            case n.Comprehension(target=target):
                found |= set(targets_in(target))
            case n.Delete(targets=targets):
                found |= {name for target in targets for name in targets_in(target)}
            case n.Arg(name=name):
                found.add(name)
    return found


def plainly_bound(node: n.Node) -> set[str]:
    """The names that an assignment binds, if it binds nothing else."""
    match node:
        case n.Assign(targets=(n.Name(id=name),)) | n.AnnAssign(target=n.Name(id=name), value=n.Node()):
            return {name}
        case n.Assign(targets=(n.TupleExpr(elts=parts),)) if all(isinstance(part, n.Name) for part in parts):
            return {part.id for part in parts if isinstance(part, n.Name)}
    return set()


def has_long_string(facts: Facts, spot: Spot) -> bool:
    """Whether a string goes over several lines: to indent it would change it."""
    loc, statement = spot
    return any(
        isinstance(inner, n.JoinedStr | n.Constant) and "\n" in facts.text(at(loc, inner)).replace("\r", "\n")
        for inner in walk(statement)
        if not isinstance(inner, n.Constant) or isinstance(inner.value, str | bytes)
    )


def is_alone_on_lines(facts: Facts, spot: Spot) -> bool:
    """Whether a statement has its lines to itself, except for a comment at the end."""
    loc, statement = spot
    rest = facts.places.chunk(loc).text[statement.end :].partition(b"\n")[0].strip()
    return indentation(facts, loc, statement) is not None and (not rest or rest.startswith(b"#"))
