"""A module's parameter is assigned a plain tensor.

`nn.Module` reserves the name for a parameter. Change the parameter in place under `torch.no_grad()`, or assign another
`nn.Parameter`.

## Reported
```python
import torch
net = torch.nn.Linear(3, 1)
net.weight = torch.zeros(1, 3)  # error: [parameter-replaced-by-tensor]  # raises: TypeError "cannot assign"
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(3, 1)
net.weight = torch.nn.Parameter(torch.zeros(1, 3))
```
An existing optimizer would still hold the old parameter, so this fix is not safe.
## A frozen parameter turned into a result
The added tensor has a graph, so the parameter would have one too, and a module does not accept that.
```python
import torch
net = torch.nn.Linear(3, 1)
net.weight.requires_grad_(False)
scale = torch.ones(1, 3, requires_grad=True)
net.weight += scale * 0.1  # error: [parameter-replaced-by-tensor]  # raises: ValueError "Cannot assign non-leaf Tensor"
```
```python fixed
import torch
net = torch.nn.Linear(3, 1)
net.weight.requires_grad_(False)
scale = torch.ones(1, 3, requires_grad=True)
with torch.no_grad():
    net.weight += scale * 0.1
```
## Not reported
```python
import torch
net = torch.nn.Linear(3, 1)
with torch.no_grad():
    net.weight.copy_(torch.zeros(1, 3))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.lines import under_no_grad
from analyzers.drafting.places.blocks import block_around
from analyzers.drafting.places.tree import at, statement_at
from analyzers.drafting.words import callers, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, _ in facts.saying("cannot assign"):
        if event.exception != "TypeError":
            continue
        loc = event.site.loc
        message = f"{said(facts, loc)} is a parameter, and only another `nn.Parameter` can replace it"
        yield Draft(loc, message, event, related=told(callers(event.site.via)), fixes=tuple(_wrap(facts, loc)))
    for event, _ in facts.saying("Cannot assign non-leaf"):
        loc = event.site.loc
        message = f"{said(facts, loc)} produces a tensor with a graph, and only a leaf can be a module's parameter"
        yield Draft(loc, message, event, related=told(callers(event.site.via)), fixes=tuple(_without_graph(facts, loc)))


def _wrap(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    torch = facts.places.imported_as(loc.module, "torch")
    match statement_at(facts, loc):
        case n.Assign(value=value) if torch is not None:
            text = f"{torch}.nn.Parameter({facts.text(at(loc, value))})"
            yield FixDraft("Make it a parameter", False, ((at(loc, value), text),))


def _without_graph(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    around = block_around(facts, loc)
    spot = around[0][around[1]] if around is not None else None
    changes = under_no_grad(facts, [spot]) if spot is not None and isinstance(spot[1], n.AugAssign) else None
    if changes is not None:
        yield FixDraft("Write under `torch.no_grad()`", True, changes)


RULE = Rule("AG116", "parameter-replaced-by-tensor", "A parameter is assigned a plain tensor", check, __doc__ or "")
