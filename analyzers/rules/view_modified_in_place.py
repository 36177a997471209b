"""A view is written in place that torch does not let one write to.

Pieces of `chunk`, `split` and `unbind` (iterating over a tensor is `unbind`) are several views of one tensor, and
autograd cannot record a write to one of them. A view made under `no_grad` or `inference_mode` has no place in the graph
that a write could change.

## Reported
```python
import torch
h = torch.ones(2, 3, requires_grad=True) * 1
for row in h:
    row.mul_(2)  # error: [view-modified-in-place]  # raises: RuntimeError "is a view and is being modified inplace"
```
## Not reported
An indexed row is a view of its own.
```python
import torch
h = torch.ones(2, 3, requires_grad=True) * 1
for i in range(2):
    h[i].mul_(2)
h.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.machine.events import Raised, ViewWritten
from analyzers.rules.base import Draft, Facts, Rule
from analyzers.rules.edits import out_of_place
from analyzers.rules.trace import Note, callers, said, told

HOW = {
    "no-grad": "was made under `no_grad`",
    "inference": "was made in inference mode",
    "multi": "is one of several views that `{}` returned",
    "custom": "is what a custom function returned of its input",
}


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(ViewWritten):
        yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: ViewWritten) -> Draft:
    loc = event.site.loc
    related: list[Note] = []
    if cause.lineage is not None and cause.lineage.loc is not None:
        related.append((cause.lineage.loc, "the view is made here"))
        related += callers(cause.lineage.via)
    how = HOW.get(cause.creation, "is a view").format(cause.made_by)
    used = "its base or another view of its base has been modified" in event.message
    verb = f"uses `{cause.name}` after its base was written; it" if used else f"writes to `{cause.name}`, which"
    fix = None if used else out_of_place(facts, loc)
    return Draft(
        loc, f"{said(facts, loc)} {verb} {how}", event,
        related=told(related, callers(event.site.via), besides=loc), fixes=(fix,) if fix is not None else (),
    )  # fmt: skip


RULE = Rule("AG106", "view-modified-in-place", "A view is written that cannot be written", check, __doc__ or "")
