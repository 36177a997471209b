"""`torch.autograd.grad` is asked for the gradient of a tensor that is not in the graph.

The output was computed without it, or from a different tensor that was derived from it: `w.clone()`, or a new value
bound to the same name. With `allow_unused=True` the gradient is None, and a line that uses that None raises.

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
## The None is used
```python
import torch
w = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
grads = torch.autograd.grad(loss, [w, b], allow_unused=True)  # error: [grad-of-unused-input]
norm = sum(g.norm() for g in grads)  # raises: AttributeError "'NoneType' object has no attribute 'norm'"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
grads = torch.autograd.grad(loss, [w, b], allow_unused=True, materialize_grads=True)
norm = sum(g.norm() for g in grads)
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
grads = torch.autograd.grad(h.sum(), [w, h])
```
```python
import torch
w = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)
grads = torch.autograd.grad((w * 2).sum(), [w, b], allow_unused=True)
norm = sum(g.norm() for g in grads if g is not None)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import add_argument
from analyzers.drafting.places.tree import node_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.machine.core.causes import UNUSED, Plain, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, unused in facts.saying("The differentiated Tensor at index"):
        loc = event.site.loc
        fixes = _with_argument(facts, loc, "allow_unused", "Allow unused inputs: their gradient is None")
        message = f"{_made(facts, unused)} is not in the graph that `grad` walks"
        notes = told(origin(unused, "the unused tensor is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message[0].upper() + message[1:], event, related=notes, fixes=fixes)
    for event, cause in facts.raised(Plain):
        if cause.lineage is not None and cause.lineage.what == UNUSED and cause.lineage.loc is not None:
            yield _none_used(facts, event, cause.lineage, cause.lineage.loc)


def _none_used(facts: Facts, event: Raised, none: Lineage, asked: Loc) -> Draft:
    unused = none.parents[0] if none.parents else None
    fixes = _with_argument(facts, asked, "materialize_grads", "Use zeros for unused inputs")
    message = (
        f"{_made(facts, unused)} is not in the graph that `grad` walks, so its gradient is None, and using it raises"
    )
    notes = [
        *origin(unused, "the unused tensor is created here"),
        *callers(none.via),
        (event.site.loc, "the None is used here"),
    ]
    related = told(notes, callers(event.site.via), besides=asked)
    return Draft(asked, message[0].upper() + message[1:], event, related=related, fixes=fixes)


def _made(facts: Facts, unused: Lineage | None) -> str:
    return said(facts, unused.loc) if unused is not None and unused.loc is not None else "one of its inputs"


def _with_argument(facts: Facts, loc: Loc, name: str, title: str) -> tuple[FixDraft, ...]:
    """The call of `grad` at `loc` with this argument set to True, unless it already passes it."""
    call = node_at(facts, loc)
    if not isinstance(call, n.Call) or any(keyword.arg == name for keyword in call.keywords):
        return ()
    return (FixDraft(title, False, (add_argument(facts, loc, call, f"{name}=True"),)),)


RULE = Rule(
    "AG112", "grad-of-unused-input", "A gradient is requested for a tensor outside the graph", check, __doc__ or ""
)
