"""Backward is called without a gradient on a tensor with several elements or with complex numbers.

Torch does not assume that you want the gradient of the sum: reduce the losses to one number first, or pass backward
the gradient to start from. A tensor with one element is fine, whatever its shape. `DataParallel` returns a number from
each device where a module returns a single one, such as its loss.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
loss = w ** 2
loss.backward()  # error: [backward-on-non-scalar]  # raises: RuntimeError "grad can be implicitly created"
```
## Fixed
Only the author knows whether the mean or the sum is meant.
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
loss = w ** 2
loss.mean().backward()
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
loss = w ** 2
loss.sum().backward()
```
## Complex numbers
The square of a complex number is complex; an error is measured by the square of its magnitude.
```python
import torch
wave = torch.ones(4, requires_grad=True)
error = (torch.fft.fft(wave) ** 2).sum()
error.backward()  # error: [backward-on-non-scalar]  # raises: RuntimeError "created only for real"
```
```python fixed
import torch
wave = torch.ones(4, requires_grad=True)
error = (torch.fft.fft(wave).abs() ** 2).sum()
error.backward()
```
## Not reported
```python
import torch
w = torch.ones(1, 1, requires_grad=True)
(w ** 2).backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.domain.lineage import Lineage
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import behind
from analyzers.drafting.places.tree import before_dot, node_at
from analyzers.drafting.words import Note, callers, told
from analyzers.machine.core.causes import NonScalar, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(NonScalar):
        yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: NonScalar) -> Draft:
    loc = event.site.loc
    related: list[Note] = []
    steps = list(cause.lineage.walk(12)) if cause.lineage is not None else []
    is_complex = "real scalar" in event.message
    if steps and steps[0].loc is not None:
        related.append((steps[0].loc, "it is computed here" if is_complex else "it gets its shape here"))
        related += callers(steps[0].via)
    if is_complex:
        related += [(s.loc, "complex numbers come from here") for s in steps if s.loc is not None and "fft" in s.what]
        message = f"`{cause.name}` is complex, but backward starts from a real number: take `.abs()` or `.real` first"
        fixes = tuple(_magnitude(facts, steps))
        return Draft(loc, message, event, related=told(related, besides=loc), fixes=fixes)
    sizes = ["?" if size is None else str(size) for size in cause.shape or ()]
    shape = ", ".join(sizes) + ("," if len(sizes) == 1 else "")
    has = "more than one element" if cause.shape is None else f"shape ({shape})"
    message = f"`{cause.name}` has {has}: reduce it to one number, or pass `backward` a gradient"
    if cause.gathered:
        message = f"`{cause.name}` has a number from each device of `DataParallel`: take their mean or sum"
    notes = told(related, callers(event.site.via), besides=loc)
    return Draft(loc, message, event, related=notes, fixes=tuple(_fixes(facts, event)))


def _magnitude(facts: Facts, steps: Sequence[Lineage]) -> Iterator[FixDraft]:
    """`z ** 2` becomes `z.abs() ** 2`."""
    for step in steps:
        match node_at(facts, step.loc) if step.loc is not None else None:
            case n.BinOp(left=left, op="**") if step.loc is not None:
                yield FixDraft("Square the magnitude", False, behind(step.loc, left, ".abs()"))
                return


def _fixes(facts: Facts, event: Raised) -> Iterator[FixDraft]:
    call = node_at(facts, event.site.loc)
    if not isinstance(call, n.Call) or not isinstance(call.func, n.Attribute) or call.func.attr != "backward":
        return
    spot = before_dot(facts, event.site.loc, call.func)
    for how in ("mean", "sum"):
        yield FixDraft(f"Take the {how} of the elements", False, ((spot, f".{how}()"),))


RULE = Rule("AG107", "backward-on-non-scalar", "Backward needs a gradient for several elements", check, __doc__ or "")
