"""`torch.autograd.grad` or `backward(inputs=...)` is asked for the gradient of a tensor that does not require grad.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(3)
(w * x).sum().backward(inputs=[w, x])  # error: [grad-of-input-without-grad]  # raises: RuntimeError "can't retain_grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(3, requires_grad=True)
(w * x).sum().backward(inputs=[w, x])
```
```python
import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(3)
loss = (w * x).sum()
grads = torch.autograd.grad(loss, [x])  # error: [grad-of-input-without-grad]  # raises: RuntimeError "One of the diff"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(3, requires_grad=True)
loss = (w * x).sum()
grads = torch.autograd.grad(loss, [x])
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
grads = torch.autograd.grad((w * 2).sum(), [w])
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.regrading import require
from analyzers.drafting.places.cuts import cuts
from analyzers.drafting.words import callers, explain_cut, origin, said, told
from analyzers.machine.core.causes import Plain


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(Plain):
        if cause.note != "input-without-grad":
            continue
        plain = cause.lineage
        loc = event.site.loc
        made = said(facts, plain.loc) if plain is not None and plain.loc is not None else "One of the inputs"
        message = f"{made} does not require grad, so it has no gradient to ask for"
        lost = [(step.loc, explain_cut(facts, step)) for step in cuts(plain)[:3] if step.loc is not None]
        notes = told(lost, origin(plain, "the tensor is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(require(facts, plain, safe=True)))


RULE = Rule(
    "AG113",
    "grad-of-input-without-grad",
    "A gradient is requested for a tensor that does not require grad",
    check,
    __doc__ or "",
)
