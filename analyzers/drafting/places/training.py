"""Who is trained: which leaves a step changes, and what it means that gradient comes to others."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.drafting.base import Facts
from analyzers.drafting.edits.pieces import walk
from analyzers.drafting.places.blocks import module_block
from analyzers.machine.events import OptimizerMade, StepCall
from analyzers.report import Effect
from analyzers.syntax import nodes as n


def trained(facts: Facts) -> frozenset[int]:
    """The parameters of the optimizers that step; empty where none does."""
    stepping = {step.optimizer for step in facts.of(StepCall)}
    return frozenset(p for made in facts.of(OptimizerMade) if made.optimizer in stepping for p in made.parameters)


def held(facts: Facts) -> frozenset[int]:
    """The parameters of all optimizers."""
    return frozenset(p for made in facts.of(OptimizerMade) for p in made.parameters)


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
    """What a gradient does that should not come: it adds up in leaves that nobody trains, or is wrong in others."""
    reached = set(leaves)
    return "grad-accumulates" if trained and reached and not reached & trained else "wrong-gradient"
