"""A module runs in a loop and builds a graph each time, but no backward ever uses it.

Without `torch.no_grad()` every forward pass saves what its backward would need, so evaluation takes as much memory as
training.

## Reported
```python
import torch
net = torch.nn.Linear(2, 2)
net.eval()
right = 0
for x, y in [(torch.ones(3, 2), torch.zeros(3)), (torch.zeros(3, 2), torch.ones(3))]:
    out = net(x)  # info: [graph-built-for-evaluation]
    right += (out.argmax(dim=1) == y).sum().item()
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(2, 2)
net.eval()
right = 0
for x, y in [(torch.ones(3, 2), torch.zeros(3)), (torch.zeros(3, 2), torch.ones(3))]:
    with torch.no_grad():
        out = net(x)
    right += (out.argmax(dim=1) == y).sum().item()
```
## Reported: a policy that only acts
```python
import torch
policy = torch.nn.Linear(3, 2)
state = torch.ones(3)
for step in range(3):
    scores = policy(state)  # info: [graph-built-for-evaluation]
    action = int(scores.argmax())
    state = torch.full((3,), float(action))
```
## Reported: one graph by several modules, where it begins
```python
import torch
encode, decode = torch.nn.Linear(3, 2), torch.nn.Linear(2, 3)
error = torch.nn.MSELoss()
total = 0.0
for x in torch.ones(3, 1, 3):
    code = encode(x)  # info: [graph-built-for-evaluation]
    total += error(decode(torch.cat([code.relu()])), x).item()
```
## Reported: a `forward` that is called by name
```python
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return self.other(self.one(x).relu())
net = Net()
right = 0
for x in torch.ones(3, 1, 2):
    right += int(net.forward(x).argmax())  # info: [graph-built-for-evaluation]
```
## Reported: a method that computes, where it is called
```python
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.cell = torch.nn.Embedding(4, 2), torch.nn.Linear(2, 4)
    def decode(self, token):
        return self.cell(self.table(token))
net = Net()
token = torch.tensor([0])
for step in range(3):
    token = net.decode(token).argmax(dim=1)  # info: [graph-built-for-evaluation]
```
## Not reported
A forward pass that is followed by backward, whatever mode the module is in.
```python
import torch
net = torch.nn.Linear(2, 2)
net.eval()
for step in range(3):
    image = torch.ones(1, 2, requires_grad=True)
    score = net(image).max()
    (wanted,) = torch.autograd.grad(score, image)
```
Forward passes whose losses share one backward.
```python
import torch
net = torch.nn.Linear(2, 2)
losses = []
for step in range(3):
    losses.append(net(torch.ones(1, 2)).pow(2).mean())
torch.stack(losses).sum().backward()
```
Modules that are made and shown, one by one.
```python
import torch
for size in (2, 3, 4):
    net = torch.nn.Linear(size, 1)
    print(net(torch.ones(1, size)).shape)
```
Of several results of a pass, one that is not needed.
```python
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.squash = torch.nn.Linear(2, 1), torch.nn.Sigmoid()
    def forward(self, x):
        made = self.body(x)
        return made, self.squash(made)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(3, 1, 2):
    made, _ = net.forward(x)
    opt.zero_grad()
    made.sum().backward()
    opt.step()
```
A single pass, and one whose graph the program drops itself.
```python
import torch
net, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
print(net(torch.ones(1, 2)).shape)
opt = torch.optim.SGD(judge.parameters(), lr=0.1)
for step in range(3):
    made = net(torch.randn(4, 2)).tanh().detach()
    opt.zero_grad()
    judge(made).pow(2).mean().backward()
    opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.lines import under_no_grad
from analyzers.drafting.places.tree import at, path_to, statement_at
from analyzers.drafting.places.unreached import parameters_left_out
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import EndedAtCut, GraphUnused, GraphUsed, Rewrapped, StepWithoutLoss
from analyzers.syntax import nodes as n

_LOOPS = n.For | n.While | n.ListComp | n.SetComp | n.DictComp | n.GeneratorExp


def check(facts: Facts) -> Iterator[Draft]:
    cut_off = any(facts.of(kind) for kind in (Rewrapped, EndedAtCut, StepWithoutLoss))
    if cut_off or not facts.saw_the_end:
        return
    # Of a call whose graph is used in part, nothing is told.
    seen = {_place(facts, event.site) for event in facts.of(GraphUsed)}
    # What should have had a gradient is none that could do without.
    cuts = [cut for _, cut in parameters_left_out(facts) if cut is not None]
    seen |= {place for cut in cuts for step in cut.walk() for place in (step.loc, *step.via)}
    for event in facts.of(GraphUnused):
        loc = _place(facts, event.site)
        if loc is None or loc in seen:
            continue
        seen.add(loc)
        message = f"{said(facts, loc)} builds a graph that no backward uses"
        notes = told(callers(event.site.via), besides=loc)
        fixes = tuple(_without_grad(facts, loc))
        yield Draft(loc, message, effect="graph-grows", severity="info", related=notes, fixes=fixes)


def _place(facts: Facts, site: Site) -> Loc | None:
    """Where a network is called again and again: in a loop, and from outside. None if nobody is seen to do so."""
    places = (site.loc, *reversed(site.via))
    return next((place for place in places if _is_repeated(path_to(facts, place))), None)


def _is_repeated(path: list[n.Node]) -> bool:
    """Whether a place is in a loop of a function that is no network's `forward`."""
    functions = [index for index, node in enumerate(path) if isinstance(node, n.FunctionDef)]
    inside = path[functions[-1] :] if functions else path
    is_forward = bool(functions) and getattr(inside[0], "name", "") in {"forward", "__call__"}
    return not is_forward and any(isinstance(node, _LOOPS) for node in inside)


def _without_grad(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    statement = statement_at(facts, loc)
    changes = under_no_grad(facts, [(at(loc, statement), statement)]) if statement is not None else None
    if changes is not None:
        yield FixDraft("Run it under `torch.no_grad()`", False, changes)


RULE = Rule(
    "AG403", "graph-built-for-evaluation", "Forward passes build graphs that are never used", check, __doc__ or ""
)
