"""Conditions that come out the same in every round of a loop."""

from __future__ import annotations

from analyzers.domain.lineage import Loc
from analyzers.domain.state import Taken
from analyzers.drafting.base import Facts
from analyzers.drafting.places.blocks import bound_in, names_in
from analyzers.drafting.places.tree import at, path_to, walk
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import dotted

_TESTS = frozenset({"callable", "hasattr", "isinstance", "issubclass", "len"})


def hangs_on_settings(facts: Facts, made: Loc, via: tuple[Loc, ...], seen: Loc, taken: Taken) -> bool:
    """Whether a value that is seen in a loop is made there only if settings ask for it, so in each round or in none.

    `taken` tells how they came out when it was seen: if they do ask, it was made in that round."""
    for place in (made, *reversed(via)):
        path = path_to(facts, place)
        around = [
            index for index, node in enumerate(path)
            if isinstance(node, n.For | n.While)
            and (place.module, place.chunk) == (seen.module, seen.chunk)
            and node.start <= seen.start and seen.end <= node.end
        ]  # fmt: skip
        if around:
            loop = path[around[-1]]
            tests = [node.test for node in path[around[-1] + 1 :] if isinstance(node, n.If)]
            asked = all(taken.get(at(place, test)) is True for test in tests)
            return not asked and all(_is_setting(test, loop) for test in tests)
    return False


def _is_setting(test: n.Expr, loop: n.Node) -> bool:
    """Whether nothing in the loop changes what a condition asks for."""
    changed = bound_in(loop) | {dotted(node) for node in _targets(loop)}
    nodes = list(walk(test))
    calls = (node for node in nodes if isinstance(node, n.Call))
    if not all(isinstance(call.func, n.Name) and call.func.id in _TESTS for call in calls):
        return False
    attributes = {dotted(node) for node in nodes if isinstance(node, n.Attribute)}
    return names_in(test).isdisjoint(changed) and attributes.isdisjoint(changed)


def _targets(loop: n.Node) -> list[n.Expr]:
    """The attributes that a loop sets."""
    found: list[n.Expr] = []
    for node in walk(loop):
        match node:
            case n.Assign(targets=targets):
                found += [part for target in targets for part in walk(target) if isinstance(part, n.Attribute)]
            case n.AugAssign(target=n.Attribute() as target):
                found.append(target)
    return found
