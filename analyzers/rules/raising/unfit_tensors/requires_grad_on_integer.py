"""A tensor of integers or booleans is asked to require grad.

Only floating point and complex tensors can have gradients. `torch.tensor([1, 2])` creates an integer tensor;
`torch.tensor([1.0, 2.0])` does not.

## Reported
```python
import torch
w = torch.tensor([1, 2], requires_grad=True)  # error: [requires-grad-on-integer]  # raises: RuntimeError "Only Tensors"
```
## Fixed
```python fixed
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
```
## Set later
```python
import torch
ids = torch.arange(3)
ids.requires_grad_()  # error: [requires-grad-on-integer]  # raises: RuntimeError "only Tensors of floating point"
```
## Not reported
```python
import torch
w = torch.tensor([1.0, 2], requires_grad=True)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import add_argument, float_literals
from analyzers.drafting.places.tree import node_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.machine.core.causes import IntegerFlag, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(IntegerFlag):
        loc = event.site.loc
        dtype = f" ({cause.dtype})" if cause.dtype is not None else ""
        whose = f" of `{cause.name}`, whose" if cause.name else ", and its"
        message = f"{said(facts, loc)} asks for gradients{whose} elements{dtype} cannot have any"
        notes = told(origin(cause.lineage, "the tensor is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(_fixes(facts, event)))


def _fixes(facts: Facts, event: Raised) -> Iterator[FixDraft]:
    loc = event.site.loc
    call = node_at(facts, loc)
    if not isinstance(call, n.Call) or not any(k.arg == "requires_grad" for k in call.keywords):
        return
    if any(k.arg == "dtype" for k in call.keywords):
        return
    literals = float_literals(loc, facts, call.args[0]) if call.args else None
    if literals and facts.text(loc).split("(")[0].endswith("tensor"):
        yield FixDraft("Make the numbers floating point", True, literals)
        return
    torch = facts.places.imported_as(loc.module, "torch")
    if torch is not None:
        change = add_argument(facts, loc, call, f"dtype={torch}.float32")
        yield FixDraft("Make the tensor floating point", True, (change,))


RULE = Rule("AG110", "requires-grad-on-integer", "An integer tensor is asked to require grad", check, __doc__ or "")
