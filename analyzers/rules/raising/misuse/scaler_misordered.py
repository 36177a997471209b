"""`GradScaler` is called out of order: a step needs gradients of a scaled loss, and an `update()` after it.

The order in each iteration is `scale(loss).backward()`, then `unscale_(optimizer)` if gradients are clipped, then
`step(optimizer)`, then `update()`. A scaler for a device that the machine does not have is disabled and never raises.

## Reported
```python
import torch
w = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(w(torch.ones(1, 2)).sum()).backward()
scaler.unscale_(opt)
scaler.unscale_(opt)  # error: [scaler-misordered]  # raises: RuntimeError "unscale_() has already been called"
```
## Reported: nothing was scaled
```python
import torch
w = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
w(torch.ones(1, 2)).sum().backward()
scaler.step(opt)  # error: [scaler-misordered]  # raises: AssertionError "Attempted step but _scale is None"
```
## Reported: a step without gradients
```python
import torch
w = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
loss = scaler.scale(w(torch.ones(1, 2)).sum())
scaler.step(opt)  # error: [scaler-misordered]  # raises: AssertionError "No inf checks were recorded"
```
## Not reported
```python
import torch
w = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(3):
    opt.zero_grad()
    scaler.scale(w(torch.ones(1, 2)).sum()).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(w.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.words import callers, said, told

_SAYINGS = {
    "unscale_() has already been called": "unscales the same gradients a second time",
    "unscale_() is being called after step()": "unscales gradients that `step` has already unscaled and used",
    "step() has already been called since the last update()": "steps a second time without `update()` in between",
    "No inf checks were recorded for this optimizer": "finds nothing to unscale: no backward reached its parameters",
    "No inf checks were recorded prior to update": "comes without a `step` or `unscale_` of the scaler before it",
    "Closure use is not currently supported": "does not accept a closure",
    "Attempted unscale_ but _scale is None": "comes before any loss was scaled: `scaler.scale(loss).backward()`",
    "Attempted step but _scale is None": "comes before any loss was scaled: `scaler.scale(loss).backward()`",
    "Attempted update but _scale is None": "comes before any loss was scaled: `scaler.scale(loss).backward()`",
}


def check(facts: Facts) -> Iterator[Draft]:
    for saying, fault in _SAYINGS.items():
        for event, _ in facts.saying(saying):
            loc = event.site.loc
            yield Draft(loc, f"{said(facts, loc)} {fault}", event, related=told(callers(event.site.via), besides=loc))


RULE = Rule("AG120", "scaler-misordered", "`GradScaler` is called out of order", check, __doc__ or "")
