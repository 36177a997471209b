"""A hook or `retain_grad()` is applied to a tensor that no gradient will ever reach.

## Reported
```python
import torch
x = torch.ones(3)
x.register_hook(print)  # error: [hook-without-grad]  # raises: RuntimeError "cannot register a hook"
```
## `retain_grad`
```python
import torch
x = torch.ones(3)
x.retain_grad()  # error: [hook-without-grad]  # raises: RuntimeError "can't retain_grad on Tensor"
```
## A result's `.grad`
Nothing is accumulated into it. A hook from `register_hook` receives its gradient.
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
h.register_post_accumulate_grad_hook(print)  # error: [hook-without-grad]  # raises: RuntimeError "post accumulate grad"
```
## Not reported
```python
import torch
x = torch.ones(3, requires_grad=True)
x.register_hook(print)
x.retain_grad()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.places.cuts import cuts
from analyzers.drafting.words import callers, explain_cut, origin, said, told
from analyzers.machine.core.causes import Plain


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("cannot register a hook on a tensor", "can't retain_grad on Tensor"):
        if isinstance(event.cause, Plain) and event.cause.note == "input-without-grad":
            continue
        loc = event.site.loc
        lost = [(step.loc, explain_cut(facts, step)) for step in cuts(made)[:3] if step.loc is not None]
        notes = told(lost, origin(made, "the tensor is created here"), callers(event.site.via), besides=loc)
        message = f"{said(facts, loc)} waits for the gradient of a tensor that does not require grad"
        yield Draft(loc, message, event, related=notes)
    for event, made in facts.saying("post accumulate grad hooks cannot be registered on non-leaf"):
        loc = event.site.loc
        notes = told(origin(made, "the tensor is computed here"), callers(event.site.via), besides=loc)
        message = f"{said(facts, loc)} waits for a `.grad` that is never written: the tensor is not a leaf"
        yield Draft(loc, message, event, related=notes)


RULE = Rule(
    "AG123", "hook-without-grad", "A hook is registered on a tensor that does not require grad", check, __doc__ or ""
)
