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
## Reported
A step in some rounds alone, and gradients that are cleared in each: those of the other rounds are lost.
```python
import torch
from hidden import same
every, loader = same(2), same([torch.ones(4, 3), torch.ones(4, 3)])
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i, x in enumerate(loader):
    opt.zero_grad()  # warning: [gradients-zeroed-before-step]
    loss = net(x).pow(2).mean() / every
    loss.backward()
    if (i + 1) % every == 0:
        opt.step()
```
A step after the loop, and gradients that are cleared in each round: only those of the last round are left.
```python
import torch
from hidden import same
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x in same([torch.ones(4, 3), torch.ones(4, 3)]):
        opt.zero_grad()  # warning: [gradients-zeroed-before-step]
        net(x).pow(2).mean().backward()
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
Gradients that are cleared after the step that used them, or in the rounds that have a backward.
```python
import torch
from hidden import same
every, loader = same(2), same([torch.ones(4, 3), torch.ones(4, 3)])
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i, x in enumerate(loader):
    (net(x).pow(2).mean() / every).backward()
    if (i + 1) % every == 0:
        opt.step()
        opt.zero_grad()
for i, x in enumerate(loader):
    opt.zero_grad()
    if i % every == 0:
        net(x).pow(2).mean().backward()
        opt.step()
```
A critic that is trained more often than its generator, whose gradients that come from the critic's loss are meant to be
cleared.
```python
import torch
from hidden import same
every, loader = same(2), same([torch.ones(4, 3), torch.ones(4, 3)])
maker, critic = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
maker_opt = torch.optim.SGD(maker.parameters(), lr=0.1)
critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
for i, x in enumerate(loader):
    maker_opt.zero_grad()
    critic_opt.zero_grad()
    made = maker(torch.randn(4, 2))
    (critic(made) - critic(x)).mean().backward()
    critic_opt.step()
    if i % every == 0:
        maker_opt.zero_grad()
        (-critic(maker(torch.randn(4, 2)))).mean().backward()
        maker_opt.step()
