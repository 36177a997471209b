"""An optimizer never steps, though backward fills the gradients of its parameters.

Each network's own optimizer has to step: if only another one steps, or none, the parameters stay unchanged.

## Reported
```python
import torch
one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_one = torch.optim.SGD(one.parameters(), lr=0.1)
opt_two = torch.optim.SGD(two.parameters(), lr=0.1)
for step in range(3):
    opt_one.zero_grad()
    opt_two.zero_grad()
    two(one(torch.ones(1, 2))).pow(2).sum().backward()  # warning: [optimizer-not-stepped]
    opt_two.step()
```
```python right
import torch
one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt_one = torch.optim.SGD(one.parameters(), lr=0.1)
opt_two = torch.optim.SGD(two.parameters(), lr=0.1)
for step in range(3):
    opt_one.zero_grad()
    opt_two.zero_grad()
    two(one(torch.ones(1, 2))).pow(2).sum().backward()
    opt_one.step()
    opt_two.step()
```
## Reported: a learning rate of zero
```python
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
warmup = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 4))
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).pow(2).sum().backward()
    opt.step()  # warning: [optimizer-not-stepped]
```
```python right
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
warmup = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 4))
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).pow(2).sum().backward()
    opt.step()
    warmup.step()
```
## LBFGS without a closure
It has to compute the loss more than once, and needs a function for that.
```python
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.LBFGS(net.parameters())
net(torch.ones(1, 2)).pow(2).sum().backward()
opt.step()  # error: [optimizer-not-stepped]  # raises: TypeError "missing 1 required positional argument: 'closure'"
```
```python right
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.LBFGS(net.parameters())
def closure():
    opt.zero_grad()
    loss = net(torch.ones(1, 2)).pow(2).sum()
    loss.backward()
    return loss
opt.step(closure)
```
## Not reported
Gradients that are only inspected.
```python
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).pow(2).sum().backward()
    print([p.grad.norm() for p in net.parameters()])
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.places.tree import node_at
from analyzers.drafting.words import Note, callers, named, said, told
from analyzers.machine.core.events import (
    BackwardCall,
    GradTaken,
    HandStep,
    NotCalled,
    OptimizerEscaped,
    OptimizerMade,
    StepCall,
    StepWithoutLoss,
    ZeroCall,
)
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for raised, _ in facts.saying("LBFGS.step() missing"):
        loc = raised.site.loc
        message = f"{said(facts, loc)} takes no step: LBFGS needs a closure that computes the loss and its gradients"
        yield Draft(loc, message, raised, related=told(callers(raised.site.via), besides=loc))
    yield from _standing_still(facts)
    yield from _left_out(facts)
    stepping = {step.optimizer for step in facts.of(StepCall)}
    gone = {event.optimizer for event in facts.of(OptimizerEscaped)}
    uncalled = any(event.method == "step" for event in facts.of(NotCalled))
    if facts.of(HandStep) or uncalled or not facts.saw_the_end:
        return
    everyone = facts.of(OptimizerMade)
    # Of those that one place makes, or a call there, on one way each, some step and others are on ways not followed on.
    stepped = {loc for e in everyone if e.optimizer in stepping for loc in (e.site.loc, *e.site.via)}
    made = [event for event in everyone if event.known and event.site.loc not in stepped]
    looked_at = {event.leaf for event in facts.of(GradTaken)}
    # Where several optimizers were one of them on each way, the one that steps is none of those that were made.
    ours = {event.optimizer for event in everyone if event.known}
    if not all(step.known or step.optimizer in ours for step in facts.of(StepCall)):
        return
    trained = {p for step in facts.of(StepCall) for p in step.parameters}
    zeroed = {event.optimizer for event in facts.of(ZeroCall)}
    for event in made:
        left = set(event.parameters) - trained - looked_at
        if event.optimizer in stepping | gone or not left or not (stepping or event.optimizer in zeroed):
            continue
        fed = [b for b in facts.of(BackwardCall) if left.intersection(b.reached) and b.site.iterations]
        # Of an object's optimizer, whoever made it, another method may be the one that steps.
        is_of_object = isinstance(node_at(facts, event.site.loc), n.Attribute)
        if fed and fed[0].site.loc.module == event.site.loc.module and not is_of_object:
            yield _never(facts, event, _own(fed, event))


def _own(fed: list[BackwardCall], made: OptimizerMade) -> BackwardCall:
    """The backward that reaches the fewest parameters outside an optimizer."""
    return min(fed, key=lambda b: len(set(made.parameters) - set(b.reached)))


def _never(facts: Facts, made: OptimizerMade, backward: BackwardCall) -> Draft:
    loc = backward.site.loc
    message = f"{said(facts, loc)} fills gradients for {named(facts, made.site.loc)}, which never steps"
    events = facts.run.events
    other = next((e for e in events[events.index(backward) :] if isinstance(e, StepCall)), None)
    notes: list[Note] = [(other.site.loc, "this steps another optimizer")] if other is not None else []
    notes.append((made.site.loc, "the optimizer is created here"))
    related = told(notes, callers(backward.site.via), besides=loc)
    return Draft(loc, message, effect="param-not-updated", related=related)


def _standing_still(facts: Facts) -> Iterator[Draft]:
    steps: dict[Loc, list[StepCall]] = {}
    for step in facts.of(StepCall):
        steps.setdefault(step.site.loc, []).append(step)
    for loc, visits in steps.items():
        if all(step.still for step in visits) and any(step.with_grad for step in visits):
            made = [e for e in facts.of(OptimizerMade) if e.optimizer == visits[0].optimizer]
            notes = told([(e.site.loc, "the optimizer is created here") for e in made], callers(visits[0].site.via))
            message = f"{said(facts, loc)} changes nothing: the learning rate is 0 each time"
            yield Draft(loc, message, effect="param-not-updated", related=notes)


def _left_out(facts: Facts) -> Iterator[Draft]:
    """A framework is never given a loss."""
    if facts.of(BackwardCall) or not facts.of(OptimizerMade):
        return
    for event in facts.of(StepWithoutLoss)[:1]:
        message = f"{said(facts, event.end)} ends the training step without a loss, so no step is taken"
        made = facts.of(OptimizerMade)[0]
        notes = told([(made.site.loc, "the optimizer is created here")], besides=event.end)
        yield Draft(event.end, message, effect="param-not-updated", related=notes)


RULE = Rule(
    "AG307", "optimizer-not-stepped", "An optimizer never steps, or its learning rate is zero", check, __doc__ or "",
    settles=("AG301",),
)  # fmt: skip
