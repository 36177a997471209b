"""The gradient handed to backward has another shape than the tensor.

Backward starts from the gradient of its root, which has one number for each of the root's elements.

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
from analyzers.rules.base import Draft, Facts, FixDraft, Rule
from analyzers.rules.edits import at, node_at
from analyzers.rules.trace import callers, origin, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, given in facts.saying("Mismatch in shape: grad_output"):
        loc = event.site.loc
        message = f"{said(facts, loc)} gets a gradient of another shape than the tensor has"
        notes = told(origin(given, "the gradient is made here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(_ones(facts, loc)))


def _ones(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`torch.ones(...)` is the gradient of a sum; `ones_like` is always of the right shape."""
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(value=root), args=(n.Call(func=n.Attribute(attr="ones") as made) as ones, *_)):
            text = f"{facts.text(at(loc, made.value))}.ones_like({facts.text(at(loc, root))})"
            yield FixDraft("Take ones of the tensor's own shape", True, ((at(loc, ones), text),))


RULE = Rule(
    "AG108", "gradient-shape-mismatch", "The gradient handed to backward has another shape than the tensor", check,
    __doc__ or "",
)  # fmt: skip
