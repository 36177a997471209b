"""A running total or a list keeps the graph of every iteration alive.

`total += loss` creates a tensor whose graph holds all losses so far, although backward is done with them, so memory
grows with each iteration. Keep the number (`loss.item()`) or the tensor without its graph (`loss.detach()`).

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
total = 0
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    total += loss  # warning: [graph-kept-across-iterations]
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
total = 0
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    total += loss.detach()
```
## A list of losses
```python
import torch
w = torch.ones(3, requires_grad=True)
losses = []
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    losses.append(loss)  # warning: [graph-kept-across-iterations]
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
losses = []
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    losses.append(loss.detach())
```
## A result that backward has already used
```python
import torch
net = torch.nn.Linear(2, 1)
memory = []
for step in range(3):
    seen = torch.ones(1, 2)
    value = net(seen)
    value.pow(2).sum().backward()
    memory.append((seen, value))  # warning: [graph-kept-across-iterations]
```
```python fixed
import torch
net = torch.nn.Linear(2, 1)
memory = []
for step in range(3):
    seen = torch.ones(1, 2)
    value = net(seen)
    value.pow(2).sum().backward()
    memory.append((seen, value.detach()))
```
## Reported: a total of a validation
No backward goes through it, and all its graphs stay until the loop ends.
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [torch.ones(2, 3)] * 3
for epoch in range(2):
    for x in batches:
        opt.zero_grad()
        net(x).pow(2).sum().backward()
        opt.step()
    total = 0.0
    for x in batches:
        out = net(x)  # info: [graph-built-for-evaluation]
        total += out.pow(2).mean()  # warning: [graph-kept-across-iterations]
    print(total / len(batches))
```
## Not reported
A network that sums up what its layers return, also where it is only looked at.
```python
import torch


class Sum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        total = 0.0
        for layer in self.layers:
            total = total + layer(x)
        return total


other, net = Sum(), torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
print(other(torch.ones(2, 3)).shape)
opt.zero_grad()
net(torch.ones(2, 3)).sum().backward()
opt.step()
```
What a network's layers make of one another is no total, also in a method that is only looked at.
```python
import torch


class Chain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        return self.mean(x)

    def mean(self, x):
        for layer in self.layers:
            x = torch.relu(x)
            x = x + layer(x)
        return x


net = Chain()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
print(net.mean(torch.ones(2, 3)).detach().numpy())
```
One backward on a sum of losses.
```python
import torch
w = torch.ones(3, requires_grad=True)
total = 0
for step in range(3):
    total += (w * w).sum()
total.backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.domain.lineage import BESIDE, PART, Lineage, Loc, graph_trail
from analyzers.domain.state import may_meet
from analyzers.drafting.base import Change, Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import behind
from analyzers.drafting.places.cuts import attached
from analyzers.drafting.places.tree import path_to, statement_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Freed, Raised
from analyzers.machine.core.events import BackwardCall, GraphGrew, GraphUnused, GraphUsed, ListEmptied
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    calls = [e for e in facts.of(BackwardCall) if e.lineage is not None]
    raised = {e.site.loc for e in facts.of(Raised)}
    seen: set[Loc] = set()
    carried = {cause.node.loc for _, cause in facts.raised(Freed)}
    unused = {e.site.loc for e in facts.of(GraphUnused)} - {e.site.loc for e in facts.of(GraphUsed)}
    unused = unused if facts.saw_the_end and calls else set()
    emptied = {(event.holder, loop) for event in facts.of(ListEmptied) for loop, _ in event.site.iterations}
    for event in facts.of(GraphGrew):
        loc = event.site.loc
        if loc in seen or loc in raised or not event.repeated:
            continue
        if event.how == "summed" and not (calls and facts.saw_the_end):
            continue  # a backward may come later
        if event.site.iterations and (event.holder, event.site.iterations[-1][0]) in emptied:
            continue
        met = [e for e in calls if may_meet(e.assumed, event.assumed)]
        roots = {id(e.lineage): e.site.loc for e in met}
        done = next((roots[id(s)] for s in _trail_of_itself(event.lineage) if id(s) in roots), None)
        parts = _parts_kept(event.lineage)
        if done is None and parts:
            walked = _walked_part(met, parts)
            if walked is None:
                continue  # what a model returns beside a loss need not have a graph
            done = walked if event.how == "accumulated" else None
        if done is None and event.how == "appended":
            done = _walked(facts, event)
        is_for_nothing = any(step.loc in unused for step in graph_trail(event.lineage))
        if event.how == "appended" and done is None and not event.done and not is_for_nothing:
            continue
        if any(s.loc in carried for s in graph_trail(event.lineage)):
            continue
        seen.add(loc)
        message = f"{said(facts, loc)} adds the graph of every iteration to `{event.name}`, where it stays in memory"
        ended = [(done, "backward is done with it here")] if done is not None else []
        notes = told(ended, callers(event.site.via), besides=loc)
        yield Draft(loc, message, effect="graph-grows", related=notes, fixes=tuple(_detach(facts, event, loc)))


def _trail_of_itself(lineage: Lineage) -> list[Lineage]:
    """The trail of a graph, without what a part of a presumed model's result has in common with the others."""
    trail = graph_trail(lineage)
    parts = [step for step in trail if step.what in {PART, BESIDE}]
    shared = {id(step) for part in parts for whole in part.parents for step in graph_trail(whole)}
    return [step for step in trail if id(step) not in shared]


