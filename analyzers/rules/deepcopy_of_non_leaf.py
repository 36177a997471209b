"""`copy.deepcopy` meets a tensor that was computed from others.

Torch copies leaves only, since a result would need its whole graph copied. A module that keeps a result as an
attribute (a hidden state, a last loss, a weight-normed weight) cannot be copied either.

## Reported
```python
import copy
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
kept = copy.deepcopy(h)  # error: [deepcopy-of-non-leaf]  # raises: RuntimeError "Only Tensors created explicitly"
```
## Fixed
```python fixed
import copy
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
kept = h.detach().clone()
```
## Not reported
```python
import copy
import torch
w = torch.ones(3, requires_grad=True)
kept = copy.deepcopy(w)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.rules.base import Draft, Facts, FixDraft, Rule
from analyzers.rules.edits import at, node_at
from analyzers.rules.trace import callers, origin, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("Only Tensors created explicitly by the user"):
        loc = event.site.loc
        message = f"{said(facts, loc)} meets a tensor that has a graph, and torch copies only leaves"
        notes = told(origin(made, "the tensor is computed here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=tuple(_clone(facts, loc)))


def _clone(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    match node_at(facts, loc):
        case n.Call(args=(n.Name(id=name) as value,)) as call if any(b.name == name for b in facts.run.bindings):
            text = f"{facts.text(at(loc, value))}.detach().clone()"
            yield FixDraft("Copy the tensor without its graph", True, ((at(loc, call), text),))


RULE = Rule("AG117", "deepcopy-of-non-leaf", "`deepcopy` meets a tensor that has a graph", check, __doc__ or "")
