"""Statements as lines of a block: those beside them, moving them elsewhere, indenting them and bringing them back.

A *spot* is a statement and its place. Statements of the module are chunks of their own, so a block of the module has
spots in many chunks; any other block lies in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Change, Facts, Indented, Moved
from analyzers.drafting.edits.pieces import at, between, indentation, path_to, walk
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
    """Every name in a statement, the methods of a class among it."""
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
    """Whether nothing but a comment stands behind a statement on its last line, and nothing before it."""
    loc, statement = spot
    rest = facts.places.chunk(loc).text[statement.end :].partition(b"\n")[0].strip()
    return indentation(facts, loc, statement) is not None and (not rest or rest.startswith(b"#"))


def moved_before(facts: Facts, spots: Sequence[Spot], target: Spot) -> tuple[Change, ...] | None:
    """Statements, in their order, as lines before another one; None where the lines do not allow it."""
    indent = indentation(facts, *target)
    if indent is None or not all(is_alone_on_lines(facts, spot) for spot in (*spots, target)):
        return None
    if any(has_long_string(facts, spot) for spot in spots):
        return None
    lines: list[Moved | str] = []
    for loc, statement in spots:
        around = block_around(facts, loc)
        if around is None or len(around[0]) == 1:
            return None
        was = indentation(facts, loc, statement) or ""
        lines += [Moved(at(loc, statement), was, indent), f"\n{indent}"]
    place = at(target[0], target[1])
    gone = ((at(loc, statement), "") for loc, statement in spots)
    return (*gone, (between(place, place.start, place.start), tuple(lines)))


def indented(facts: Facts, spots: Sequence[Spot], header: str) -> tuple[Change, ...] | None:
    """Neighbours under a header of their own: `with torch.no_grad():`."""
    loc, first = spots[0]
    indent = indentation(facts, loc, first)
    if indent is None or any(indentation(facts, *spot) != indent for spot in spots):
        return None
    if not all(is_alone_on_lines(facts, spot) and not has_long_string(facts, spot) for spot in spots):
        return None
    unit = _unit(facts, loc, indent)
    changes: list[Change] = []
    for index, (there, statement) in enumerate(spots):
        text = unit if index else f"{header}\n{indent}{unit}"
        changes.append((between(there, statement.start, statement.start), text))
        changes.append((at(there, statement), Indented(indent, indent + unit)))
    return tuple(changes)


def under_no_grad(facts: Facts, spots: Sequence[Spot]) -> tuple[Change, ...] | None:
    """Neighbours under `with torch.no_grad():`."""
    if not spots:
        return None
    module = spots[0][0].module
    torch, mode = (facts.places.imported_as(module, name) for name in ("torch", "torch.no_grad"))
    call = f"{torch}.no_grad()" if torch is not None else f"{mode}()"
    return indented(facts, spots, f"with {call}:") if torch or mode else None


def _unit(facts: Facts, loc: Loc, indent: str) -> str:
    """By how much a block is indented here."""
    if "\t" in indent:
        return "\t"
    statements = [node for node in path_to(facts, loc) if isinstance(node, n.Stmt)]
    # Where a method itself is indented its chunk does not say, but how deep it lies its key does.
    depth = len(statements) - 1 + loc.chunk.count(".")
    return " " * (len(indent) // depth if depth and len(indent) % depth == 0 and indent else 4)


def brought_out(facts: Facts, scope: Spot, first: int) -> tuple[Change, ...] | None:
    """The last statements of a `with`, from the one at `first` on, behind it; all of them, instead of it."""
    loc, around = scope
    assert isinstance(around, n.With)
    outer, body = indentation(facts, loc, around), around.body
    inner = indentation(facts, loc, body[first])
    if outer is None or inner is None or not inner.startswith(outer) or len(inner) == len(outer):
        return None
    if any(has_long_string(facts, (at(loc, s), s)) for s in body[first:]):
        return None
    if not is_alone_on_lines(facts, (loc, around)):
        return None
    changes: list[Change] = []
    if first == 0:
        changes.append((between(loc, around.start, body[0].start), ""))
    text, begin = facts.places.chunk(loc).text, body[first].start
    # The line of the first statement itself is brought out too, unless the header has gone with its indentation.
    start = begin if first == 0 else len(text[:begin].rstrip())
    changes.append((between(loc, start, around.end), Indented(inner, outer)))
    return tuple(changes)
