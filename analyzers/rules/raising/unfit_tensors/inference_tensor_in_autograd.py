"""A tensor created in inference mode is used where autograd has to save or change it.

Inference tensors have no version counter, so backward could not tell whether they were modified: they cannot be saved,
written outside inference mode, or made to require grad. A copy made outside (`t.clone()`) is an ordinary tensor.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
with torch.inference_mode():
    features = torch.ones(3)
y = w * features  # error: [inference-tensor-in-autograd]  # raises: RuntimeError "Inference tensors cannot"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    features = torch.ones(3)
y = w * features
```
## Written outside the mode
```python
import torch
with torch.inference_mode():
    features = torch.ones(3)
features.add_(1)  # error: [inference-tensor-in-autograd]  # raises: RuntimeError "Inplace update to inference"
```
```python fixed
import torch
with torch.no_grad():
    features = torch.ones(3)
features.add_(1)
```
## Not reported
Addition saves nothing.
```python
import torch
w = torch.ones(3, requires_grad=True)
with torch.inference_mode():
    features = torch.ones(3)
y = w + features
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.cuts import switched_off
from analyzers.drafting.places.tree import between
from analyzers.drafting.words import callers, origin, said, told

WHAT = {
    "Inference tensors cannot be saved": "has to save a tensor created in inference mode, and autograd cannot do that",
    "Inplace update to inference tensor": "writes to a tensor created in inference mode, outside that mode",
    "Setting requires_grad=True on inference": "asks for gradients of a tensor created in inference mode",
    "Inference tensors do not track version": "reads the version of a tensor created in inference mode, which has none",
}


def check(facts: Facts) -> Iterator[Draft]:
    for start, what in WHAT.items():
        for event, made in facts.saying(start):
            loc = event.site.loc
            mode = _mode(facts, made)
            notes = told(
                [(mode, "inference mode begins here")] if mode is not None else [],
                origin(made, "the tensor is created here"), callers(event.site.via), besides=loc,
            )  # fmt: skip
            fixes = tuple(_no_grad(facts, mode)) if mode is not None else ()
            yield Draft(loc, f"{said(facts, loc)} {what}", event, related=notes, fixes=fixes)


def _mode(facts: Facts, made: Lineage | None) -> Loc | None:
    """The nearest `inference_mode` around the place where the tensor, or one it came from, was created."""
    for step in made.walk(60) if made is not None else ():
        found = switched_off(facts, step)
        if found is not None and "inference_mode" in facts.text(found[0]):
            return found[0]
    return None


def _no_grad(facts: Facts, mode: Loc) -> Iterator[FixDraft]:
    if re.fullmatch(r"(\w+\.)+inference_mode\(\)", facts.text(mode)):
        end = mode.end - len("()")
        change = (between(mode, end - len("inference_mode"), end), "no_grad")
        yield FixDraft("Use `no_grad`, which creates ordinary tensors", True, (change,))


RULE = Rule(
    "AG114",
    "inference-tensor-in-autograd",
    "A tensor created in inference mode is used by autograd",
    check,
    __doc__ or "",
)
