"""Backward ends at a tensor that looks like part of the graph but is not.

`copy.copy` of a tensor with a graph creates a new leaf, and a view created under `no_grad` still says
`requires_grad=True`. Backward runs without an error, but the gradient goes to that tensor and never reaches its source.

## Reported
```python
import copy
import torch
enc = torch.ones(3, requires_grad=True)
kept = copy.copy(enc * 2)  # warning: [gradient-ends-at-copy]
(kept * kept).sum().backward()
```
## Fixed
```python fixed
import copy
import torch
enc = torch.ones(3, requires_grad=True)
kept = (enc * 2).clone()
(kept * kept).sum().backward()
```
## Reported: a view created under `no_grad`
```python
import torch
table = torch.ones(3, 4, requires_grad=True)
with torch.no_grad():
    row = table[0]  # warning: [gradient-ends-at-copy]
(row * row).sum().backward()
```
```python fixed
import torch
table = torch.ones(3, 4, requires_grad=True)
row = table[0]
(row * row).sum().backward()
```
## Reported: weights of an inner step that are made parameters
```python
import torch
weight = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    (grad,) = torch.autograd.grad((weight * torch.randn(3)).pow(2).sum(), weight, create_graph=True)
    fast = torch.nn.Parameter(weight - 0.1 * grad)  # warning: [gradient-ends-at-copy]
    opt.zero_grad()
    (fast * torch.randn(3)).pow(2).sum().backward()
    opt.step()
```
## Not reported
A parameter that was made of another one, and is trained itself.
```python
import torch
first = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(first.parameters(), lr=0.1)
first(torch.ones(2, 3)).sum().backward()
opt.step()
scaled = torch.nn.Parameter(first.weight * 2)
other = torch.optim.SGD([scaled], lr=0.1)
for _ in range(3):
    other.zero_grad()
    (scaled * torch.randn(3)).pow(2).sum().backward()
    other.step()
```
The gradient reaches the leaf by another path, and the view only holds the old value.
```python
import torch
table = torch.ones(3, 4, requires_grad=True)
with torch.no_grad():
    before = table[0]
(table[0] - before).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import attach
from analyzers.drafting.places.cuts import switched_off
from analyzers.drafting.places.tree import at, node_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import BackwardCall, EndedAtCut, OptimizerMade
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    reached = {leaf for backward in facts.of(BackwardCall) for leaf in backward.reached}
    unsure = any(backward.unknown for backward in facts.of(BackwardCall))
    seen: set[Loc] = set()
    for event in facts.of(EndedAtCut):
        loc = event.lineage.loc
        if (
            loc is None
            or loc in seen
            or (event.lineage.cut == "rewrapped" and not _is_amiss(facts, event))
            or unsure
            or reached.intersection(event.sources)
        ):
            continue
        seen.add(loc)
        is_new = event.lineage.cut in {"leaf-copy", "rewrapped"}
        why = "is a new leaf" if is_new else "has no graph and still requires grad"
        message = f"{said(facts, loc)} {why}: backward ends there, and no gradient reaches what it was made from"
        scope = switched_off(facts, event.lineage)
        notes = [(scope[0], "gradients are disabled here")] if scope is not None else []
        notes.append((event.site.loc, "this backward ends there"))
        related = told(notes, callers(event.lineage.via), besides=loc)
        yield Draft(loc, message, effect="no-gradient-flows", related=related, fixes=tuple(_clone(facts, event, loc)))


def _is_amiss(facts: Facts, event: EndedAtCut) -> bool:
    """Whether a new leaf is in the place of what an optimizer should train. One that backward is called on is a loss
    that was wrapped again."""
    held = {ident for made in facts.of(OptimizerMade) for ident in made.parameters}
    is_root = any(each.root_is_leaf for each in facts.of(BackwardCall) if each.site.loc == event.site.loc)
    return not is_root and event.leaf not in held and not held.isdisjoint(event.sources)


def _clone(facts: Facts, event: EndedAtCut, loc: Loc) -> Iterator[FixDraft]:
    """`copy.copy(x)` becomes `x.clone()`."""
    if event.lineage.cut != "leaf-copy":
        repair = attach(facts, event.lineage)
        if repair is not None:
            yield FixDraft(*repair)
        return
    match node_at(facts, loc):
        case n.Call(args=(value,), keywords=()) as call:
            text = facts.text(at(loc, value))
            bare = isinstance(value, n.Name | n.Attribute | n.Call | n.Subscript)
            yield FixDraft("Clone it", True, ((at(loc, call), f"{text}.clone()" if bare else f"({text}).clone()"),))


RULE = Rule("AG211", "gradient-ends-at-copy", "Backward ends at a copy that looks attached", check, __doc__ or "")
