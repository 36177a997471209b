"""`detach_()` is called on a view.

A view shares its place in the graph with its base, so it cannot be detached alone; `detach()` returns a new tensor.

## Reported
```python
import torch
w = torch.ones(2, 3, requires_grad=True)
h = (w * 2)[0]
h.detach_()  # error: [view-detached-in-place]  # raises: RuntimeError "Can't detach views in-place"
```
## Fixed
```python fixed
import torch
w = torch.ones(2, 3, requires_grad=True)
h = (w * 2)[0]
h = h.detach()
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
h.detach_()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.pieces import rebind_detached
from analyzers.drafting.words import callers, origin, said, told


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("Can't detach views in-place"):
        loc = event.site.loc
        notes = told(origin(made, "the view is created here"), callers(event.site.via), besides=loc)
        message = f"{said(facts, loc)} is called on a view, which cannot be detached in place"
        yield Draft(loc, message, event, related=notes, fixes=tuple(rebind_detached(facts, loc)))


RULE = Rule("AG122", "view-detached-in-place", "`detach_()` is called on a view", check, __doc__ or "")
