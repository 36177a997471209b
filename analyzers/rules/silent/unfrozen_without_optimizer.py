"""Parameters that were frozen are made to learn again, and no optimizer holds them.

An optimizer trains what it was given when it was created. Those who unfreeze a network later, layer by layer or after
some epochs, have to hand over what they unfroze: with `add_param_group`, or to a new optimizer. If the first one was
given only what required grad at that time, the rest gets gradients in vain.

## Reported
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
net = torch.nn.Sequential(body, head)
body.requires_grad_(False)
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for epoch in range(4):
    if epoch == 1:
        for p in body.parameters():
            p.requires_grad = True  # warning: [unfrozen-without-optimizer]
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
```
The same by a method of the module.
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for epoch in range(4):
    if epoch == 1:
        body.requires_grad_(True)  # warning: [unfrozen-without-optimizer]
    optimizer.zero_grad()
    head(body(torch.ones(1, 2))).sum().backward()
    optimizer.step()
```
## Fixed
```python right
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
net = torch.nn.Sequential(body, head)
body.requires_grad_(False)
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for epoch in range(4):
    if epoch == 1:
        for p in body.parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": body.parameters()})
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
```
## Not reported
An optimizer holds all parameters from the beginning, and skips those without a gradient.
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
body.requires_grad_(False)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for epoch in range(4):
    if epoch == 1:
        body.requires_grad_(True)
    optimizer.zero_grad()
    head(body(torch.ones(1, 2))).sum().backward()
    optimizer.step()
```
Two networks take turns, each with an optimizer of its own.
```python
import torch
maker, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
of_maker = torch.optim.SGD(maker.parameters(), lr=0.1)
of_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
for step in range(3):
    judge.requires_grad_(True)
    judge(maker(torch.ones(1, 2)).detach()).sum().backward()
    of_judge.step()
    judge.requires_grad_(False)
    judge(maker(torch.ones(1, 2))).sum().backward()
    of_maker.step()
    of_maker.zero_grad()
    of_judge.zero_grad()
```
A second optimizer is made for what is unfrozen.
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for stage in range(2):
    if stage == 1:
        body.requires_grad_(True)
        optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
    for step in range(2):
        optimizer.zero_grad()
        head(body(torch.ones(1, 2))).sum().backward()
        optimizer.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.events import BackwardCall, FlagSet, GradTaken, HandStep, OptimizerMade, StepCall


def check(facts: Facts) -> Iterator[Draft]:
    made, steps = facts.of(OptimizerMade), facts.of(StepCall)
    is_known = all(one.known for one in made) and all(one.known for one in steps)
    if facts.run.out_of_fuel or not is_known or facts.of(HandStep):
        return
    held = {ident for one in made for ident in one.parameters} | {ident for one in steps for ident in one.parameters}
    held |= {taken.leaf for taken in facts.of(GradTaken)}
    seen: set[Loc] = set()
    for event in facts.of(FlagSet):
        frozen = event.lineage is not None and event.lineage.cut == "frozen"
        if not frozen or event.tensor in held or event.site.loc in seen or _is_given_more(facts, event):
            continue
        step = _step_without(facts, event)
        if step is None:
            continue
        seen.add(event.site.loc)
        place = event.site.loc
        step_there = said(facts, step.site.loc)
        message = f"{said(facts, place)} makes parameters learn again that no optimizer holds: {step_there} leaves them"
        optimizer = next((one.site.loc for one in made if one.optimizer == step.optimizer), None)
        notes: list[Note] = [] if optimizer is None else [(optimizer, "the optimizer is made without it")]
        notes.append((step.site.loc, "this step leaves it out"))
        related = told(notes, callers(event.site.via), besides=place)
        yield Draft(place, message, effect="param-not-updated", related=related)


def _is_given_more(facts: Facts, event: FlagSet) -> bool:
    """Whether an optimizer holds more after some parameters of a model were unfrozen: these, nobody knows which."""
    if not event.of_some:
        return False
    events = facts.run.events
    at = events.index(event)
    before = {ident for one in events[:at] if isinstance(one, OptimizerMade | StepCall) for ident in one.parameters}
    after = {ident for one in events[at:] if isinstance(one, OptimizerMade | StepCall) for ident in one.parameters}
    return not after <= before


def _step_without(facts: Facts, event: FlagSet) -> StepCall | None:
    """The step after a backward that reaches what was unfrozen, of an optimizer that was there before."""
    events = facts.run.events
    at = events.index(event)
    there = {one.optimizer for one in events[:at] if isinstance(one, OptimizerMade)}
    later = iter(events[at:])
    if not any(isinstance(one, BackwardCall) and event.tensor in one.reached for one in later):
        return None
    step = next((one for one in later if isinstance(one, StepCall) and one.with_grad), None)
    return step if step is not None and step.optimizer in there else None


RULE = Rule("AG216", "unfrozen-without-optimizer", "What is unfrozen is held by no optimizer", check, __doc__ or "")
