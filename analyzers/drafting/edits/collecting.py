"""Finds lists that are never emptied, so that what one iteration adds is still there in the next.

losses = []                                 losses = []
for x in data:                              for x in data:
    losses.append((w.exp() * x).sum())          losses.append((w.exp() * x).sum())
    torch.stack(losses).sum().backward()        torch.stack(losses).sum().backward()
                                                losses.clear()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts, FixDraft
from analyzers.drafting.places.blocks import module_block
from analyzers.drafting.places.tree import at, between, indentation, path_to, statement_at, walk
from analyzers.syntax import nodes as n

TRAIL = 100
"""Steps of a value's trail that are searched for what was computed."""

EMPTYING = {"clear", "pop", "popleft"}


def collected(facts: Facts, made: Loc, via: Sequence[Loc], backward: Loc) -> Loc | None:
    """The list that takes what was computed at `made`, in calls at `via`, into the next iteration's backward: the place
    in its `append`."""
    for place, name in (*((loc, None) for loc in (made, *via)), *_bound_to(facts, made)):
        for node in path_to(facts, place) if name is None else _around(facts, place):
            match node:
                case n.Call(func=n.Attribute(value=n.Name() | n.Attribute() as kept, attr="append"), args=(given,)):
                    if name is None or (isinstance(given, n.Name) and given.id == name):
                        if _is_read(facts, backward, kept) and _is_never_emptied(facts, place.module, kept):
                            return at(place, kept)
    return None


def _bound_to(facts: Facts, made: Loc) -> Iterator[tuple[Loc, str]]:
    for binding in facts.run.bindings:
        if binding.lineage is not None and binding.name.isidentifier():
            if any(step.loc == made for step in binding.lineage.walk(TRAIL)):
                yield binding.loc, binding.name


def _around(facts: Facts, place: Loc) -> Iterator[n.Node]:
    """All of the function, or of the module's statement, that a place is in."""
    for statement in facts.places.chunk(place).body:
        yield from walk(statement)


def _is_read(facts: Facts, backward: Loc, kept: n.Node) -> bool:
    """Whether what runs backward takes anything from the list: one may be there for the record alone."""
    nodes = list(_around(facts, backward))
    filled = [node.value for node in nodes if isinstance(node, n.Attribute) and node.attr == "append"]
    return any(_is_same(node, kept) and not any(node is owner for owner in filled) for node in nodes)


def _is_never_emptied(facts: Facts, module: str, kept: n.Node) -> bool:
    """Whether the list is made empty, once, and nothing is ever taken out of it."""
    made = 0
    for node in _everywhere(facts, [statement for _, statement in module_block(facts, module)], module):
        match node:
            case n.Assign(targets=targets, value=value) if any(_is_same(target, kept) for target in targets):
                made += 1
                if not (isinstance(value, n.ListExpr) and not value.elts):
                    return False
            case n.Call(func=n.Attribute(value=owner, attr=attr)) if attr in EMPTYING and _is_same(owner, kept):
                return False
            case n.Delete(targets=targets) if any(
                isinstance(target, n.Subscript) and _is_same(target.value, kept) for target in targets
            ):
                return False
    return made == 1


def _everywhere(facts: Facts, statements: Sequence[n.Node], module: str) -> Iterator[n.Node]:
    for statement in statements:
        for node in walk(statement):
            yield node
            if isinstance(node, n.ChunkRef):
                yield from _everywhere(facts, facts.places.chunk(Loc(module, node.key, 0, 0)).body, module)


def _is_same(one: n.Node, other: n.Node) -> bool:
    """Whether two expressions mean one list: the same variable, or an attribute of that name, whosever it is."""
    match one, other:
        case n.Name(id=a), n.Name(id=b):
            return a == b
        case n.Attribute(attr=a), n.Attribute(attr=b):
            return a == b
    return False


def empty_after(facts: Facts, kept: Loc, backward: Loc) -> Iterator[FixDraft]:
    """`losses.clear()` after the backward, where that is known by the same name there."""
    name = facts.text(kept)
    root = name.partition(".")[0]
    statement = statement_at(facts, backward)
    indent = indentation(facts, backward, statement) if statement is not None else None
    if statement is None or not indent or not isinstance(statement, n.ExprStmt):
        return
    if (kept.module, kept.chunk) != (backward.module, backward.chunk):
        methods = root == "self" and kept.chunk.rpartition(".")[0] == backward.chunk.rpartition(".")[0]
        if kept.module != backward.module or not (methods or _is_global(facts, root, kept, backward)):
            return
    change = between(backward, statement.end, statement.end), f"\n{indent}{name}.clear()"
    yield FixDraft(f"Empty `{name}` after `backward`", False, (change,))


def _is_global(facts: Facts, name: str, *places: Loc) -> bool:
    functions = (node for place in places for node in _around(facts, place) if isinstance(node, n.FunctionDef))
    return not any(name in function.locals for function in functions)
