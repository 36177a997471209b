"""`copy.deepcopy` reaches a tensor that was computed from others.

Torch only copies leaves, because copying a result would mean copying its whole graph. A module that keeps a result as
an attribute (a hidden state, the last loss, a weight-normed weight) cannot be copied either.

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
## A weight-normed module
Its weight is a plain attribute, computed before each forward. The newer `weight_norm` computes the weight on access.
```python
import copy
import torch
from torch.nn.utils import weight_norm
layer = weight_norm(torch.nn.Linear(3, 2))
kept = copy.deepcopy(layer)  # error: [deepcopy-of-non-leaf]  # raises: RuntimeError "Only Tensors created explicitly"
```
```python fixed
import copy
import torch
from torch.nn.utils.parametrizations import weight_norm
layer = weight_norm(torch.nn.Linear(3, 2))
kept = copy.deepcopy(layer)
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

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Change, Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.blocks import module_block
from analyzers.drafting.places.tree import at, node_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.syntax import nodes as n

_OLDER, _NEWER = "torch.nn.utils", "torch.nn.utils.parametrizations"
_NORM = "weight_norm"


def check(facts: Facts) -> Iterator[Draft]:
    for event, made in facts.saying("Only Tensors created explicitly by the user"):
        loc = event.site.loc
        message = f"{said(facts, loc)} reaches a tensor that has a graph, and torch can only copy leaves"
        notes = told(origin(made, "the tensor is computed here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes, fixes=(*_clone(facts, loc), *_parametrized(facts, made)))


def _clone(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    match node_at(facts, loc):
        case n.Call(args=(n.Name(id=name) as value,)) as call if any(b.name == name for b in facts.run.bindings):
            text = f"{facts.text(at(loc, value))}.detach().clone()"
            yield FixDraft("Copy the tensor without its graph", True, ((at(loc, call), text),))


def _parametrized(facts: Facts, made: Lineage | None) -> Iterator[FixDraft]:
    """The newer norm of the same name keeps its parameters, and computes the weight on access."""
    if made is None or made.loc is None or made.what != _NORM:
        return
    match node_at(facts, made.loc):
        case n.Call(func=n.Name()):
            spots = module_block(facts, made.loc.module)
            imported = [(loc, s) for loc, s in spots if isinstance(s, n.ImportFrom) and s.module == _OLDER]
            for place, statement in imported:
                if [(alias.name, alias.asname) for alias in statement.names] == [(_NORM, None)]:
                    yield _newer((place, facts.text(place).replace(_OLDER, _NEWER, 1)))
        case n.Call(func=n.Attribute(value=n.Node() as owner, attr=name)) if name == _NORM:
            text = facts.text(at(made.loc, owner))
            if text.endswith("utils"):
                yield _newer((at(made.loc, owner), f"{text}.parametrizations"))


def _newer(change: Change) -> FixDraft:
    return FixDraft(f"Use `{_NEWER}.{_NORM}`, which can be copied", False, (change,))


RULE = Rule("AG117", "deepcopy-of-non-leaf", "`deepcopy` reaches a tensor that has a graph", check, __doc__ or "")
