"""A grad mode is used in `with` without being called.

`torch.no_grad` is a class; `with` needs one of its instances. As a decorator it works either way.

## Reported
```python
import torch
with torch.no_grad:  # error: [grad-mode-not-called]  # raises: TypeError "context manager protocol"
    pass
```
## Fixed
```python fixed
import torch
with torch.no_grad():
    pass
```
## Not reported
```python
import torch
@torch.no_grad
def predict(x):
    return x * 2
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, between, node_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event in facts.of(Raised):
        if event.message.endswith("object does not support the context manager protocol"):
            loc = _manager(facts, event.site.loc)
            message = f"{said(facts, loc)} is a class: call it, as in `with {facts.text(loc)}():`"
            call = FixDraft("Call it", True, ((between(loc, loc.end, loc.end), "()"),))
            yield Draft(loc, message, event, related=told(callers(event.site.via)), fixes=(call,))


def _manager(facts: Facts, loc: Loc) -> Loc:
    """The expression in the `with`, for an event that only has the statement."""
    match node_at(facts, loc):
        case n.With(items=items):
            for item in items:
                if not isinstance(item.context, n.Call):
                    return at(loc, item.context)
    return loc


RULE = Rule("AG119", "grad-mode-not-called", "A grad mode is used in `with` without a call", check, __doc__ or "")
