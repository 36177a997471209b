"""Modules or parameters are kept in a plain list, dict or tuple, so their owner does not know about them.

`parameters()` does not find them: the optimizer never updates them, `to()` does not move them, and `state_dict()` does
not save them. `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList` and `nn.ParameterDict` register what they hold.

## Reported
```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.ReLU()]  # warning: [modules-not-registered]
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
```
## Fixed
```python fixed
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
```
## Not reported
The list only gives an order to modules that are already registered.
```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.head = nn.Linear(2, 1)
        self.order = [self.body, self.head]

    def forward(self, x):
        for layer in self.order:
            x = layer(x)
        return x


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(1, 2)).sum().backward()
opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, path_to, statement_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import GradTaken, LeftOut
from analyzers.syntax import nodes as n

_DICTS = (n.DictExpr, n.DictComp)


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[tuple[str, str]] = set()
    for event in facts.of(LeftOut):
        if event.how not in {"container", "plain"} or (event.owner, event.attr) in seen:
            continue
        if event.how == "plain" and any(taken.leaf == event.parameter for taken in facts.of(GradTaken)):
            continue
        loc = _kept_at(facts, event)
        if loc is None:
            continue
        seen.add((event.owner, event.attr))
        step = said(facts, event.site.loc)
        name = f"`{event.owner}.{event.attr}`"
        if event.how == "plain":
            message = f"{name} is not an `nn.Parameter`, so {step} never updates it"
        else:
            message = (
                f"{name} is a plain {_kind(facts, loc)}, which registers nothing: {step} never updates what it holds"
            )
        notes = told([(event.site.loc, "the step leaves it out")], callers(event.site.via), besides=loc)
        yield Draft(loc, message, effect="param-not-updated", related=notes, fixes=tuple(_register(facts, loc)))


def _kept_at(facts: Facts, event: LeftOut) -> Loc | None:
    """Where the parameter was created, or the call that led there: the nearest one that mentions the attribute."""
    if event.lineage is None or event.lineage.loc is None:
        return None
    places = [event.lineage.loc, *reversed(event.lineage.via)]
    return next((loc for loc in places if n.mentions(statement_at(facts, loc), event.attr)), places[0])


def _kind(facts: Facts, loc: Loc) -> str:
    """Of the container."""
    match statement_at(facts, loc):
        case n.Assign(value=n.DictExpr() | n.DictComp()):
            return "dict"
        case n.Assign(value=n.TupleExpr()):
            return "tuple"
        case n.Assign(value=n.ListExpr() | n.ListComp()) | n.ExprStmt():
            return "list"
    return "container"


def _register(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    match statement_at(facts, loc):
        case n.Assign(
            targets=(n.Attribute(),),
            value=n.ListExpr() | n.ListComp() | n.TupleExpr() | n.DictExpr() | n.DictComp() as kept,
        ):
            made = next((node for node in reversed(path_to(facts, loc)) if isinstance(node, n.Call)), None)
            kind = (
                "Parameter" if made is not None and facts.text(at(loc, made.func)).endswith("Parameter") else "Module"
            )
            holder = kind + ("Dict" if isinstance(kept, _DICTS) else "List")
            prefix = facts.places.imported_as(loc.module, "torch.nn") or "torch.nn"
            text = facts.text(at(loc, kept))
            yield FixDraft(f"Keep it in `nn.{holder}`", True, ((at(loc, kept), f"{prefix}.{holder}({text})"),))


RULE = Rule("AG204", "modules-not-registered", "Modules in a plain container are not registered", check, __doc__ or "")
