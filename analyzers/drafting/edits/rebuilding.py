"""Moves the statements that build a graph to where it is needed, into the loop or after the step, and moves a write
that comes too early after the backward.

    scale = w.exp()             for x in data:
    for x in data:                  scale = w.exp()
        (scale * x).backward()      (scale * x).backward()

It moves the assignments of one block that built the backward's graph. They move past other statements only if those
neither read what is moved nor bind what it reads. A leaf never moves, because it would be created again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Change, Facts, FixDraft
from analyzers.drafting.edits.lines import moved_before
from analyzers.drafting.edits.pieces import drop_keyword
from analyzers.drafting.places.blocks import Spot, block_around, bound_in, contains, names_of, plainly_bound
from analyzers.drafting.places.tree import at, node_at, path_to
from analyzers.drafting.words import short
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall
from analyzers.syntax import nodes as n

_DRAWS = frozenset({"rand", "randn", "randint", "rand_like", "randn_like", "bernoulli", "multinomial", "normal"})


def compute_in_loop(facts: Facts, made: Loc, via: Sequence[Loc], again: Site) -> FixDraft | None:
    """Moves what was built once to each iteration's backward: into a loop, or a function called in one."""
    root = root_of(facts, again)
    for place in (made, *reversed(via)):
        around = block_around(facts, place)
        if root is None or around is None:
            continue
        block, here = around
        built = _built(root, block)
        later = range(here + 1, len(block))
        goal = next((i for i in later if _repeats(block[i][1]) and _mentions(facts, block, built, i)), None)
        if goal is None or here not in built:
            continue
        moved = sorted(i for i in built if i < goal)
        target = _target(facts, block[goal], _bound(block, moved), again)
        if target is None or _movable(facts, root, block, moved, goal) != moved:
            continue
        names = _bound(block, moved)
        spot = block[goal][1]
        if not isinstance(spot, n.For | n.While) and _used(facts, block, names, [*moved, goal]):
            continue
        changes = moved_before(facts, [block[i] for i in moved], target)
        if changes is not None:
            whole = "in the loop" if isinstance(spot, n.For | n.While) else f"in `{getattr(spot, 'name', '')}`"
            title = f"Compute {_listed(names)} {whole}"
            return FixDraft(title, not _draws(root, block, moved), (*changes, *_let_go(facts, again.loc, moved)))
    return None


def compute_after(
    facts: Facts, saved: Sequence[Loc], writes: Iterable[tuple[Loc, Sequence[Loc]]], again: Site
) -> FixDraft | None:
    """Moves what a step made outdated after the step, before its own backward; `saved` leads to what saved it."""
    root, around = root_of(facts, again), block_around(facts, again.loc)
    if root is None or around is None:
        return None
    block, here = around
    steps = {i for i in range(here) for loc, via in writes if any(contains(block[i], p) for p in (loc, *via))}
    if not steps:
        return None
    moved = _movable(facts, root, block, sorted(i for i in _built(root, block) if i < max(steps)), here)
    if not any(contains(block[i], place) for i in moved for place in saved):
        return None
    changes = moved_before(facts, [block[i] for i in moved], block[here])
    if changes is None:
        return None
    title = f"Compute {_listed(_bound(block, moved))} after the step"
    return FixDraft(title, True, changes)


def write_after(facts: Facts, writes: Sequence[tuple[Loc, Sequence[Loc]]], again: Site) -> FixDraft | None:
    """Moves an early write after the backward, if no statement in between shares a name with it."""
    root, around = root_of(facts, again), block_around(facts, again.loc)
    if root is None or around is None:
        return None
    block, here = around
    within = [{i for i in range(here) if any(contains(block[i], p) for p in (loc, *via))} for loc, via in writes]
    if len(set().union(*within)) != 1 or not all(within) or here + 1 >= len(block):
        return None
    (one,) = within[0]
    passed = block[one + 1 : here + 1]
    if not _is_backward_of_name(block[here][1]) or one in _built(root, block):
        return None
    if any(names_of(facts, block[one]) & names_of(facts, spot) for spot in passed):
        return None
    changes = moved_before(facts, [block[one]], block[here + 1])
    if changes is None:
        return None
    return FixDraft("Write after the backward", all(_clears(node) for _, node in passed[:-1]), changes)


def _is_backward_of_name(node: n.Node) -> bool:
    """Whether a statement computes nothing more before it goes backward."""
    match node:
        case n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name(), attr="backward"))):
            return True
    return False


def _clears(node: n.Node) -> bool:
    match node:
        case n.ExprStmt(value=n.Call(func=n.Attribute(attr="zero_grad"))):
            return True
    return False


