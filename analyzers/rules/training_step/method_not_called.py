"""A statement names a method but does not call it: the parentheses are missing.

`loss.backward`, `opt.step` and `opt.zero_grad` are ordinary expressions: Python looks up the method and discards it.

## Reported
```python
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = (w - 2).pow(2).sum()
    loss.backward  # warning: [method-not-called]
    opt.step()
```
## Fixed
```python fixed
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = (w - 2).pow(2).sum()
    loss.backward()
    opt.step()
```
## Reported: gradients that are never cleared
```python
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad  # warning: [method-not-called]
    (w - 2).pow(2).sum().backward()
    opt.step()
```
```python fixed
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad()
    (w - 2).pow(2).sum().backward()
    opt.step()
```
## Not reported
```python
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
clear = opt.zero_grad
clear()
(w - 2).pow(2).sum().backward()
opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.training import effect_on, trained
from analyzers.drafting.places.tree import between
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import NotCalled
from analyzers.report import Effect

_EFFECTS: dict[str, Effect] = {
    "backward": "param-not-updated",
    "step": "param-not-updated",
    "zero_grad": "grad-accumulates",
    "zero_": "grad-accumulates",
    "eval": "no-effect-assignment",
    "train": "no-effect-assignment",
    "update": "no-effect-assignment",
    "unscale_": "no-effect-assignment",
}


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[Loc] = set()
    for event in facts.of(NotCalled):
        loc = event.site.loc
        acts = event.method in _EFFECTS or (event.owner == "tensor" and event.method.endswith("_"))
        detaches = event.method == "detach" and bool(event.leaves)
        if loc in seen or not (acts or detaches):
            continue
        seen.add(loc)
        effect = effect_on(event.leaves, trained(facts)) if detaches else _EFFECTS.get(event.method)
        message = f"{said(facts, loc)} names the method but does not call it"
        fixes: tuple[FixDraft, ...] = ()
        if not detaches and (event.owner != "tensor" or event.method in {"backward", "zero_"}):
            fixes = (FixDraft("Call it", True, ((between(loc, loc.end, loc.end), "()"),)),)
        notes = told(callers(event.site.via), besides=loc)
        yield Draft(loc, message, effect=effect or "no-effect-assignment", related=notes, fixes=fixes)


RULE = Rule("AG306", "method-not-called", "A method is named but not called", check, __doc__ or "")
