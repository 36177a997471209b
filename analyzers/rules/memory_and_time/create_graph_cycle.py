"""`backward(create_graph=True)` creates a reference cycle: the gradients hold the graph, which holds the leaves.

A leaf's `.grad` then has a graph that leads back to the leaf, so neither is freed until `.grad` is set to None. To
differentiate a gradient, prefer `torch.autograd.grad`, which stores nothing in the leaves.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
(w * w * w).sum().backward(create_graph=True)  # info: [create-graph-cycle]
w.grad.sum().backward()
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
(g,) = torch.autograd.grad((w * w * w).sum(), w, create_graph=True)
g.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import BackwardCall


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[Loc] = set()
    for event in facts.of(BackwardCall):
        loc = event.site.loc
        if event.creates is not True or not event.reached or loc in seen:
            continue
        seen.add(loc)
        message = f"{said(facts, loc)} gives the leaves gradients that keep the graph alive, and thus the leaves"
        notes = told(callers(event.site.via), besides=loc)
        yield Draft(loc, message, effect="graph-grows", severity="info", related=notes)


RULE = Rule("AG404", "create-graph-cycle", "Gradients keep alive the graph that leads to them", check, __doc__ or "")
