"""A custom function's `forward` is called directly, so its `backward` never runs.

Only `apply` adds the function's own node to the graph. When `forward` is called like any other function, it is
differentiated operator by operator: the gradient comes from its code, not from the `backward` written for it.

## Reported
```python
import torch
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()
    @staticmethod
    def backward(ctx, grad):
        return grad
x = torch.ones(3, requires_grad=True)
y = Round.forward(None, x)  # warning: [custom-forward-bypasses-graph]
y.sum().backward()
```
## Fixed
```python fixed
import torch
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()
    @staticmethod
    def backward(ctx, grad):
        return grad
x = torch.ones(3, requires_grad=True)
y = Round.apply(x)
y.sum().backward()
```
## Reported: `forward` without a context
```python
import torch
class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(-1, 1)
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, grad):
        return grad
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
    def forward(self, x):
        return Clamp.forward(100 * self.lin(x))  # warning: [custom-forward-bypasses-graph]
net = Net()
net(torch.ones(1, 2)).sum().backward()
```
```python fixed
import torch
class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(-1, 1)
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, grad):
        return grad
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
    def forward(self, x):
        return Clamp.apply(100 * self.lin(x))
net = Net()
net(torch.ones(1, 2)).sum().backward()
```
## Not reported
A custom function that uses another's `forward`, and a call whose result is not used in backward.
```python
import torch
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()
    @staticmethod
    def backward(ctx, grad):
        return grad
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * Round.forward(ctx, x)
    @staticmethod
    def backward(ctx, grad):
        return 2 * grad
x = torch.ones(3, requires_grad=True)
assert torch.equal(Round.forward(None, x), Round.apply(x))
Twice.apply(x).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import between, node_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import CustomBypassed
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[Loc] = set()
    for event in facts.of(CustomBypassed):
        loc = event.site.loc
        if loc in seen:
            continue
        seen.add(loc)
        message = f"{said(facts, loc)} bypasses the graph: `{event.name}.backward` is never called"
        notes = told(callers(event.site.via), besides=loc)
        fixes = tuple(_apply(facts, event, loc))
        yield Draft(loc, message, effect="wrong-gradient", related=notes, fixes=fixes)


def _apply(facts: Facts, event: CustomBypassed, loc: Loc) -> Iterator[FixDraft]:
    """`F.forward(ctx, x)` becomes `F.apply(x)`."""
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(attr="forward") as func, args=(first, *others), keywords=()):
            edits = [(between(loc, func.attr_start, func.end), "apply")]
            if event.takes_context:
                end = others[0].start if others else first.end
                edits.append((between(loc, first.start, end), ""))
            yield FixDraft("Call `apply`", False, tuple(edits))


RULE = Rule(
    "AG209",
    "custom-forward-bypasses-graph",
    "A custom function's `forward` is called directly, not through `apply`",
    check,
    __doc__ or "",
)
