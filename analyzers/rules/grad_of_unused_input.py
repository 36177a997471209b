"""`torch.autograd.grad` is asked for the gradient of a tensor that is not in the graph.

The output was computed without it, or from another tensor made of it before: `w.clone()`, or a new value bound to the
same name. With `allow_unused=True` the gradient is None.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
grads = torch.autograd.grad(loss, [w, b])  # error: [grad-of-unused-input]  # raises: RuntimeError "Tensor at index 1"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
grads = torch.autograd.grad(loss, [w, b], allow_unused=True)
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
grads = torch.autograd.grad(h.sum(), [w, h])
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.rules.base import Draft, Facts, FixDraft, Rule
from analyzers.rules.edits import add_argument, node_at
from analyzers.rules.trace import callers, origin, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, unused in facts.saying("The differentiated Tensor at index"):
        loc = event.site.loc
        call = node_at(facts, loc)
        fixes: tuple[FixDraft, ...] = ()
        if isinstance(call, n.Call) and not any(k.arg == "allow_unused" for k in call.keywords):
            change = add_argument(facts, loc, call, "allow_unused=True")
            fixes = (FixDraft("Allow unused inputs: their gradient is None", False, (change,)),)
        made = said(facts, unused.loc) if unused is not None and unused.loc is not None else "one of its inputs"
        message = f"{made} is not in the graph that `grad` walks"
        notes = told(origin(unused, "the unused tensor is made here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message[0].upper() + message[1:], event, related=notes, fixes=fixes)


RULE = Rule(
    "AG112", "grad-of-unused-input", "A gradient is asked for of a tensor outside the graph", check, __doc__ or ""
)