def _parts_kept(lineage: Lineage | None) -> list[Lineage]:
    """The parts of a presumed model's result that are kept, or are added to a total as they are."""
    steps = () if lineage is None else (lineage, *lineage.parents)
    return [step for step in steps if step.what in {PART, BESIDE}]


def _walked_part(calls: Sequence[BackwardCall], parts: Sequence[Lineage]) -> Loc | None:
    """A backward whose root is computed from one of these parts, which has a graph, then."""
    wanted = {id(step) for step in parts}
    for call in calls:
        if call.lineage is not None and any(id(step) in wanted for step in graph_trail(call.lineage)):
            return call.site.loc
    return None


def _walked(facts: Facts, event: GraphGrew) -> Loc | None:
    """The backward that went through the value before it was kept, in the same iteration: what two iterations compute
    from the same tensors in the same way has one trail."""
    events = facts.run.events
    before = [e for e in events[: events.index(event)] if isinstance(e, BackwardCall)]
    for call in before[-3:]:
        now = call.site.iterations
        met = event.site.iterations[: len(now)] == now and may_meet(call.assumed, event.assumed)
        if met and call.lineage is not None and attached(call.lineage, event.lineage):
            return call.site.loc
    return None


def _detach(facts: Facts, event: GraphGrew, loc: Loc) -> Iterator[FixDraft]:
    """`.detach()` on the added value, on the right side of a plain assignment, or on the parts of a tuple."""
    call = path_to(facts, loc)[-1] if event.how == "appended" else statement_at(facts, loc)
    match call:
        case n.AugAssign(value=value) | n.Call(args=(value,)) | n.Assign(value=value):
            changes: tuple[Change, ...] = ()
            if isinstance(value, n.TupleExpr | n.ListExpr | n.DictExpr):
                graphs = {b.name for b in facts.run.bindings if b.lineage is not None and b.lineage.attached}
                parts = value.values if isinstance(value, n.DictExpr) else value.elts
                for part in parts:
                    if isinstance(part, n.Name) and part.id in graphs:
                        changes += behind(loc, part, ".detach()")
            elif not isinstance(value, n.SetExpr | n.Starred | n.ListComp | n.GeneratorExp | n.DictComp):
                changes = behind(loc, value, ".detach()")
            if changes:
                yield FixDraft("Keep it without its graph", True, changes)


RULE = Rule(
    "AG401", "graph-kept-across-iterations", "A total or a list keeps every iteration's graph", check, __doc__ or ""
)
