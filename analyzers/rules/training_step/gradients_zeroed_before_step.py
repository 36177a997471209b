"""`zero_grad()` is called between backward and step, so the step finds no gradient.

`zero_grad()` sets `.grad` to None, and a step skips parameters without a gradient. Call it before backward or after the
step.

## Reported
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.ones(2, 3)).pow(2).mean()
    loss.backward()
    opt.zero_grad()  # warning: [gradients-zeroed-before-step]
    opt.step()
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.ones(2, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
```
## Not reported
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step()
    opt.zero_grad()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.pieces import swap
from analyzers.drafting.places.training import idle_steps
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall, Cleared, ClearedUse, HandStep, StepCall, ZeroCall


def check(facts: Facts) -> Iterator[Draft]:
    fresh = {e.site.loc for e in facts.of(HandStep) if e.fresh}
    fresh |= {e.site.loc for e in facts.of(StepCall) if e.with_grad or e.unknown}
    seen: set[tuple[Loc, Loc]] = set()
    for used in facts.of(ClearedUse):
        pair = (used.cleared.loc, used.site.loc)
        if pair not in seen and used.site.loc not in fresh:
            seen.add(pair)
            yield _draft(facts, used.backward, used.cleared, used.site)
    for backward, zero_site, step_site in _lost_rounds(facts):
        if (zero_site.loc, step_site.loc) not in seen:
            seen.add((zero_site.loc, step_site.loc))
            yield _draft(facts, backward, zero_site, step_site)
    for step, round_ in idle_steps(facts):
        before = round_[: round_.index(step)]
        zero = next((e for e in reversed(before) if isinstance(e, Cleared | BackwardCall)), None)
        depth = len(step.site.iterations)
        if not isinstance(zero, Cleared) or zero.backward.iterations[:depth] != step.site.iterations:
            continue
        if (zero.site.loc, step.site.loc) not in seen:
            seen.add((zero.site.loc, step.site.loc))
            yield _draft(facts, zero.backward, zero.site, step.site)


def _lost_rounds(facts: Facts) -> Iterator[tuple[Site, Site, Site]]:
    """Gradients that are cleared in iterations without a step, though later iterations step on similar ones."""
    steps: dict[int, list[StepCall]] = {}
    for step in facts.of(StepCall):
        steps.setdefault(step.optimizer, []).append(step)
    zeros = {(zero.site.loc, zero.site.iterations): zero.optimizer for zero in facts.of(ZeroCall)}
    for cleared in facts.of(Cleared):
        filled = cleared.backward
        round_ = cleared.site.iterations[: len(filled.iterations)]
        of_optimizer = steps.get(zeros.get((cleared.site.loc, round_), 0), [])
        if not filled.iterations or any(step.site.iterations == filled.iterations for step in of_optimizer):
            continue
        if filled.iterations == round_ or filled.iterations[:-1] != round_[:-1]:
            continue
        for step in of_optimizer:
            alike = any(site.loc == filled.loc for _, sites in step.mixtures for site in sites)
            if alike and step.site.iterations[:-1] == filled.iterations[:-1]:
                yield filled, cleared.site, step.site
                break


def _draft(facts: Facts, backward: Site, zero: Site, step: Site) -> Draft:
    loc = zero.loc
    message = f"{said(facts, loc)} clears the gradients before {said(facts, step.loc)} uses them"
    notes = told(
        [(backward.loc, "the gradients come from here"), (step.loc, "the step finds none")],
        callers(zero.via), besides=loc,
    )  # fmt: skip
    fixes = tuple(swap(facts, backward.loc, loc, "Clear the gradients before backward"))
    return Draft(loc, message, effect="param-not-updated", related=notes, fixes=fixes)


RULE = Rule(
    "AG302", "gradients-zeroed-before-step", "Gradients are cleared before a step uses them", check, __doc__ or ""
)
