"""An in-place write reads the memory it writes to at different positions, or writes several elements to one position.

Torch would overwrite an element before reading it, so it refuses. Copying what is read makes the write possible; an
expanded tensor must be copied before it is written.

## Reported
```python
import torch
w = torch.ones(4, requires_grad=True)
h = w * 2
h[1:] += h[:-1]  # error: [overlapping-memory-written]  # raises: RuntimeError "unsupported operation: some elements"
h.sum().backward()
```
## Fixed
```python fixed
import torch
w = torch.ones(4, requires_grad=True)
h = w * 2
h[1:] += h[:-1].clone()
h.sum().backward()
```
## Reported: an expanded tensor
```python
import torch
mask = torch.ones(3).expand(2, 3)
mask.mul_(0.5)  # error: [overlapping-memory-written]  # raises: RuntimeError "unsupported operation: more than one"
```
## Reported: an expanded tensor filled
Filling it is allowed. Its backward fills the gradient of the whole tensor in the same way, and torch refuses that.
```python
import torch
w = torch.ones(3, requires_grad=True)
h = (w * 2).expand(2, 3)
h.fill_(0.5)  # error: [overlapping-memory-written]
h.sum().backward()  # raises: RuntimeError "unsupported operation: more than one"
```
## Not reported
The two parts do not overlap.
```python
import torch
w = torch.ones(4, requires_grad=True)
h = w + 1
h[2:] += h[:2]
h.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, statement_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.machine.core.causes import Plain, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("unsupported operation: some elements of the input tensor"):
        loc = event.site.loc
        notes = told(origin(made, "the memory is created here"), callers(event.site.via), besides=loc)
        message = f"{said(facts, loc)} reads from the memory it writes to, at different positions"
        yield Draft(loc, message, event, related=notes, fixes=tuple(_copy(facts, loc)))
    for event, made in facts.saying("unsupported operation: more than one element of the written-to tensor"):
        yield _into_itself(facts, event, made)


def _into_itself(facts: Facts, event: Raised, made: Lineage | None) -> Draft:
    here = event.site.loc
    if isinstance(event.cause, Plain) and event.cause.note == "overlap-in-backward" and made is not None and made.loc:
        notes = told(
            [(here, "backward writes the gradient of the whole tensor here")], callers(made.via), besides=made.loc
        )
        message = f"{said(facts, made.loc)} writes to a tensor whose elements share memory, and so will its backward"
        return Draft(made.loc, message, event, related=notes)
    notes = told(origin(made, "created here, with elements that share memory"), callers(event.site.via), besides=here)
    return Draft(here, f"{said(facts, here)} writes to a tensor whose elements share memory", event, related=notes)


def _copy(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    match statement_at(facts, loc):
        case n.AugAssign(value=n.Name() | n.Attribute() | n.Subscript() | n.Call() as value):
            copied = f"{facts.text(at(loc, value))}.clone()"
            yield FixDraft("Copy what is read", True, ((at(loc, value), copied),))


RULE = Rule(
    "AG124", "overlapping-memory-written", "An in-place write overlaps what it reads, or itself", check, __doc__ or ""
)
