"""A tensor saved for backward is modified, but no version counter changes: the gradient is wrong and nothing raises.

`.data` has its own version counter, and a numpy array has none. A write through either to a tensor that an operator
saved for backward goes unnoticed: backward computes with the new values as if they had been there all along.

## Reported
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.data.zero_()  # warning: [data-write-hides-version]
y.sum().backward()
```
```python right
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
z = torch.zeros_like(y)
y.sum().backward()
```
## Not reported
Addition saves nothing, so nothing is lost.
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x + 1
y.data.zero_()
y.sum().backward()
```
A write after backward does no harm.
```python
import torch
w = torch.ones(3, requires_grad=True)
w.pow(2).sum().backward()
w.data.sub_(0.1 * w.grad)
```
Create a new tensor instead, or write under `torch.no_grad()`, which does update the counter.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.edits.rebuilding import compute_after
from analyzers.drafting.words import callers, told
from analyzers.machine.core.events import HiddenWrite


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[tuple[Loc, Loc | None]] = set()
    for event in facts.of(HiddenWrite):
        loc, kept = event.write.loc, event.node.loc
        if loc is None or (loc, kept) in seen:
            continue
        seen.add((loc, kept))
        maker = f"`{facts.text(kept)}`" if kept is not None else f"`{event.node.what}`"
        message = (
            f"`{facts.text(loc)}` changes what {maker} saved for backward: gradients are wrong, and nothing raises"
        )
        kept_here = [(kept, "saved for backward here"), *callers(event.node.via)] if kept is not None else []
        used_here = [(event.site.loc, "backward computes with the changed numbers here"), *callers(event.site.via)]
        written = callers(event.write.via)
        saved = (*event.node.via, kept) if kept is not None else event.node.via
        by_step = event.write.what == "step"
        fix = compute_after(facts, saved, [(loc, event.write.via)], event.site) if by_step else None
        yield Draft(
            loc, message, effect="wrong-gradient", related=told(kept_here, written, used_here, besides=loc),
            fixes=(fix,) if fix is not None else (),
        )  # fmt: skip


RULE = Rule(
    "AG207",
    "data-write-hides-version",
    "A write that no version counter sees changes what backward needs",
    check,
    __doc__ or "",
)
