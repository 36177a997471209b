"""Backward is repeated over a graph that was built before the last update, so the gradient is out of date.

With `retain_graph=True` backward can run through one forward pass any number of times. Each time it returns the
gradient at the point where the forward pass ran, however far the parameters have moved since.

## Reported
```python
import torch
w = torch.zeros(2, requires_grad=True)
loss = (torch.ones(3, 2) @ w - 1).square().mean()
for step in range(3):
    loss.backward(retain_graph=True)  # warning: [graph-not-rebuilt]
    w.data -= 0.1 * w.grad
    w.grad.zero_()
```
```python fixed
import torch
w = torch.zeros(2, requires_grad=True)
for step in range(3):
    loss = (torch.ones(3, 2) @ w - 1).square().mean()
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad.zero_()
```
## Not reported
Nothing is updated between the two.
```python
import torch
w = torch.zeros(2, requires_grad=True)
loss = (torch.ones(3, 2) @ w - 1).square().mean()
loss.backward(retain_graph=True)
loss.backward()
w.data -= 0.1 * w.grad
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.rebuilding import compute_in_loop
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Raised
from analyzers.machine.core.events import HiddenWrite, StaleBackward


def check(facts: Facts) -> Iterator[Draft]:
    told_otherwise = {e.site.loc for e in facts.of(HiddenWrite)} | {e.site.loc for e in facts.of(Raised)}
    seen: set[Loc] = set()
    for event in facts.of(StaleBackward):
        loc = event.site.loc
        if loc in seen or loc in told_otherwise or loc != event.first.loc:
            continue
        seen.add(loc)
        message = f"{said(facts, loc)} goes again through a graph that was built before the last update"
        notes = [(place, text) for place, text in (
            (event.node.loc, "the graph was built here"), (event.write.loc, "this has changed a leaf since"),
        ) if place is not None]  # fmt: skip
        built = event.node.loc
        fix = compute_in_loop(facts, built, event.node.via, event.site) if built is not None else None
        yield Draft(
            loc, message, effect="wrong-gradient", related=told(notes, callers(event.site.via), besides=loc),
            fixes=(fix,) if fix is not None else (),
        )  # fmt: skip


RULE = Rule("AG212", "graph-not-rebuilt", "Backward is repeated over an outdated graph", check, __doc__ or "")
