"""Moves statements, as lines of a block, and indents or dedents them."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Change, Facts, Indented, Moved
from analyzers.drafting.places.blocks import Spot, block_around, has_long_string, is_alone_on_lines
from analyzers.drafting.places.tree import at, between, indentation, path_to
from analyzers.syntax import nodes as n


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
    """Moves the last statements of a `with`, from `first` on, after it; if that is all of them, they replace it."""
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
