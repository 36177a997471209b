"""What is trained: which leaves a step changes, what a gradient in other leaves means, and which steps find none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts
from analyzers.drafting.places.blocks import module_block
from analyzers.drafting.places.tree import walk
from analyzers.machine.core.events import Event, OptimizerMade, StepCall
from analyzers.report import Effect
from analyzers.syntax import nodes as n


def trained(facts: Facts) -> frozenset[int]:
    """The parameters of the optimizers that step; empty where none does."""
    stepping = {step.optimizer for step in facts.of(StepCall)}
    return frozenset(p for made in facts.of(OptimizerMade) if made.optimizer in stepping for p in made.parameters)


def held(facts: Facts) -> frozenset[int]:
    """The parameters of all optimizers, as they were made and as they step: where ways meet, objects are others."""
    made = [event.parameters for event in facts.of(OptimizerMade)]
    moved = [event.parameters for event in facts.of(StepCall)]
    return frozenset(parameter for each in (*made, *moved) for parameter in each)


def trained_names(facts: Facts, module: str) -> set[str]:
    """The names in a file whose gradients it reads, alone or in a loop over a list of them."""
    tree = [node for _, statement in module_block(facts, module) for node in walk(statement)]
    names: set[str] = set()
    lists: set[str] = set()
    for node in tree:
        match node:
            case n.Attribute(attr="grad", value=n.Name(id=name)):
                names.add(name)
    for node in tree:
        match node:
            case (
                n.For(target=n.Name(id=name), iter=n.Name(id=several))
                | n.Comprehension(target=n.Name(id=name), iter=n.Name(id=several))
            ) if name in names:
                lists.add(several)
    for node in tree:
        match node:
            case n.Assign(targets=(n.Name(id=name),), value=n.ListExpr(elts=parts) | n.TupleExpr(elts=parts)):
                if name in lists:
                    names |= {part.id for part in parts if isinstance(part, n.Name)}
    return names


def effect_on(leaves: Iterable[int], trained: frozenset[int]) -> Effect:
    """The harm of an unwanted gradient: it accumulates in leaves that are never trained, or is wrong in others."""
    reached = set(leaves)
    return "grad-accumulates" if trained and reached and not reached & trained else "wrong-gradient"


def idle_steps(facts: Facts) -> Iterator[tuple[StepCall, list[Event]]]:
    """The first visit of each step that never finds a gradient, with the events of its iteration."""
    calls: dict[Loc, list[StepCall]] = {}
    for step in facts.of(StepCall):
        calls.setdefault(step.site.loc, []).append(step)
    for steps in calls.values():
        if all(s.known and s.with_grad == 0 and s.unknown == 0 and s.without_grad + s.cleared > 0 for s in steps):
            first = steps[0]
            depth = len(first.site.iterations)
            yield first, [e for e in facts.run.events if e.site.iterations[:depth] == first.site.iterations]
