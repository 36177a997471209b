"""Where a graph was cut or begins, according to the trail of a value, and what disabled gradients there."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Facts
from analyzers.drafting.places.tree import at, node_at, path_to
from analyzers.machine.core.causes import Raised, Site
from analyzers.machine.core.events import GradModeSet
from analyzers.syntax import nodes as n

LEAVES_TORCH = frozenset({"torch.tensor", "torch.as_tensor", "tensor", "item", "tolist", "numpy", "from_numpy"})
FACTORIES = {
    "randn", "rand", "zeros", "ones", "empty", "full", "tensor", "arange", "linspace", "eye", "randint", "normal",
    "Parameter",
}  # fmt: skip


def cuts(lineage: Lineage | None, limit: int = 4000) -> list[Lineage]:
    """Where the graph was cut, nearest first; nothing beyond a cut is examined. Where it surely was nowhere, where it
    was if there was one."""
    if lineage is None:
        return []
    found: dict[tuple[Loc | None, str | None], Lineage] = {}
    perhaps: dict[Loc, Lineage] = {}
    maybe: dict[Loc, Lineage] = {}
    seen: set[int] = set()
    queue = [lineage]
    for step in queue:
        if id(step) in seen or len(seen) > limit:
            continue
        seen.add(id(step))
        if step.cut is not None and step.loc is not None:
            found.setdefault((step.loc, step.cut), step)
            continue
        if step.perhaps_cut is not None and step.loc is not None:
            perhaps.setdefault(step.loc, step)
        if step.what in LEAVES_TORCH and step.loc is not None and _of_tensors(step):
            maybe.setdefault(step.loc, step)
        queue.extend(step.parents)
    return list(found.values()) or list(perhaps.values()) or list(maybe.values())


def _of_tensors(step: Lineage) -> bool:
    numbers = LEAVES_TORCH | FACTORIES | {"?"}
    return any(parent.what not in numbers and parent.loc is not None for parent in step.parents)


def leaves(lineage: Lineage | None) -> list[Lineage]:
    """The original tensors that a value was made from, nearest first."""
    found: dict[Loc, Lineage] = {}
    for step in lineage.walk() if lineage is not None else ():
        if not step.parents and step.loc is not None and step.what.removeprefix("torch.") in FACTORIES:
            found.setdefault(step.loc, step)
    return list(found.values())


def attached(lineage: Lineage, source: Lineage, limit: int = 4000) -> bool:
    """Whether a value was computed from `source` along a path with an unbroken graph."""
    seen: set[int] = set()
    queue = [lineage]
    for step in queue:
        if step is source:
            return True
        if id(step) in seen or len(seen) > limit or step.cut is not None:
            continue
        seen.add(id(step))
        queue.extend(step.parents)
    return False


def differentiation(facts: Facts, loc: Loc) -> n.Call | None:
    """The call at a place, if it calls `torch.autograd.grad` or a tensor's `backward`."""
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(attr="grad" | "backward") | n.Name(id="grad")) as call:
            return call
    return None


def switched_off(facts: Facts, step: Lineage) -> tuple[Loc, bool] | None:
    """The `with`, or (then True) the decorator, under which a step ran without gradient."""
    for loc in (step.loc, *reversed(step.via)):
        if loc is None:
            continue
        for node in reversed(path_to(facts, loc)):
            candidates: Iterable[n.Node] = ()
            if isinstance(node, n.With):
                candidates = (item.context for item in node.items)
            elif isinstance(node, n.FunctionDef):
                candidates = node.decorators
            for candidate in candidates:
                text = facts.text(at(loc, candidate))
                if any(word in text for word in ("no_grad", "inference_mode", "set_grad_enabled")):
                    return at(loc, candidate), isinstance(node, n.FunctionDef)
    return None


def left_off(facts: Facts, event: Raised) -> GradModeSet | None:
    """The last call before `event` that switched gradients off for all that follows."""
    before = facts.run.events[: facts.run.events.index(event)]
    return next((e for e in reversed(before) if isinstance(e, GradModeSet) and e.on is False), None)


def is_on_the_way(facts: Facts, site: Site, test: Loc, holds: bool) -> bool:
    """Whether a place, or a call that leads to it, lies in what an `if` runs when its test comes out so."""
    for place in (site.loc, *site.via):
        if (place.module, place.chunk) != (test.module, test.chunk):
            continue
        for node in path_to(facts, place):
            if isinstance(node, n.If) and (node.test.start, node.test.end) == (test.start, test.end):
                body = node.body if holds else node.orelse
                return any(part.start <= place.start < part.end for part in body)
    return False
