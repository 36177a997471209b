"""Parameters of an optimizer that no backward reaches, and what cut them off."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage
from analyzers.drafting.base import Facts
from analyzers.machine.core.events import BackwardCall, LeftOut


def root_cuts(facts: Facts) -> Iterator[tuple[Lineage, set[int]]]:
    """Where the roots of backward passes were cut, with the trails of everything beyond each cut."""
    seen: set[int] = set()
    for backward in facts.of(BackwardCall):
        for step in backward.lineage.walk() if backward.lineage is not None else ():
            if step.cut is not None and step.loc is not None and id(step) not in seen:
                seen.add(id(step))
                yield step, {id(before) for before in step.walk()}


def never_reached(facts: Facts, parameter: int) -> bool:
    """Whether no backward reaches a parameter; of a run that did not come to its end, a later one may."""
    return not facts.run.out_of_fuel and all(
        not backward.unknown and parameter not in backward.reached for backward in facts.of(BackwardCall)
    )


def parameters_left_out(facts: Facts) -> Iterator[tuple[LeftOut, Lineage | None]]:
    """What steps leave as it is, as no backward ever reaches it; and the cut between the two, if there is one."""
    cuts = list(root_cuts(facts))
    for event in facts.of(LeftOut):
        if event.how == "unreached" and never_reached(facts, event.parameter):
            yield event, next((step for step, behind in cuts if id(event.lineage) in behind), None)
