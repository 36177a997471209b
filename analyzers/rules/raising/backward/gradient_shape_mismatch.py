"""The gradient passed to backward has a different shape from the tensor.

Backward starts from the gradient of its root, which needs one number for each element of the root.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.backward(torch.ones(2))  # error: [gradient-shape-mismatch]  # raises: RuntimeError "Mismatch in shape"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.backward(torch.ones_like(y))
```
## A gradient that is assigned
```python
import torch
w = torch.ones(3, requires_grad=True)
w.grad = torch.ones(1, 3)  # error: [gradient-shape-mismatch]  # raises: RuntimeError "attempting to assign a gradient"
```
```python right
import torch
w = torch.ones(3, requires_grad=True)
w.grad = torch.ones_like(w)
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.backward(torch.ones(3))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, node_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, given in facts.saying("Mismatch in shape: grad_output"):
        loc = event.site.loc
        message = f"{said(facts, loc)} gets a gradient whose shape differs from the tensor's"
        notes = told(origin(given, "the gradient is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(_ones(facts, loc)))
    for event, given in facts.saying("attempting to assign a gradient"):
        loc = event.site.loc
        what = "shape" if event.message.endswith("size") else "type"
        message = f"{said(facts, loc)} is assigned a gradient whose {what} differs from the tensor's"
        notes = told(origin(given, "the gradient is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes)


def _ones(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`torch.ones(...)` is the gradient of a sum; `ones_like` always has the right shape."""
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(value=root), args=(n.Call(func=n.Attribute(attr="ones") as made) as ones, *_)):
            text = f"{facts.text(at(loc, made.value))}.ones_like({facts.text(at(loc, root))})"
            yield FixDraft("Use ones in the tensor's own shape", True, ((at(loc, ones), text),))


RULE = Rule(
    "AG108", "gradient-shape-mismatch", "The gradient passed to backward has a different shape from the tensor", check,
    __doc__ or "",
)  # fmt: skip
