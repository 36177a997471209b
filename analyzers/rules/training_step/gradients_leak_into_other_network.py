"""One network's loss leaves gradients in another network, whose own step then uses both.

A generator's loss goes through the discriminator, and an actor's loss through the critic: backward fills the gradients
of both. The other optimizer has to clear its gradients before its own backward, not only after its step.

## Reported
```python
import torch
from torch.nn.functional import softplus
gen, disc = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_gen = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_disc = torch.optim.SGD(disc.parameters(), lr=0.1)
for step in range(3):
    fake = gen(torch.randn(4, 2))
    real_loss = softplus(-disc(torch.randn(4, 3))).mean()
    (real_loss + softplus(disc(fake.detach())).mean()).backward()  # warning: [gradients-leak-into-other-network]
    opt_disc.step()
    opt_disc.zero_grad()
    opt_gen.zero_grad()
    softplus(-disc(fake)).mean().backward()
    opt_gen.step()
```
```python right
import torch
from torch.nn.functional import softplus
gen, disc = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_gen = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_disc = torch.optim.SGD(disc.parameters(), lr=0.1)
for step in range(3):
    fake = gen(torch.randn(4, 2))
    real_loss = softplus(-disc(torch.randn(4, 3))).mean()
    opt_disc.zero_grad()
    (real_loss + softplus(disc(fake.detach())).mean()).backward()
    opt_disc.step()
    opt_gen.zero_grad()
    softplus(-disc(fake)).mean().backward()
    opt_gen.step()
```
## Not reported
Two losses that both train a shared part.
```python
import torch
body, one, two = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (body, one, two)]
for step in range(3):
    seen = torch.tanh(body(torch.randn(4, 2)))
    for opt in opts:
        opt.zero_grad()
    one(seen).pow(2).mean().backward(retain_graph=True)
    two(seen).abs().mean().backward()
    for opt in opts:
        opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall, Event, GradAccumulated, OptimizerMade, StepCall, ZeroCall


def check(facts: Facts) -> Iterator[Draft]:
    owned = {made.optimizer: set(made.parameters) for made in facts.of(OptimizerMade)}
    told_otherwise = {event.again.loc for event in facts.of(GradAccumulated)}
    seen: set[Loc] = set()
    for step in facts.of(StepCall):
        mixtures = tuple(dict.fromkeys(sites for _, sites in step.mixtures))
        if not mixtures or step.site.loc in told_otherwise or step.optimizer not in owned:
            continue
        for leak, own in _pairs(mixtures):
            other = _stepped_between(facts, leak, own, owned, step)
            if leak.iterations == own.iterations and other is not None and not _goes_back(facts, own, owned, other):
                continue
            if own.loc not in seen and other is not None:
                seen.add(own.loc)
                yield _draft(facts, leak, own, other, step)
        for leak, other in _between_its_own(facts, mixtures, owned, step):
            if leak.loc not in seen:
                seen.add(leak.loc)
                yield _draft(facts, leak, leak, other, step)


def _pairs(mixtures: Sequence[tuple[Site, ...]]) -> Iterator[tuple[Site, Site]]:
    """A backward and a later one that both contribute to every gradient."""
    first = mixtures[0]
    for leak, own in pairwise(first):
        both = all(leak in sites and own in sites for sites in mixtures)
        if both and leak.loc != own.loc:
            yield leak, own


def _stepped_between(
    facts: Facts, leak: Site, own: Site, owned: dict[int, set[int]], step: StepCall
) -> StepCall | None:
    """The step that used the first backward for other parameters, which the second does not reach."""
    events = facts.run.events
    calls = facts.of(BackwardCall)
    one = next((b for b in calls if b.site == leak), None)
    two = next((b for b in calls if b.site == own), None)
    if one is None or two is None:
        return None
    for event in events[events.index(one) : events.index(two)]:
        if isinstance(event, StepCall) and event.optimizer != step.optimizer:
            theirs = owned.get(event.optimizer, set())
            if theirs.isdisjoint(owned[step.optimizer]) and theirs & set(one.reached):
                return event
    return None


def _between_its_own(
    facts: Facts, mixtures: Sequence[tuple[Site, ...]], owned: dict[int, set[int]], step: StepCall
) -> Iterator[tuple[Site, StepCall]]:
    """A backward between a network's own backward and its step, before which only another optimizer was cleared."""
    for own, leak in pairwise(mixtures[0]):
        if own.loc == leak.loc or own.iterations != leak.iterations:
            continue
        before, between, after = _parts(facts, own, leak)
        zeroed = {event.optimizer for event in between if isinstance(event, ZeroCall)}
        foreign = all(owned.get(other, set()).isdisjoint(owned[step.optimizer]) for other in zeroed)
        if not zeroed or not foreign or not any(_clears(event, step.optimizer) for event in before):
            continue
        for event in after:
            if isinstance(event, StepCall) and event.optimizer in zeroed:
                yield leak, event
                break


def _clears(event: Event, optimizer: int) -> bool:
    return isinstance(event, ZeroCall) and event.optimizer == optimizer


def _parts(facts: Facts, one: Site, two: Site) -> tuple[Sequence[Event], Sequence[Event], Sequence[Event]]:
    """The events from the backward before `one` up to it, from there to the backward at `two`, and after that."""
    events = facts.run.events
    backwards = [i for i, event in enumerate(events) if isinstance(event, BackwardCall)]
    first = next((i for i in backwards if events[i].site == one), None)
    second = next((i for i in backwards if events[i].site == two), None)
    if first is None or second is None:
        return (), (), ()
    start = max((i for i in backwards if i < first), default=0)
    return events[start:first], events[first:second], events[second:]


def _goes_back(facts: Facts, own: Site, owned: dict[int, set[int]], other: StepCall) -> bool:
    """Whether the second backward also reaches the network that has just stepped."""
    theirs = owned.get(other.optimizer, set())
    return any(b.site == own and theirs & set(b.reached) for b in facts.of(BackwardCall))


def _draft(facts: Facts, leak: Site, own: Site, other: StepCall, step: StepCall) -> Draft:
    loc = own.loc
    message = f"{said(facts, loc)} adds to gradients that {said(facts, leak.loc)} left in this network"
    if leak == own:
        message = f"{said(facts, loc)} adds to gradients of another network, which has yet to take its own step"
    notes = [
        (leak.loc, "this backward goes through both networks"),
        (other.site.loc, "its gradients are meant for this step"),
        (step.site.loc, "this step uses both"),
    ]
    return Draft(loc, message, effect="grad-accumulates", related=told(notes, callers(own.via), besides=loc))


RULE = Rule(
    "AG305",
    "gradients-leak-into-other-network",
    "One network's loss leaves gradients in another network",
    check,
    __doc__ or "",
)