```
An attack in a loop of its own, whose gradients of the network nobody needs: the step uses those of what comes after it.
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(4, 5, 3):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(3):
        opt.zero_grad()
        net(x + delta).pow(2).mean().backward()
        delta.data += 0.1 * delta.grad.sign()
        delta.grad.zero_()
    opt.zero_grad()
    net(x + delta.detach()).pow(2).mean().backward()
    opt.step()
```
Two optimizers take turns: what the other one would have used in this round is left on purpose.
```python
import torch
lower, upper = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
first, second = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (lower, upper))
for step in range(4):
    first.zero_grad()
    second.zero_grad()
    upper(lower(torch.ones(2, 3))).pow(2).mean().backward()
    if step % 2 == 0:
        first.step()
    else:
        second.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc, Round
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.pieces import swap
from analyzers.drafting.places.blocks import Spot, contains
from analyzers.drafting.places.training import idle_steps
from analyzers.drafting.places.tree import at, path_to, walk
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall, Cleared, ClearedUse, HandStep, StepCall, ZeroCall
from analyzers.syntax import nodes as n


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
    for backward, zero_site, step_site in _skipped_rounds(facts):
        if (zero_site.loc, step_site.loc) not in seen:
            seen.add((zero_site.loc, step_site.loc))
            yield _draft(facts, backward, zero_site, step_site, finds="the step comes in some rounds alone")
    for backward, zero_site, step_site in _all_but_last(facts):
        if (zero_site.loc, step_site.loc) not in seen:
            seen.add((zero_site.loc, step_site.loc))
            yield _draft(facts, backward, zero_site, step_site, finds="the step finds those of the last round alone")
    for step, round_ in idle_steps(facts):
        before = round_[: round_.index(step)]
        zero = next((e for e in reversed(before) if isinstance(e, Cleared | BackwardCall)), None)
        depth = len(step.site.iterations)
        if not isinstance(zero, Cleared) or zero.backward.iterations[:depth] != step.site.iterations:
            continue
        if (zero.site.loc, step.site.loc) not in seen:
            seen.add((zero.site.loc, step.site.loc))
            yield _draft(facts, zero.backward, zero.site, step.site)


def _rounds(site: Site) -> tuple[Round, ...]:
    """The rounds of the program's own loops that a site is in."""
    return tuple(round_ for round_ in site.iterations if not round_[0].module.startswith("<"))


def _lost_rounds(facts: Facts) -> Iterator[tuple[Site, Site, Site]]:
    """Gradients that are cleared in iterations without a step, though later iterations step on similar ones."""
    steps: dict[int, list[StepCall]] = {}
    for step in facts.of(StepCall):
        steps.setdefault(step.optimizer, []).append(step)
    zeros = {(zero.site.loc, _rounds(zero.site)): zero.optimizer for zero in facts.of(ZeroCall)}
    for cleared in facts.of(Cleared):
        filled, round_ = _rounds(cleared.backward), _rounds(cleared.site)
        of_optimizer = steps.get(zeros.get((cleared.site.loc, round_), 0), [])
        if not filled or any(_rounds(step.site) == filled for step in of_optimizer):
            continue
        if filled == round_ or filled[:-1] != round_[:-1]:
            continue
        for step in of_optimizer:
            inside = _in_each_nth(facts, step.site.loc)
            if inside is not None and _takes_turns(facts, step, inside):
                continue
            alike = any(site.loc == cleared.backward.loc for _, sites in step.mixtures for site in sites)
            if alike and _rounds(step.site)[:-1] == filled[:-1]:
                yield cleared.backward, cleared.site, step.site
                break


def _skipped_rounds(facts: Facts) -> Iterator[tuple[Site, Site, Site]]:
    """Gradients that are computed and cleared in each iteration, of which only each n-th has a step."""
    for step in facts.of(StepCall):
        inside = _in_each_nth(facts, step.site.loc)
        if inside is None or not step.site.iterations or _takes_turns(facts, step, inside):
            continue
        zeros = [event.site for event in facts.of(ZeroCall) if event.optimizer == step.optimizer]
        filling = [event.site for event in facts.of(BackwardCall) if not set(step.parameters).isdisjoint(event.reached)]
        if any(contains(inside, site.loc) for site in (*zeros, *filling)):
            continue
        here = (step.site.iterations, step.site.via)
        cleared, filled = (
            next((s for s in sites if (s.iterations, s.via) == here and _in_each_nth(facts, s.loc) is None), None)
            for sites in (zeros, filling)
        )
        if cleared is not None and filled is not None:
            yield filled, cleared, step.site


def _all_but_last(facts: Facts) -> Iterator[tuple[Site, Site, Site]]:
    """Gradients that are computed and cleared in each round of a loop, while the step comes after the loop."""
    zeros = {(zero.site.loc, _rounds(zero.site)): zero.optimizer for zero in facts.of(ZeroCall)}
    lost: list[Cleared] = []
    last: BackwardCall | None = None
    for event in facts.run.events:
        if isinstance(event, BackwardCall):
            last = event
        elif isinstance(event, Cleared):
            lost.append(event)
        elif isinstance(event, StepCall):
            around = _rounds(event.site)
            for cleared in lost:
                rounds = {_rounds(cleared.backward), _rounds(cleared.site)}
                is_inside = len(rounds) == 2 and {each[:-1] for each in rounds} == {around}
                is_of_step = zeros.get((cleared.site.loc, _rounds(cleared.site))) == event.optimizer
                if is_inside and is_of_step and last is not None and last.site.loc == cleared.backward.loc:
                    yield cleared.backward, cleared.site, event.site
                    break


def _takes_turns(facts: Facts, step: StepCall, inside: Spot) -> bool:
    """Whether another optimizer steps on the other branch of an `if`: each round is for one of them."""

    def on_branch(loc: Loc) -> bool:
        branch = inside[1]
        assert isinstance(branch, n.If)
        return bool(branch.body) and branch.body[0].start <= loc.start <= branch.body[-1].end

    others = (e.site.loc for e in facts.of(StepCall) if e.optimizer != step.optimizer)
    return any(contains(inside, loc) and on_branch(loc) != on_branch(step.site.loc) for loc in others)


def _in_each_nth(facts: Facts, loc: Loc) -> Spot | None:
    """The `if` around a place, in the innermost loop around it, that holds in each n-th round."""
    found: Spot | None = None
    for node in path_to(facts, loc):
        if isinstance(node, n.For | n.While):
            found = None
        elif isinstance(node, n.If) and any(isinstance(e, n.BinOp) and e.op == "%" for e in walk(node.test)):
            found = at(loc, node), node
    return found


def _draft(facts: Facts, backward: Site, zero: Site, step: Site, *, finds: str = "") -> Draft:
    loc = zero.loc
    message = f"{said(facts, loc)} clears the gradients before {said(facts, step.loc)} uses them"
    come_from = (backward.loc, "the gradients come from here")
    notes = told([come_from, (step.loc, finds or "the step finds none")], callers(zero.via), besides=loc)
    fixes = () if finds else tuple(swap(facts, backward.loc, loc, "Clear the gradients before backward"))
    return Draft(loc, message, effect="param-not-updated", related=notes, fixes=fixes)


RULE = Rule(
    "AG302", "gradients-zeroed-before-step", "Gradients are cleared before a step uses them", check, __doc__ or ""
)
