"""An optimizer is given something it cannot optimize: a tensor computed from others, or nothing at all.

An optimizer changes leaves. A tensor that was moved, scaled or reshaped after `requires_grad=True` is a result, and its
gradient stays None. An empty list usually comes from a module whose parameters were never registered.

## Reported
```python
import torch
w = torch.zeros(3, requires_grad=True) + 1
opt = torch.optim.SGD([w], lr=0.1)  # error: [optimizer-over-non-leaf]  # raises: ValueError "can't optimize a non-leaf"
```
```python fixed
import torch
w = (torch.zeros(3) + 1).requires_grad_()
opt = torch.optim.SGD([w], lr=0.1)
```
## Nothing to optimize
```python
import torch
opt = torch.optim.SGD([], lr=0.1)  # error: [optimizer-over-non-leaf]  # raises: ValueError "optimizer got an"
```
## A tensor instead of a list
```python
import torch
w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD(w, lr=0.1)  # error: [optimizer-over-non-leaf]  # raises: TypeError "params argument"
```
```python fixed
import torch
w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
```
## The network instead of its parameters
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net, lr=0.1)  # error: [optimizer-over-non-leaf]  # raises: TypeError "'Linear' object"
```
```python fixed
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
```
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters, lr=0.1)  # error: [optimizer-over-non-leaf]  # raises: TypeError "'method' object"
```
```python fixed
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
```
## Not reported
A detached copy is a leaf.
```python
import torch
w = (torch.zeros(3) + 1).requires_grad_()
opt = torch.optim.SGD([w], lr=0.1)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import leaf_of_result
from analyzers.drafting.places.tree import at, between, node_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.machine.core.causes import Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("can't optimize a non-leaf Tensor"):
        loc = event.site.loc
        message = f"{said(facts, loc)} is given a tensor computed from others, and an optimizer can only change leaves"
        notes = told(origin(made, "the tensor is computed here"), callers(event.site.via), besides=loc)
        fix = leaf_of_result(facts, made.loc) if made is not None and made.loc is not None else None
        yield Draft(loc, message, event, related=notes, fixes=(fix,) if fix is not None else ())
    for event, _ in facts.saying("optimizer got an empty parameter list"):
        message = f"{said(facts, event.site.loc)} is given no parameters at all"
        yield Draft(event.site.loc, message, event, related=told(callers(event.site.via)))
    yield from _not_a_list(facts)
    yield from _not_its_parameters(facts)


def _not_a_list(facts: Facts) -> Iterator[Draft]:
    for event, _ in facts.saying("params argument given to the optimizer"):
        loc = event.site.loc
        if not facts.is_certain(event):
            continue
        call = node_at(facts, loc)
        fixes: tuple[FixDraft, ...] = ()
        if isinstance(call, n.Call) and call.args:
            given = at(loc, call.args[0])
            fixes = (FixDraft("Put it in a list", True, ((given, f"[{facts.text(given)}]"),)),)
        message = f"{said(facts, loc)} is given one tensor instead of a list of tensors"
        yield Draft(loc, message, event, related=told(callers(event.site.via)), fixes=fixes)


def _not_its_parameters(facts: Facts) -> Iterator[Draft]:
    """`SGD(net)` and `SGD(net.parameters)`."""
    for event in facts.of(Raised):
        if not event.message.endswith("object is not iterable") or not facts.is_certain(event):
            continue
        loc = event.site.loc
        call = node_at(facts, loc)
        fixes: tuple[FixDraft, ...] = ()
        if isinstance(call, n.Call) and call.args:
            end = call.args[0].end
            suffix = "()" if event.message.startswith("'method'") else ".parameters()"
            fixes = (FixDraft("Pass it the parameters", True, ((between(loc, end, end), suffix),)),)
        message = f"{said(facts, loc)} is not given the parameters themselves"
        yield Draft(loc, message, event, related=told(callers(event.site.via)), fixes=fixes)


RULE = Rule(
    "AG115", "optimizer-over-non-leaf", "An optimizer is given a tensor that is not a leaf", check, __doc__ or "",
    settles=("AG103",),
)  # fmt: skip