def root_of(facts: Facts, site: Site) -> Lineage | None:
    """What a backward starts from, if its runs or the bindings of its name show that."""
    for call in facts.of(BackwardCall):
        if call.site.loc == site.loc and call.lineage is not None:
            return call.lineage
    match node_at(facts, site.loc):
        case n.Call(func=n.Attribute(value=n.Name(id=name))):
            inside = any(isinstance(node, n.FunctionDef) for node in path_to(facts, site.loc))
            bound = [b for b in facts.run.bindings if b.name == name and b.loc.module == site.loc.module]
            here = [b for b in bound if b.loc.chunk == site.loc.chunk and b.loc.end <= site.loc.start]
            here = here or [b for b in bound if b.scope == "<module>" and not inside]
            return here[-1].lineage if here else None
    return None


def _places(step: Lineage) -> tuple[Loc, ...]:
    return (*step.via, step.loc) if step.loc is not None else step.via


def _built(root: Lineage, block: Sequence[Spot]) -> set[int]:
    """The statements of a block in which steps of a graph were taken, but for definitions."""
    found: set[int] = set()
    run = [(i, spot) for i, spot in enumerate(block) if not isinstance(spot[1], n.FunctionHead | n.ClassDef)]
    for step in root.walk():
        if step.attached and step.parents:
            found |= {i for i, spot in run if any(contains(spot, place) for place in _places(step))}
    return found


def _makes_leaf(facts: Facts, root: Lineage, spot: Spot) -> bool:
    """Whether a statement makes a leaf that gets gradient."""
    texts = [facts.text(spot[0])]
    for step in root.walk():
        if step.loc is not None and not step.attached and any(contains(spot, place) for place in _places(step)):
            texts.append(facts.text(step.loc) + step.what)
    return any(word in text for text in texts for word in ("requires_grad", "Parameter"))


def _repeats(node: n.Node) -> bool:
    return isinstance(node, n.For | n.While | n.FunctionDef)


def _bound(block: Sequence[Spot], moved: Iterable[int]) -> set[str]:
    return set().union(*(plainly_bound(block[i][1]) for i in moved))


def _mentions(facts: Facts, block: Sequence[Spot], built: set[int], goal: int) -> bool:
    return bool(names_of(facts, block[goal]) & _bound(block, [i for i in built if i < goal]))


def _used(facts: Facts, block: Sequence[Spot], names: set[str], besides: Sequence[int]) -> bool:
    return any(names & names_of(facts, spot) for i, spot in enumerate(block) if i not in besides)


def _movable(facts: Facts, root: Lineage, block: Sequence[Spot], wanted: Sequence[int], goal: int) -> list[int]:
    """The statements that can go past all those that stay between them and `goal`."""
    moved = [i for i in wanted if plainly_bound(block[i][1]) and not _makes_leaf(facts, root, block[i])]
    names = [names_of(facts, spot) for spot in block[:goal]]
    while True:
        stuck = next((i for i in moved if not _passes(block, names, i, moved, goal)), None)
        if stuck is None:
            return moved
        moved.remove(stuck)


def _passes(block: Sequence[Spot], names: Sequence[set[str]], one: int, moved: Sequence[int], goal: int) -> bool:
    binds = plainly_bound(block[one][1])
    passed = [i for i in range(one + 1, goal) if i not in moved]
    return not any(names[i] & binds or bound_in(block[i][1]) & names[one] for i in passed)


def _target(facts: Facts, goal: Spot, names: set[str], again: Site) -> Spot | None:
    """The statement in a loop or a function before which the names have to be known."""
    loc, node = goal
    if names & bound_in(node):
        return None
    while True:
        body = getattr(node, "body", ())
        first = next((s for s in body if names & names_of(facts, (at(loc, s), s))), None)
        if first is None or isinstance(first, n.FunctionHead | n.ClassDef):
            return None
        spot = at(loc, first), first
        if not isinstance(first, n.For | n.While | n.With | n.If | n.Try) or not contains(spot, again.loc):
            return spot
        node = first


def _draws(root: Lineage, block: Sequence[Spot], moved: Sequence[int]) -> bool:
    """Whether the moved statements draw random numbers, which would then differ in each iteration."""
    return any(
        step.what.removeprefix("torch.") in _DRAWS and any(contains(block[i], place) for i in moved)
        for step in root.walk()
        for place in _places(step)
    )


def _let_go(facts: Facts, backward: Loc, moved: Sequence[int]) -> tuple[Change, ...]:
    """Without `retain_graph=True`, where the whole graph is new in each round."""
    match node_at(facts, backward):
        case n.Call(keywords=keywords) as call if moved:
            for keyword in keywords:
                if keyword.arg == "retain_graph":
                    return (drop_keyword(backward, call, keyword),)
    return ()


def _listed(names: set[str]) -> str:
    return short(", ".join(f"`{name}`" for name in sorted(names)))
