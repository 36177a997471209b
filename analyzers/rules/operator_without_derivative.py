"""Autograd meets an operator that torch has no derivative for, or one that it refuses to record.

Most operators without derivative end the graph in silence. Some raise when they are called on a tensor that requires
grad, some only when backward reaches them, and none with `out=` can be recorded.

## Reported
```python
import torch
x = torch.ones(3, requires_grad=True)
out = torch.empty(3)
torch.mul(x, 2, out=out)  # error: [operator-without-derivative]  # raises: RuntimeError "don't support automatic"
```
## Not reported
```python
import torch
x = torch.ones(3, requires_grad=True)
out = torch.empty(3)
with torch.no_grad():
    torch.mul(x, 2, out=out)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.machine.events import Raised
from analyzers.rules.base import Draft, Facts, Rule
from analyzers.rules.trace import callers, origin, said, told


def check(facts: Facts) -> Iterator[Draft]:
    for event in facts.of(Raised):
        refused = any(part in event.message for part in ("support automatic differentiation", "is not differentiable"))
        if refused or event.message.startswith(
            ("derivative for", "the derivative for", "trying to differentiate twice")
        ):
            yield _draft(facts, event)


def _draft(facts: Facts, event: Raised) -> Draft:
    here = event.site.loc
    made = getattr(event.cause, "lineage", None)
    loc = made.loc if made is not None and made.loc is not None else here
    what = "writes to `out=`, which autograd cannot record" if "out=" in event.message else "has no derivative"
    notes = told([(here, "backward needs its gradient here")], origin(made, ""), callers(event.site.via), besides=loc)
    return Draft(loc, f"{said(facts, loc)} {what}", event, related=notes)


RULE = Rule(
    "AG121", "operator-without-derivative", "Backward needs a derivative that torch does not have", check, __doc__ or ""
)
