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
    """The names that a statement binds, its inner functions' own included."""
    found: set[str] = set()
    for inner in walk(node):
        match inner:
            case n.Assign(targets=targets):
                found |= {part.id for t in targets for part in _parts(t)}
            case (
                n.AugAssign(target=target)
                | n.AnnAssign(target=target)
                | n.For(target=target)
                | n.NamedExpr(target=target)
                | n.Comprehension(target=target)
            ):
                found |= {part.id for part in _parts(target)}
            case n.With(items=items):
                found |= {part.id for item in items if item.target is not None for part in _parts(item.target)}
            case n.Delete(targets=targets):
                found |= {part.id for t in targets for part in _parts(t)}
            case n.FunctionHead() | n.ClassDef():
                found.add(inner.name)
            case n.Arg(name=name):
                found.add(name)
            case n.Import(names=names) | n.ImportFrom(names=names):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
            case n.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def _parts(target: n.Node) -> Iterator[n.Name]:
    match target:
        case n.Name():
            yield target
        case n.TupleExpr(elts=parts) | n.ListExpr(elts=parts):
            for part in parts:
                yield from _parts(part)
        case n.Starred(value=value):
            yield from _parts(value)


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
