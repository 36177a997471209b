"""Who is trained: which leaves a step changes, and what it means that gradient comes to others."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.machine.events import OptimizerMade, StepCall
from analyzers.report import Effect
from analyzers.rules.base import Facts


def trained(facts: Facts) -> frozenset[int]:
    """The parameters of the optimizers that step; empty where none does."""
    stepping = {step.optimizer for step in facts.of(StepCall)}
    return frozenset(p for made in facts.of(OptimizerMade) if made.optimizer in stepping for p in made.parameters)


def held(facts: Facts) -> frozenset[int]:
    """The parameters of all optimizers."""
    return frozenset(p for made in facts.of(OptimizerMade) for p in made.parameters)


def effect_on(leaves: Iterable[int], trained: frozenset[int]) -> Effect:
    """What a gradient does that should not come: it adds up in leaves that nobody trains, or is wrong in others."""
    reached = set(leaves)
    return "grad-accumulates" if trained and reached and not reached & trained else "wrong-gradient"
