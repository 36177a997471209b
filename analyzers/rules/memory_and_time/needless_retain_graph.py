"""`retain_graph=True` keeps a graph that no backward uses again.

The saved tensors stay in memory until the last tensor that refers to the graph is gone: through the step and into the
next forward pass. It also stops torch from noticing an unintended second backward.

## Reported
```python
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = net(torch.ones(4, 2)).tanh().mean()
    loss.backward(retain_graph=True)  # info: [needless-retain-graph]
    opt.step()
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = net(torch.ones(4, 2)).tanh().mean()
    loss.backward()
    opt.step()
```
## Reported: two losses that share nothing
```python
import torch
one, other = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
x = torch.ones(4, 2)
one(x).tanh().mean().backward(retain_graph=True)  # info: [needless-retain-graph]
other(x).tanh().mean().backward()
```
## Not reported
Two losses that share a part of the graph.
```python
import torch
body, one, other = (torch.nn.Linear(2, 2) for _ in range(3))
seen = body(torch.ones(4, 2)).tanh()
one(seen).tanh().mean().backward(retain_graph=True)
other(seen).tanh().mean().backward()
```
A gradient that is requested from the same graph afterwards.
```python
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward(retain_graph=True)
(again,) = torch.autograd.grad(loss, w)
```
A loss that is returned: the caller may run backward on it again.
```python
import torch
def step(weight):
    loss = (weight * weight).sum()
    loss.backward(retain_graph=True)
    return loss
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import drop_keyword
from analyzers.drafting.places.tree import node_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import RetainedInVain
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    if not facts.saw_the_end:
        return
    for event in facts.of(RetainedInVain):
        loc = event.site.loc
        message = f"{said(facts, loc)} keeps its graph, but no backward uses it again"
        notes = told(callers(event.site.via), besides=loc)
        fixes = tuple(_free(facts, loc))
        yield Draft(loc, message, effect="graph-grows", severity="info", related=notes, fixes=fixes)


def _free(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    match node_at(facts, loc):
        case n.Call(keywords=keywords) as call:
            for keyword in keywords:
                if keyword.arg == "retain_graph" and isinstance(keyword.value, n.Constant):
                    yield FixDraft("Free the graph", False, (drop_keyword(loc, call, keyword),))


RULE = Rule("AG402", "needless-retain-graph", "A graph is kept that is never needed again", check, __doc__ or "")
