"""A module's attribute is computed from a parameter, and is therefore not a parameter itself.

`nn.Parameter(...) * 0.02` and `nn.Parameter(...).to(device)` are plain tensors: the module registers no parameter, the
optimizer never sees one, and all iterations share the graph of that one computation.

## Reported
```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3)) * 0.02  # warning: [parameter-not-leaf]

    def forward(self, x):
        return (x * self.w).sum()


net = Scale()
net(torch.ones(3)).backward()
```
## Fixed
```python fixed
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3) * 0.02)

    def forward(self, x):
        return (x * self.w).sum()


net = Scale()
net(torch.ones(3)).backward()
```
## Not reported
The parameter itself is registered under another name.
```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(3))
        self.first = self.raw.exp()


Scale()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, statement_at
from analyzers.drafting.words import callers, told
from analyzers.machine.core.events import ParameterLost
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event in facts.of(ParameterLost):
        loc = event.site.loc
        message = f"`{event.owner}.{event.attr}` is computed from a parameter but is not one: no optimizer will find it"
        notes = told(callers(event.site.via), besides=loc)
        yield Draft(loc, message, effect="param-not-updated", related=notes, fixes=tuple(_wrap_all(facts, loc)))


def _wrap_all(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`Parameter(x) * s` becomes `Parameter(x * s)`."""
    statement = statement_at(facts, loc)
    if not isinstance(statement, n.Assign):
        return
    match statement.value:
        case n.BinOp(left=n.Call(func=func, args=(data,)) as made) as whole:
            pass
        case n.Call(func=n.Attribute(value=n.Call(func=func, args=(data,)) as made)) as whole:
            pass
        case _:
            return
    name = facts.text(at(loc, func))
    if not name.endswith("Parameter") or made.keywords:
        return
    inner, text = facts.text(at(loc, data)), facts.text(at(loc, whole))
    rest = text[len(facts.text(at(loc, made))) :]
    if isinstance(data, n.Name | n.Call | n.Attribute | n.Subscript):
        yield FixDraft("Make the result the parameter", True, ((at(loc, whole), f"{name}({inner}{rest})"),))


RULE = Rule(
    "AG205", "parameter-not-leaf", "A tensor computed from a parameter is not a parameter", check, __doc__ or ""
)
