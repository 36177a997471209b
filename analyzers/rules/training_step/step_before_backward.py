"""`step()` runs before the backward of its iteration and finds no gradient.

The gradients of the previous iteration are already cleared by then, so the parameters never change.

## Reported
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.ones(2, 3)).pow(2).mean()
    opt.zero_grad()
    opt.step()  # warning: [step-before-backward]
    loss.backward()
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
    opt.zero_grad()
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.pieces import swap
from analyzers.drafting.places.training import idle_steps
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import BackwardCall, StepCall


def check(facts: Facts) -> Iterator[Draft]:
    for step, round_ in idle_steps(facts):
        split = round_.index(step)
        if any(isinstance(e, BackwardCall) for e in round_[:split]) or not step.site.iterations:
            continue
        later = next((e for e in round_[split:] if isinstance(e, BackwardCall)), None)
        if later is None:
            continue
        loc = step.site.loc
        after = said(facts, later.site.loc)
        message = f"{said(facts, loc)} runs before {after} in the same iteration, and finds no gradient"
        notes = told([(later.site.loc, "the gradients are computed only here")], callers(step.site.via), besides=loc)
        fixes = tuple(swap(facts, loc, later.site.loc, "Step after backward"))
        yield Draft(loc, message, effect="param-not-updated", related=notes, fixes=fixes)
    yield from _late(facts)


def _late(facts: Facts) -> Iterator[Draft]:
    """Steps that find nothing at first, and from then on always the gradients of the previous iteration."""
    calls: dict[Loc, list[StepCall]] = {}
    for step in facts.of(StepCall):
        calls.setdefault(step.site.loc, []).append(step)
    for loc, steps in calls.items():
        first, *others = steps
        if first.with_grad or first.unknown or not first.site.iterations or not any(s.mixtures for s in others):
            continue
        filled = [(step, site) for step in others for _, sites in step.mixtures for site in sites]
        if any(site.iterations == step.site.iterations for step, site in filled) or not filled:
            continue
        backward = filled[0][1].loc
        rounds = {b.site.iterations for b in facts.of(BackwardCall) if b.site.loc == backward}
        if not rounds.issuperset(step.site.iterations for step in steps):
            continue
        message = f"{said(facts, loc)} uses the gradients of the previous iteration: its own are computed only after it"
        notes = told([(backward, "the gradients are computed only here")], callers(first.site.via), besides=loc)
        yield Draft(loc, message, effect="param-not-updated", related=notes)


RULE = Rule("AG303", "step-before-backward", "A step runs before the backward of its iteration", check, __doc__ or "")
