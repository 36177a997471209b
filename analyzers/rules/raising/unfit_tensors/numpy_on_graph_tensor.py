"""A tensor that requires grad is converted to a numpy array.

Numpy knows nothing about the graph, so torch requires a `detach()` first. `np.array`, `np.sqrt`, matplotlib and
scikit-learn convert their arguments in the same way, and numpy does so for a list of tensors too.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
y = (w * 2).numpy()  # error: [numpy-on-graph-tensor]  # raises: RuntimeError "Can't call numpy() on Tensor"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
y = (w * 2).detach().numpy()
```
## A list of tensors
```python
import numpy as np
import torch
w = torch.ones(3, requires_grad=True)
costs = [(w - k).square().sum() for k in range(4)]
best = np.array(costs).argmin()  # error: [numpy-on-graph-tensor]  # raises: RuntimeError "Can't call numpy() on Tensor"
```
```python fixed
import numpy as np
import torch
w = torch.ones(3, requires_grad=True)
costs = [(w - k).square().sum() for k in range(4)]
best = np.array([each.detach() for each in costs]).argmin()
```
## A tensor and an array
```python
import numpy as np
import torch
net = torch.nn.Linear(3, 1)
x, target = torch.randn(5, 3), np.zeros((5, 1))
loss = ((net(x) - target) ** 2).mean()  # error: [numpy-on-graph-tensor]  # raises: RuntimeError "Can't call numpy()"
```
```python fixed
import numpy as np
import torch
net = torch.nn.Linear(3, 1)
x, target = torch.randn(5, 3), np.zeros((5, 1))
loss = ((net(x) - torch.as_tensor(target)) ** 2).mean()
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    y = (w * 2).numpy()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, before_dot, between, node_at
from analyzers.drafting.words import Note, callers, told
from analyzers.machine.core.causes import NumpyOnGraph, Raised
from analyzers.machine.core.events import GraphGrew
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(NumpyOnGraph):
        yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: NumpyOnGraph) -> Draft:
    loc = event.site.loc
    appended = [g for g in facts.of(GraphGrew) if g.name == cause.name and g.how == "appended"]
    related: list[Note] = [(g.site.loc, "a tensor is added here with its graph") for g in appended]
    if cause.lineage is not None and cause.lineage.loc is not None:
        related.append((cause.lineage.loc, "its graph comes from here"))
        related += callers(cause.lineage.via)
    fixes = tuple(f for g in appended[:1] for f in _item(facts, g.site.loc))
    fixes = fixes or tuple(_detach(facts, loc, cause.name))
    message = f"`{cause.name}` requires grad: numpy accepts it only after `detach()`"
    if cause.by_operator:
        message = f"`{cause.name}` mixes a tensor that requires grad with a numpy array: convert the array to a tensor"
        fixes = tuple(_converted(facts, loc))
    return Draft(loc, message, event, related=told(related, callers(event.site.via), besides=loc), fixes=fixes)


def _detach(facts: Facts, loc: Loc, name: str) -> Iterator[FixDraft]:
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(attr="numpy" | "__array__") as func):
            spot = before_dot(facts, loc, func)
        case n.Call(args=(n.Name(id=first) as argument, *_)) if first == name and not _is_list(facts, name):
            spot = between(loc, argument.end, argument.end)
        case n.Call(args=(n.Name(id=first) as argument, *_)) if first == name:
            each = "each" if name != "each" else "one"
            text = f"[{each}.detach() for {each} in {name}]"
            yield FixDraft("Detach its elements first", True, ((at(loc, argument), text),))
            return
        case _:
            return
    yield FixDraft("Detach it first", True, ((spot, ".detach()"),))


def _converted(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`y - target` becomes `y - torch.as_tensor(target)`; a matrix product accepts that only if the dtypes match."""
    torch = facts.places.imported_as(loc.module, "torch")
    match node_at(facts, loc):
        case n.BinOp(op=op, right=n.Name(id=name) as array) if torch is not None:
            yield FixDraft("Convert it to a tensor", op != "@", ((at(loc, array), f"{torch}.as_tensor({name})"),))


def _is_list(facts: Facts, name: str) -> bool:
    return not any(b.name == name for b in facts.run.bindings)


def _item(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    match node_at(facts, loc):
        case n.Call(args=(argument,)):
            spot = between(loc, argument.end, argument.end)
            yield FixDraft("Store the tensor without its graph", True, ((spot, ".detach()"),))


RULE = Rule(
    "AG109", "numpy-on-graph-tensor", "A tensor that requires grad is converted to a numpy array", check, __doc__ or ""
)
