"""Detaches what a loop carries from one iteration into the next, at the top of the loop.

for x in data:                  for x in data:
    h = cell(x, h)                  h = h.detach()
    h.sum().backward()              h = cell(x, h)
                                    h.sum().backward()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts, FixDraft
from analyzers.drafting.edits.pieces import insert_before
from analyzers.drafting.places.blocks import bound_in, contains, is_alone_on_lines, names_in
from analyzers.drafting.places.tree import at, between, indentation, node_at, path_to
from analyzers.machine.core.causes import Site
from analyzers.syntax import nodes as n


def detach_carried(facts: Facts, made: Loc, via: Sequence[Loc], again: Site) -> Iterator[FixDraft]:
    """For names whose value from an earlier iteration a later backward reaches; `made` is in that value's trail."""
    for place in (again.loc, *reversed(again.via)):
        loop = next((node for node in reversed(path_to(facts, place)) if isinstance(node, n.For | n.While)), None)
        if loop is None:
            continue
        names = [name for name in _carried(facts, place, loop) if _is_made_of(facts, place, loop, name, made)]
        lines = [f"{name} = {name}.detach()" for name in names]
        change = insert_before(facts, place, loop.body[0], "\n".join(lines)) if names else None
        if change is not None:
            title = f"Detach {', '.join(f'`{name}`' for name in names)} at the top of the loop"
            yield FixDraft(title, _root_name(facts, again.loc) not in names, (change,))
        elif not names:
            yield from _detach_parts(facts, place, loop, (made, *via))
        return


def _root_name(facts: Facts, backward: Loc) -> str | None:
    """The name that a backward starts from: a loss that is carried over itself may be meant to grow."""
    match node_at(facts, backward):
        case n.Call(func=n.Attribute(value=n.Name(id=name))):
            return name
    return None


def _detach_parts(facts: Facts, place: Loc, loop: n.For | n.While, made: Sequence[Loc]) -> Iterator[FixDraft]:
    """`state = tuple(part.detach() for part in state)` at the end of the loop: the first iteration has none."""
    last = loop.body[-1]
    for statement in loop.body:
        match statement:
            case n.Assign(targets=(target,), value=value):
                pass
            case _:
                continue
        names = [name for name in sorted(bound_in(statement)) if name in names_in(value)]
        here = at(place, statement)
        if len(names) != 1 or not any(contains((here, statement), loc) for loc in made):
            continue
        (name,) = names
        alone = isinstance(target, n.Name) and target.id == name
        tensor = any(b.name == name and b.loc.chunk == place.chunk for b in facts.run.bindings)
        indent = indentation(facts, place, last)
        if alone or indent is None or not is_alone_on_lines(facts, (at(place, last), last)):
            return
        each = "part" if name != "part" else "one"
        text = f"{name}.detach()" if tensor else f"tuple({each}.detach() for {each} in {name})"
        change = between(place, last.end, last.end), f"\n{indent}{name} = {text}"
        yield FixDraft(f"Detach `{name}` at the end of the loop", False, (change,))
        return


def _carried(facts: Facts, place: Loc, loop: n.For | n.While) -> list[str]:
    """The names of tensors that are bound before a loop and in it, and read in it before that."""
    there = [b for b in facts.run.bindings if b.loc.module == place.module and b.name.isidentifier()]
    inside = [b for b in there if b.loc.chunk == place.chunk and loop.start <= b.loc.start < loop.end]
    names: list[str] = []
    for name in dict.fromkeys(b.name for b in inside):
        scopes = {b.scope for b in inside if b.name == name}
        before = [b for b in there if b.name == name and b.scope in scopes and b not in inside]
        if any(b.loc.chunk != place.chunk or b.loc.end <= loop.start for b in before) and _read_first(loop, name):
            names.append(name)
    return names


def _read_first(loop: n.For | n.While, name: str) -> bool:
    """Whether the first statement of a loop that has a name reads it."""
    first = next((s for s in loop.body if name in names_in(s)), None)
    match first:
        case None:
            return False
        case n.Assign(value=value) | n.AnnAssign(value=n.Node() as value):
            return name in names_in(value)
    return name not in bound_in(first) or isinstance(first, n.AugAssign)


def _is_made_of(facts: Facts, place: Loc, loop: n.For | n.While, name: str, made: Loc) -> bool:
    """Whether what a loop binds to a name was computed by the step at `made`."""
    for binding in facts.run.bindings:
        loc = binding.loc
        inside = (loc.module, loc.chunk) == (place.module, place.chunk) and loop.start <= loc.start < loop.end
        if binding.name == name and inside and binding.lineage is not None:
            if any(step.loc == made for step in binding.lineage.walk(400)):
                return True
    return False
