"""Gradients are clipped before they exist or after they were used, so the step uses unclipped gradients.

Clipping belongs between backward and step: before backward there are no gradients, and after the step they have been
used. With a `GradScaler`, the gradients are multiplied by the scale until `unscale_` divides them.

## Reported
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.full((2, 3), 9.0)).pow(2).mean()
    opt.zero_grad()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)  # warning: [clip-out-of-order]
    loss.backward()
    opt.step()
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.full((2, 3), 9.0)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    opt.step()
```
## Reported: after the step
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.full((2, 3), 9.0)).pow(2).mean().backward()
    opt.step()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)  # warning: [clip-out-of-order]
```
```python fixed
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.full((2, 3), 9.0)).pow(2).mean().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    opt.step()
```
## Reported: gradients that are still scaled
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    opt.zero_grad()
    scaler.scale(net(torch.ones(2, 3)).pow(2).mean()).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # warning: [clip-out-of-order]
    scaler.step(opt)
    scaler.update()
```
```python right
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    opt.zero_grad()
    scaler.scale(net(torch.ones(2, 3)).pow(2).mean()).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
```
## Reported: an exhausted iterator
```python
import torch
net = torch.nn.Linear(3, 1)
params = net.parameters()
opt = torch.optim.SGD(params, lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.full((2, 3), 9.0)).pow(2).mean().backward()
    torch.nn.utils.clip_grad_norm_(params, 0.1)  # warning: [clip-out-of-order]
    opt.step()
```
## Not reported
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    scaler.scale(net(torch.ones(2, 3)).pow(2).mean()).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import swap
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.events import BackwardCall, ClipCall, Event, ScalerCall, StepCall


def check(facts: Facts) -> Iterator[Draft]:
    clips: dict[Loc, list[ClipCall]] = {}
    for clip in facts.of(ClipCall):
        clips.setdefault(clip.site.loc, []).append(clip)
    for loc, visits in clips.items():
        if any(clip.unknown for clip in visits):
            continue
        if all(clip.parameters == 0 for clip in visits):
            yield _empty(facts, loc, visits[0])
        elif not any(clip.fresh for clip in visits):
            yield from _in_vain(facts, loc, visits)
        else:
            yield from _scaled(facts, loc, visits[0])


def _empty(facts: Facts, loc: Loc, clip: ClipCall) -> Draft:
    message = f"{said(facts, loc)} is given no parameters: the iterator over them is already used up"
    return Draft(loc, message, effect="no-effect-assignment", related=told(callers(clip.site.via), besides=loc))


def _in_vain(facts: Facts, loc: Loc, visits: list[ClipCall]) -> Iterator[Draft]:
    late = next((clip for clip in visits if clip.used is not None), None)
    clip = late or visits[0]
    notes: list[Note] = []
    fixes: tuple[FixDraft, ...] = ()
    after = next((e for e in events_after(facts, clip) if isinstance(e, BackwardCall)), None)
    if late is not None and late.used is not None and late.used.iterations == late.site.iterations:
        message = f"{said(facts, loc)} comes too late: {said(facts, late.used.loc)} has already used these gradients"
        notes = [(late.used.loc, "this step has used them")]
        fixes = tuple(swap(facts, late.used.loc, loc, "Clip before the step"))
    elif after is not None:
        message = f"{said(facts, loc)} finds no gradient to clip: {said(facts, after.site.loc)} comes later"
        notes = [(after.site.loc, "the gradients are computed only here")]
        fixes = tuple(swap(facts, loc, after.site.loc, "Clip after backward"))
    else:
        return
    related = told(notes, callers(clip.site.via), besides=loc)
    yield Draft(loc, message, effect="no-effect-assignment", related=related, fixes=fixes)


def events_after(facts: Facts, event: Event) -> list[Event]:
    """What happens after `event` in its iteration."""
    rounds = event.site.iterations
    events = facts.run.events
    return [e for e in events[events.index(event) + 1 :] if e.site.iterations[: len(rounds)] == rounds]


def _scaled(facts: Facts, loc: Loc, clip: ClipCall) -> Iterator[Draft]:
    rounds = clip.site.iterations
    events = facts.run.events
    before = [e for e in events[: events.index(clip)] if e.site.iterations[: len(rounds)] == rounds]
    calls = [e for e in before if isinstance(e, ScalerCall)]
    if not any(e.what == "scale" for e in calls) or any(e.what == "unscale" for e in calls):
        return
    step = next((e for e in events_after(facts, clip) if isinstance(e, ScalerCall | StepCall)), None)
    if not isinstance(step, ScalerCall) or step.what == "scale":
        return
    message = f"{said(facts, loc)} clips gradients that are still scaled: `unscale_` belongs before it"
    scale = next(e for e in reversed(calls) if e.what == "scale")
    notes: list[Note] = [(scale.site.loc, "the loss is scaled here"), (step.site.loc, "they are unscaled only here")]
    yield Draft(loc, message, effect="wrong-gradient", related=told(notes, callers(clip.site.via), besides=loc))


RULE = Rule("AG304", "clip-out-of-order", "Gradients are clipped before they exist, or too late", check, __doc__ or "")
