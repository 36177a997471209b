"""A tensor is copied onto itself, since what was meant to be a copy shares its memory.

`state_dict()`, `detach()` and `.data` return the memory of the parameters, not a copy of it. Weights that are kept that
way follow each step of the optimizer: loading them back does nothing, and an average with them is no average.

## Reported
```python
import torch
net = torch.nn.Linear(3, 1)
kept = net.state_dict()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step()
net.load_state_dict(kept)  # warning: [copied-onto-itself]
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(3, 1)
kept = {name: value.clone() for name, value in net.state_dict().items()}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step()
net.load_state_dict(kept)
```
## Reported: an average of the weights with themselves
```python
import torch
net = torch.nn.Linear(3, 1)
average = {name: value for name, value in net.state_dict().items()}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step()
    for name, value in net.state_dict().items():
        average[name].lerp_(value, 0.1)  # warning: [copied-onto-itself]
net.load_state_dict(average)  # warning: [copied-onto-itself]
```
```python right
import torch
net = torch.nn.Linear(3, 1)
average = {name: value.clone() for name, value in net.state_dict().items()}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.ones(2, 3)).pow(2).mean().backward()
    opt.step()
    for name, value in net.state_dict().items():
        average[name].lerp_(value, 0.1)
net.load_state_dict(average)
```
## Reported: an average in two steps
```python
import torch
net = torch.nn.Linear(3, 1)
average = [p.detach() for p in net.parameters()]
for kept, p in zip(average, net.parameters()):
    kept.mul_(0.9).add_(p.detach(), alpha=0.1)  # warning: [copied-onto-itself]
```
## One network takes over the memory of another
```python
import torch

net, average = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
for p, q in zip(net.parameters(), average.parameters()):
    q.data = p.data
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
with torch.no_grad():
    for p, q in zip(net.parameters(), average.parameters()):
        q.lerp_(p, 0.1)  # warning: [copied-onto-itself]
```
```python fixed
import torch

net, average = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
for p, q in zip(net.parameters(), average.parameters()):
    q.data = p.data.clone()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
with torch.no_grad():
    for p, q in zip(net.parameters(), average.parameters()):
        q.lerp_(p, 0.1)
```
## Not reported
Another module's weights, and weight decay as it is written by hand.
```python
import copy
import torch
net = torch.nn.Linear(3, 1)
average = copy.deepcopy(net)
with torch.no_grad():
    for kept, p in zip(average.parameters(), net.parameters()):
        kept.lerp_(p, 0.1)
        p.add_(p, alpha=-0.01)
average.load_state_dict(net.state_dict())
```
Other elements of the same memory: a queue that moves on.
```python
import torch
from hidden import same
queue = torch.zeros(4, 3)
first, second = same(0), same(1)
queue[first].copy_(queue[second])
queue[:second].lerp_(queue[second:2 * second], 0.5)
rows = torch.as_tensor(same(torch.ones(4, 3)))
rows[0].copy_(rows[1])
rows[:-1].detach().copy_(rows[1:].detach().clone())
```
Weights that are handed on, and were to be there, as nothing was trained since.
```python
import torch
nets = [torch.nn.Linear(3, 1) for _ in range(2)]
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
weights = nets[0].state_dict()
for net, optimizer in zip(nets, optimizers):
    net.load_state_dict(weights)
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    weights = net.state_dict()
```
What is converted where there is something to convert: of weights in half precision this is a copy.
```python
import torch
net = torch.nn.Linear(3, 1)
for p in net.parameters():
    full = p.data.float()
    full.add_(full, alpha=-0.01)
    p.data.copy_(full)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, node_at, statement_at, walk
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import CopiedOntoItself
from analyzers.syntax import nodes as n

_CONVERSIONS = frozenset({"bfloat16", "contiguous", "cpu", "cuda", "double", "float", "half", "to", "type", "type_as"})


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[Loc] = set()
    for event in facts.of(CopiedOntoItself):
        loc = event.site.loc
        if loc in seen or (event.made is not None and _is_converted(facts, event.made.loc)):
            continue
        seen.add(loc)
        loads = event.what == "load_state_dict"
        verb, both = "loads" if loads else "writes", _both(facts, loc)
        message = f"{said(facts, loc)} {verb} what is there already: {both} are the same memory"
        made = event.made
        notes = [] if made is None or made.loc is None else [(made.loc, "nothing is copied here: the memory is shared")]
        fixes = tuple(_clone(facts, made.loc)) if made is not None and made.loc is not None else ()
        related = told(notes, callers(event.site.via), besides=loc)
        advice = "Copy the values where the one was made of the other, with `clone()` or `copy.deepcopy`"
        yield Draft(loc, message, effect="no-effect-assignment", related=related, fixes=fixes, advice=advice)


def _both(facts: Facts, loc: Loc) -> str:
    """What is written, and what from."""
    match node_at(facts, loc):
        case n.Call(
            func=n.Attribute(value=n.Name() | n.Attribute() as target), args=[n.Name() | n.Attribute() as source, *_]
        ):
            return f"`{facts.text(at(loc, target))}` and `{facts.text(at(loc, source))}`"
    return "both"


def _is_converted(facts: Facts, loc: Loc | None) -> bool:
    """Whether what was kept went through a conversion, which copies where there is something to convert:
    `p.data.float()`."""
    statement = statement_at(facts, loc) if loc is not None else None
    return statement is not None and any(
        isinstance(node, n.Call) and isinstance(node.func, n.Attribute) and node.func.attr in _CONVERSIONS
        for node in walk(statement)
    )  # fmt: skip


def _clone(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`kept = net.state_dict()` becomes a dictionary of clones, `p.data = q.data` takes a clone."""
    match statement_at(facts, loc):
        case n.Assign(value=n.Call(func=n.Attribute(attr="state_dict")) as call) if at(loc, call) == loc:
            text = f"{{name: value.clone() for name, value in {facts.text(loc)}.items()}}"
            yield FixDraft("Keep a copy", False, ((loc, text),))
        case n.Assign(targets=(n.Attribute(attr="data"),), value=n.Attribute() | n.Name() | n.Call() as value):
            place = at(loc, value)
            yield FixDraft("Take a copy of the values", False, ((place, f"{facts.text(place)}.clone()"),))


RULE = Rule("AG214", "copied-onto-itself", "A tensor is copied onto itself", check, __doc__ or "")
