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
## Fixed: what is not needed is frozen
```python fixed
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

from analyzers.drafting.base import Draft, Facts, Rule
from analyzers.drafting.words import callers, origin, said, told


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("Expected to have finished reduction"):
        loc = event.site.loc
        message = f"{said(facts, loc)} begins, and the last backward brought no gradient of some parameter"
        notes = told(origin(made, "the parameter is created here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes)


RULE = Rule(
    "AG126",
    "gradients-not-reduced",
    "A data parallel module waits for gradients that do not come",
    check,
    __doc__ or "",
)
