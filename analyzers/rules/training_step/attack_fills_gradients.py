"""A backward that is run for the gradient of an input also fills those of the weights, and the next step uses them.

An attack asks how a loss changes with its input. `loss.backward()` answers with the gradients of everything that it
reaches: those of the weights stay in their `.grad`, and the gradients of the training loss are added to them.

## Reported
```python
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in [torch.ones(1, 2)] * 3:
    optimizer.zero_grad()
    delta = torch.zeros(1, 2, requires_grad=True)
    net(x + delta).pow(2).sum().backward()  # warning: [attack-fills-gradients]
    worse = (x + 0.1 * delta.grad.sign()).detach()
    net(worse).pow(2).sum().backward()
    optimizer.step()
```
## Fixed
`torch.autograd.grad` returns the gradient that is asked for, and fills none.
```python right
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in [torch.ones(1, 2)] * 3:
    optimizer.zero_grad()
    delta = torch.zeros(1, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(net(x + delta).pow(2).sum(), delta)
    worse = (x + 0.1 * slope.sign()).detach()
    net(worse).pow(2).sum().backward()
    optimizer.step()
```
## Not reported
The gradients are cleared in between, or the weights are frozen during the attack.
```python
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in [torch.ones(1, 2)] * 3:
    delta = torch.zeros(1, 2, requires_grad=True)
    net(x + delta).pow(2).sum().backward()
    optimizer.zero_grad()
    net((x + 0.1 * delta.grad.sign()).detach()).pow(2).sum().backward()
    optimizer.step()
for x in [torch.ones(1, 2)] * 3:
    optimizer.zero_grad()
    net.requires_grad_(False)
    delta = torch.zeros(1, 2, requires_grad=True)
    net(x + delta).pow(2).sum().backward()
    net.requires_grad_(True)
    net((x + 0.1 * delta.grad.sign()).detach()).pow(2).sum().backward()
    optimizer.step()
```
One backward serves both.
```python
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
delta = torch.zeros(1, 2, requires_grad=True)
for x in [torch.ones(1, 2)] * 3:
    optimizer.zero_grad()
    delta.grad = None
    net(x + delta).pow(2).sum().backward()
    optimizer.step()
    with torch.no_grad():
        delta += 0.1 * delta.grad.sign()
```
Several losses are added up, each with a backward of its own.
```python
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in [torch.ones(1, 2)] * 3:
    optimizer.zero_grad()
    net(x).sum().backward()
    net(-x).pow(2).sum().backward()
    optimizer.step()
```
Of an embedding's weights, which the optimizer holds, the attack adds its own loss on purpose.
```python
import torch
words, out = torch.nn.Embedding(3, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([*words.parameters(), *out.parameters()], lr=0.1)
for ids in [torch.tensor([0, 2])] * 3:
    optimizer.zero_grad()
    out(words(ids)).pow(2).sum().backward()
    kept = words.weight.detach().clone()
    with torch.no_grad():
        words.weight += 0.1 * words.weight.grad.sign()
    out(words(ids)).pow(2).sum().backward()
    with torch.no_grad():
        words.weight.copy_(kept)
    optimizer.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall, GradTaken, OptimizerMade, StepCall


def check(facts: Facts) -> Iterator[Draft]:
    held = {ident for one in facts.of(OptimizerMade) for ident in one.parameters}
    held |= {ident for one in facts.of(StepCall) for ident in one.parameters}
    attacks = {backward.site: backward for backward in _attacks(facts, held)}
    seen: set[Loc] = set()
    for step in facts.of(StepCall):
        for _, sites in step.mixtures:
            attack = next((site for site in sites[:-1] if site in attacks and site.loc != sites[-1].loc), None)
            if attack is None or attack.loc in seen:
                continue
            seen.add(attack.loc)
            yield _draft(facts, attack, step)


def _attacks(facts: Facts, held: set[int]) -> Iterator[BackwardCall]:
    """The backwards after which the program reads the gradient of a leaf that no optimizer holds."""
    events = facts.run.events
    taken = {event.leaf: index for index, event in enumerate(events) if isinstance(event, GradTaken)}
    for index, event in enumerate(events):
        if isinstance(event, BackwardCall) and any(taken.get(leaf, -1) > index for leaf in set(event.reached) - held):
            yield event


def _draft(facts: Facts, attack: Site, step: StepCall) -> Draft:
    loc = attack.loc
    message = f"{said(facts, loc)} fills the gradients of the weights, too: {said(facts, step.site.loc)} uses them"
    notes = [(step.site.loc, "the step uses them with those of the training loss")]
    return Draft(loc, message, effect="wrong-gradient", related=told(notes, callers(attack.via), besides=loc))


RULE = Rule(
    "AG308", "attack-fills-gradients", "A step uses the gradients that an attack left behind", check, __doc__ or ""
)
