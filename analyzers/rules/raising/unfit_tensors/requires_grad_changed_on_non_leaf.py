"""`requires_grad` is set on a tensor that was computed from others.

The flag can only be set on leaves; a result requires grad because its inputs do. To stop gradients there, detach it.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
h.requires_grad = False  # error: [requires-grad-changed-on-non-leaf]  # raises: RuntimeError "you can only"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
h = h.detach()
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
w.requires_grad = False
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, statement_at
from analyzers.drafting.words import callers, origin, told
from analyzers.machine.core.causes import FlagOnNonLeaf
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(FlagOnNonLeaf):
        loc = event.site.loc
        message = f"`{cause.name}` is computed from other tensors, so its `requires_grad` cannot be changed"
        notes = told(origin(cause.lineage, "it is computed here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(_detach(facts, loc)))


def _detach(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    statement = statement_at(facts, loc)
    match statement:
        case n.Assign(targets=(n.Attribute(value=n.Name(id=name)),), value=n.Constant(value=False)):
            yield FixDraft("Detach it instead", True, ((at(loc, statement), f"{name} = {name}.detach()"),))


RULE = Rule(
    "AG111", "requires-grad-changed-on-non-leaf", "`requires_grad` is set on a tensor that is not a leaf", check,
    __doc__ or "",
)  # fmt: skip
