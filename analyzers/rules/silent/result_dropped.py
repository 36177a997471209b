"""A statement computes a tensor and drops it, so what it was meant to change stays unchanged.

`w.sub(lr * g)` and `h.detach()` return new tensors. Without a trailing underscore, or a name to hold the result, they
have no effect: the parameter is not updated, the gradient is not clipped, the target still has its graph.

## Reported
```python
import torch
w = torch.tensor([3.0, -3.0], requires_grad=True)
for step in range(3):
    w.square().sum().backward()
    w.data.sub(0.1 * w.grad)  # warning: [result-dropped]
    w.grad.zero_()
```
## Fixed
```python fixed
import torch
w = torch.tensor([3.0, -3.0], requires_grad=True)
for step in range(3):
    w.square().sum().backward()
    w.data.sub_(0.1 * w.grad)
    w.grad.zero_()
```
## Reported: a target that keeps its graph
```python
import torch
net = torch.nn.Linear(2, 1)
goal = net(torch.ones(1, 2)) + 1
goal.detach()  # warning: [result-dropped]
(net(torch.zeros(1, 2)) - goal).pow(2).sum().backward()
```
```python fixed
import torch
net = torch.nn.Linear(2, 1)
goal = net(torch.ones(1, 2)) + 1
goal = goal.detach()
(net(torch.zeros(1, 2)) - goal).pow(2).sum().backward()
```
Several at once:
```python
import torch
net = torch.nn.Linear(2, 1)
goal, other = net(torch.ones(1, 2)) + 1, net(torch.ones(1, 2)) + 2
goal.detach(), other.detach()  # warning: [result-dropped]  # warning: [result-dropped]
(net(torch.zeros(1, 2)) - goal - other).pow(2).sum().backward()
```
```python fixed
import torch
net = torch.nn.Linear(2, 1)
goal, other = net(torch.ones(1, 2)) + 1, net(torch.ones(1, 2)) + 2
goal, other = goal.detach(), other.detach()
(net(torch.zeros(1, 2)) - goal - other).pow(2).sum().backward()
```
## Not reported
The tensor that was not detached is never used, and a norm is not expected to change anything.
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w * 2
y.detach()
w.norm()
(w * w).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.cuts import attached
from analyzers.drafting.places.training import effect_on, trained
from analyzers.drafting.places.tree import at, between, node_at, statement_at
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.events import BackwardCall, Dropped
from analyzers.report import Effect
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[Loc] = set()
    for event in facts.of(Dropped):
        loc = event.site.loc
        if loc in seen:
            continue
        notes: list[Note] = []
        effect: Effect = "param-not-updated" if event.source == "leaf" else "no-effect-assignment"
        message = f"{said(facts, loc)} returns a new tensor, which is dropped: nothing changes"
        if event.source == "graph":
            backward = _flows(facts, event)
            if backward is None:
                continue
            effect = effect_on(event.leaves, trained(facts))
            message = f"{said(facts, loc)} returns a new tensor, which is dropped: the original keeps its graph"
            notes.append((backward.site.loc, "this backward goes through it"))
        seen.add(loc)
        fixes = tuple(_fixes(facts, event, loc))
        yield Draft(loc, message, effect=effect, related=told(notes, callers(event.site.via), besides=loc), fixes=fixes)


def _flows(facts: Facts, event: Dropped) -> BackwardCall | None:
    """The backward that goes through what a dropped `detach()` was made of."""
    source = event.lineage.parents[0]
    events = facts.run.events
    for later in events[events.index(event) :]:
        if isinstance(later, BackwardCall) and later.lineage is not None and attached(later.lineage, source):
            return later
    return None


def _fixes(facts: Facts, event: Dropped, loc: Loc) -> Iterator[FixDraft]:
    call = node_at(facts, loc)
    if not isinstance(call, n.Call) or not isinstance(call.func, n.Attribute):
        return
    func = call.func
    if event.what == "detach":
        statement = statement_at(facts, loc)
        alone = isinstance(statement, n.ExprStmt) and statement.value is call
        if alone and isinstance(func.value, n.Name | n.Attribute):
            name = facts.text(at(loc, func.value))
            yield FixDraft("Assign the detached tensor", True, ((between(loc, call.start, call.start), f"{name} = "),))
        elif isinstance(statement, n.ExprStmt) and isinstance(statement.value, n.TupleExpr):
            names = [
                facts.text(at(loc, part.func.value)) for part in statement.value.elts
                if isinstance(part, n.Call) and isinstance(part.func, n.Attribute) and part.func.attr == "detach"
                and isinstance(part.func.value, n.Name | n.Attribute)
            ]  # fmt: skip
            if len(names) == len(statement.value.elts) > 1:
                start = between(loc, statement.start, statement.start)
                yield FixDraft("Assign the detached tensors", True, ((start, f"{', '.join(names)} = "),))
    elif not isinstance(func.value, n.Call):
        plain = between(loc, func.end, func.end)
        yield FixDraft(f"Write in place: `{func.attr}_`", True, ((plain, "_"),))


RULE = Rule(
    "AG210", "result-dropped", "A tensor is computed and dropped where a change was intended", check, __doc__ or ""
)
