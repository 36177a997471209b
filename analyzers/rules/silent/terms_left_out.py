"""Backward is called on one term of a loss, and the sum with the others is left aside.

Nothing is raised, and the one term goes down; the others are computed, perhaps logged, and change no parameter.

## Reported
```python
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    out = net(torch.ones(2, 3))
    match = out[0].pow(2).sum()
    keep = out[1].pow(2).sum()
    total = match + 0.5 * keep
    opt.zero_grad()
    match.backward()  # warning: [terms-left-out]
    opt.step()
    print(total.item())
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    out = net(torch.ones(2, 3))
    match = out[0].pow(2).sum()
    keep = out[1].pow(2).sum()
    total = match + 0.5 * keep
    opt.zero_grad()
    total.backward()
    opt.step()
    print(total.item())
```
## Reported: a part of a scaled loss
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    fit = net(torch.ones(2, 3)).pow(2).mean()
    loss = sum([fit, net.weight.norm()])
    (fit / 2).backward()  # warning: [terms-left-out]
    if step % 2:
        opt.step()
        opt.zero_grad()
```
## Not reported
Each term has a backward of its own, and the sum is only logged.
```python
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    match = net(torch.ones(2, 3)).pow(2).sum()
    keep = net(torch.zeros(2, 3)).pow(2).sum()
    total = match + keep
    opt.zero_grad()
    match.backward()
    keep.backward()
    opt.step()
    print(total.item())
```
One term alone in the first rounds, and the sum later.
```python
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    out = net(torch.ones(2, 3))
    match, keep = out[0].pow(2).sum(), out[1].pow(2).sum()
    total = match + keep
    opt.zero_grad()
    if step < 2:
        match.backward()
    else:
        total.backward()
    opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, node_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import TermsLeftOut
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[Loc] = set()
    for event in facts.of(TermsLeftOut):
        loc = event.site.loc
        if loc in seen:
            continue
        seen.add(loc)
        message = f"{said(facts, loc)} leaves out the other terms of `{event.name}`: no backward goes through them"
        notes = [] if event.total.loc is None else [(event.total.loc, f"`{event.name}` is the sum")]
        notes += [(term, "this contributes no gradient") for term in event.terms if term is not None]
        related = told(notes, callers(event.site.via), besides=loc)
        yield Draft(loc, message, effect="wrong-gradient", related=related, fixes=tuple(_whole(facts, event)))


def _whole(facts: Facts, event: TermsLeftOut) -> Iterator[FixDraft]:
    match node_at(facts, event.site.loc):
        case n.Call(func=n.Attribute(value=n.Name() as term, attr="backward"), args=(), keywords=()):
            change = (at(event.site.loc, term), event.name)
            yield FixDraft(f"Go back through `{event.name}`", False, (change,))


RULE = Rule("AG215", "terms-left-out", "Backward on one term leaves out the others", check, __doc__ or "")
