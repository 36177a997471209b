"""A data parallel module waits for gradients that do not come: its forward pass does not use all parameters.

`DistributedDataParallel` averages the gradients of all processes, a bucket of parameters at a time, and waits for each
parameter that required grad when the module was wrapped. If a backward reaches some of them and not the others, the
next forward pass raises. What is not needed is best frozen before the module is wrapped; where the parts that are used
change from one iteration to the next, `find_unused_parameters=True` looks through the graph each time.

## Reported
```python
import torch
from torch.nn.parallel import DistributedDataParallel
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.spare = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return self.body(x)
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
net = DistributedDataParallel(Net())
for x in torch.ones(3, 1, 2):
    loss = net(x).sum()  # error: [gradients-not-reduced]  # raises: RuntimeError "Expected to have finished reduction"
    loss.backward()
```
```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.spare = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return self.body(x)
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
net = DistributedDataParallel(Net(), find_unused_parameters=True)
for x in torch.ones(3, 1, 2):
    loss = net(x).sum()
    loss.backward()
```
## Not reported: what is not needed is frozen
```python
import torch
from torch.nn.parallel import DistributedDataParallel
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.spare = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        self.spare.requires_grad_(False)
    def forward(self, x):
        return self.body(x)
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
net = DistributedDataParallel(Net())
for x in torch.ones(3, 1, 2):
    loss = net(x).sum()
    loss.backward()
```
## Reported: frozen too late
```python
import torch
from torch.nn.parallel import DistributedDataParallel
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
net = DistributedDataParallel(layers)
layers[0].requires_grad_(False)
for x in torch.ones(3, 1, 2):
    loss = net(x).sum()  # error: [gradients-not-reduced]  # raises: RuntimeError "Expected to have finished reduction"
    loss.backward()
```
## Not reported
Unused parameters that are looked for, and gradients that no other process waits for.
```python
import torch
from torch.nn.parallel import DistributedDataParallel
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.spare = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x, both=False):
        return self.body(x) + self.spare(x) if both else self.body(x)
looking = DistributedDataParallel(Net(), find_unused_parameters=True)
for x in torch.ones(3, 1, 2):
    looking(x).sum().backward()
net = DistributedDataParallel(Net())
with net.no_sync():
    for x in torch.ones(2, 1, 2):
        net(x).sum().backward()
net(torch.ones(1, 2), both=True).sum().backward()
net(torch.ones(1, 2), both=True).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import add_argument
from analyzers.drafting.places.blocks import module_block
from analyzers.drafting.places.tree import at, walk
from analyzers.drafting.words import callers, origin, said, told
from analyzers.machine.core.causes import Site
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("Expected to have finished reduction"):
        loc = event.site.loc
        message = f"{said(facts, loc)} begins, and the last backward brought no gradient of some parameter"
        notes = told(origin(made, "the parameter is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(_look_for_unused(facts, event.site)))


def _look_for_unused(facts: Facts, site: Site) -> Iterator[FixDraft]:
    """`DistributedDataParallel(net)` becomes `DistributedDataParallel(net, find_unused_parameters=True)`, if only
    one such call is around the places that lead to the pass."""
    wraps = dict(_wrapping(facts, site))
    if len(wraps) == 1:
        [(loc, call)] = wraps.items()
        change = add_argument(facts, loc, call, "find_unused_parameters=True")
        yield FixDraft("Look for unused parameters in each pass", False, (change,))


def _wrapping(facts: Facts, site: Site) -> Iterator[tuple[Loc, n.Call]]:
    name = facts.places.imported_as(site.loc.module, "torch.nn.parallel.DistributedDataParallel")
    around = [(place, node) for place in (site.loc, *site.via) for node in facts.places.chunk(place).body]
    for place, statement in (*around, *module_block(facts, site.loc.module)):
        for node in walk(statement):
            match node:
                case n.Call(func=n.Name(id=called) | n.Attribute(attr=called)) if called in {
                    name,
                    "DistributedDataParallel",
                }:
                    if all(keyword.arg != "find_unused_parameters" for keyword in node.keywords):
                        yield at(place, node), node


RULE = Rule(
    "AG126",
    "gradients-not-reduced",
    "A data parallel module waits for gradients that do not come",
    check,
    __doc__ or "",
)
