"""`detach_()` is called on a tensor that an earlier operator saved for backward.

The operator saved the tensor itself, and backward needs to know where that tensor came from; after `detach_()` this is
lost. `detach()` returns a new tensor and leaves the saved one alone.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w + 1
y = h**2
h.detach_()  # error: [saved-tensor-detached-in-place]
y.sum().backward()  # raises: RuntimeError "Trying to use a saved tensor that has been detached in-place"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
h = w + 1
y = h**2
h = h.detach()
y.sum().backward()
```
## Not reported
Addition saves neither operand.
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w + 1
y = h + 2
h.detach_()
y.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.pieces import rebind_detached
from analyzers.drafting.words import callers, origin, said, told


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("Trying to use a saved tensor that has been detached in-place"):
        loc = made.loc if made is not None and made.loc is not None else event.site.loc
        before = made.parents[0] if made is not None and made.parents else None
        notes = told(
            origin(before, "saved by an operator whose backward goes through it"),
            [(event.site.loc, "backward needs it here")],
            callers(event.site.via),
            besides=loc,
        )
        message = f"{said(facts, loc)} detaches in place a tensor that an earlier operator saved for backward"
        yield Draft(loc, message, event, related=notes, fixes=tuple(rebind_detached(facts, loc)))


RULE = Rule(
    "AG125", "saved-tensor-detached-in-place", "`detach_()` on a tensor saved for backward", check, __doc__ or ""
)
