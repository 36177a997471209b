"""Backward is called on a tensor that has no graph.

A result has a graph if gradients are enabled and something it was computed from requires grad. The graph ends at
`detach()` and `.data`, inside `no_grad` and `inference_mode`, at operators without a derivative (`argmax`,
comparisons, integers), and where a value leaves torch (`item()`, `tolist()`, `numpy()`). The finding marks where the
graph ended.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = (w * 2).detach()  # error: [backward-without-graph]
loss = h.sum()
loss.backward()  # raises: RuntimeError "element 0 of tensors does not require grad"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
h = (w * 2)
loss = h.sum()
loss.backward()
```
The fix is safe if nothing else cut the graph.

## Gradients disabled
```python
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    loss = (w * 2).sum()  # error: [backward-without-graph]
loss.backward()  # raises: RuntimeError "element 0 of tensors does not require grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
```
## A scope that covers too much
```python
import torch
w = torch.ones(3, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])
with torch.no_grad():
    x = x / x.max()
    loss = (w * x).sum()  # error: [backward-without-graph]
loss.backward()  # raises: RuntimeError "element 0 of tensors does not require grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])
with torch.no_grad():
    x = x / x.max()
loss = (w * x).sum()
loss.backward()
```
## A function without gradients
Other callers may rely on that, so the fix is not safe.
```python
import torch
w = torch.ones(3, requires_grad=True)
@torch.no_grad()  # error: [backward-without-graph]
def predict(x):
    return (w * x).sum()
predict(torch.ones(3)).backward()  # raises: RuntimeError "element 0 of tensors does not require grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)

def predict(x):
    return (w * x).sum()
predict(torch.ones(3)).backward()
```
## An update that binds a new tensor
```python
import torch
w = torch.ones(3, requires_grad=True)
for step in range(3):
    (w * w).sum().backward()  # raises: RuntimeError "element 0 of tensors does not require grad"
    with torch.no_grad():
        w = w - 0.1 * w.grad  # error: [backward-without-graph]
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
for step in range(3):
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
```
## A number is not a tensor
```python
import torch
w = torch.ones(3, requires_grad=True)
total = 0.0
total = total + w.sum().item()  # error: [backward-without-graph]
total.backward()  # raises: AttributeError "'float' object has no attribute 'backward'"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
total = 0.0
total = total + w.sum()
total.backward()
```
## A list of tensors turned into a tensor
`torch.tensor` copies numbers; `torch.stack` keeps the graph.
```python
import torch
w = torch.ones(3, requires_grad=True)
losses = torch.tensor([w[0] * 2, w[1] * 3])  # error: [backward-without-graph]
losses.sum().backward()  # raises: RuntimeError "element 0 of tensors does not require grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
losses = torch.stack([w[0] * 2, w[1] * 3])
losses.sum().backward()
```
```python
import torch
w = torch.ones(3, requires_grad=True)
loss = w.sum().item()  # error: [backward-without-graph]
print(loss.detach())  # raises: AttributeError "'float' object has no attribute 'detach'"
```
## A gradient of a gradient
`torch.autograd.grad` returns gradients without a graph, unless `create_graph=True` asks for one.
```python
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.randn(5, 3, requires_grad=True)
(slope,) = torch.autograd.grad(net(x).sum(), x)  # error: [backward-without-graph]
((slope.norm(dim=1) - 1) ** 2).mean().backward()  # raises: RuntimeError "does not require grad"
```
```python fixed
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.randn(5, 3, requires_grad=True)
(slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
((slope.norm(dim=1) - 1) ** 2).mean().backward()
```
## Nothing ever required grad
```python
import torch
w = torch.ones(3)
w.sum().backward()  # error: [backward-without-graph]  # raises: RuntimeError "does not require grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
w.sum().backward()
```
If the program reads gradients by name, those tensors are made to require grad.
```python
import torch
w, b = torch.ones(3), torch.zeros(1)
data = torch.tensor([1.0, 2.0, 3.0])
((data * w).sum() + b).sum().backward()  # error: [backward-without-graph]  # raises: RuntimeError "not require grad"
print(w.grad, b.grad)
```
```python fixed
import torch
w, b = torch.ones(3, requires_grad=True), torch.zeros(1, requires_grad=True)
data = torch.tensor([1.0, 2.0, 3.0])
((data * w).sum() + b).sum().backward()
print(w.grad, b.grad)
```
## Not reported
`round` has a derivative, namely zero, so the graph continues.
```python
import torch
w = torch.ones(3, requires_grad=True)
w.round().sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Change, Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import add_argument
from analyzers.drafting.edits.regrading import attach, behind
from analyzers.drafting.places.cuts import (
    FACTORIES,
    cuts,
    differentiation,
    is_on_the_way,
    leaves,
    left_off,
    switched_off,
)
from analyzers.drafting.places.training import trained_names
from analyzers.drafting.places.tree import at, node_at
from analyzers.drafting.words import Note, advice_on, callers, explain_cut, said, told
from analyzers.machine.core.causes import NoGraph, Plain, Raised
from analyzers.machine.core.events import OptimizerMade
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(NoGraph):
        if not _happens(facts, event):
            continue
        # Where values were made up, that a graph never began says nothing; that it was cut does.
        if cuts(cause.lineage) or not facts.run.presumptions:
            yield draft(facts, event, cause.name, cause.lineage)
    for event, plain in facts.raised(Plain):
        if event.exception != "AttributeError" or not event.message.endswith("has no attribute 'backward'"):
            if event.exception == "AttributeError" and plain.note == "number":
                yield from _number(facts, event, plain.lineage)
            continue
        # That an unknown value might be None says nothing about the loss, nor does what an `__init__` left empty.
        if "NoneType" not in event.message or (facts.is_certain(event) and not facts.run.presumptions):
            node = node_at(facts, event.site.loc)
            name = facts.text(at(event.site.loc, node.value)) if isinstance(node, n.Attribute) else "this value"
            yield draft(facts, event, name, plain.lineage)


def _happens(facts: Facts, event: Raised) -> bool:
    """Whether calls that raise do come to the statement: nothing keeps them from it, or only the condition under which
    gradients were switched off, and left so."""
    ways = facts.ways_shared(event)
    off = left_off(facts, event) if ways else None
    return not ways or (off is not None and all(is_on_the_way(facts, off.site, loc, way) for loc, way in ways))


_NATURAL = frozenset({"no-derivative", "integer"})
"""Cuts that nobody has made: what is sampled, or picked, has no derivative."""


def draft(facts: Facts, event: Raised, name: str, lineage: Lineage | None) -> Draft:
    found = _trained_first(facts, cuts(lineage))
    backward: Note = (event.site.loc, "backward is called here")
    if not found:
        found_made = leaves(lineage)
        made = [step for step in found_made if not _asks_for_grad(facts, step)][:6]
        related = [(step.loc, "created here without `requires_grad=True`") for step in made if step.loc is not None]
        alone = made[0].loc if len(made) == 1 else None
        fixes = tuple(_trained(facts, lineage, event.site.loc.module)) or tuple(_require_grad(facts, alone))
        unknown = len(made) < len(found_made[:6]) or (
            lineage is not None and any(s.what == "?" for s in lineage.walk())
        )
        why = " to run backward through" if unknown else ": nothing it is computed from requires grad"
        message = f"`{name}` has no graph{why}"
        notes = told(related, callers(event.site.via), besides=event.site.loc)
        return Draft(event.site.loc, message, event, related=notes, fixes=fixes)
    step = found[0]
    assert step.loc is not None
    is_mode = (step.cut or step.perhaps_cut) in {"no-grad", "inference"} and differentiation(facts, step.loc) is None
    off = switched_off(facts, step) if is_mode else None
    switch: list[Note] = [(off[0], "gradients are disabled here")] if off is not None else []
    left = left_off(facts, event) if is_mode and off is None else None
    if left is not None:
        switch = [(left.site.loc, "gradients are disabled here, and stay so")]
    meant = _NATURAL if step.cut not in _NATURAL else frozenset()
    others: list[Note] = [
        (s.loc, explain_cut(facts, s)) for s in found[1:6] if s.loc is not None and s.cut not in meant
    ]
    when = "in the next iteration " if _comes_later(event, step) else ""
    again = step.loc == event.site.loc and differentiation(facts, step.loc) is not None
    what = "its result has no graph for the next derivative" if again else f"{when}`{name}` has no graph for backward"
    message = f"{explain_cut(facts, step)}, so {what}"
    loc = off[0] if off is not None and off[1] else step.loc
    notes = told([(step.loc, "the graph ends here")], switch, callers(step.via), others, [backward], besides=loc)
    fixes = _repair(facts, step, only=len(found) == 1)
    return Draft(loc, message, event, related=notes, fixes=fixes, advice=advice_on(step))


def _comes_later(event: Raised, step: Lineage) -> bool:
    """Whether the graph ended in a round before, behind where a later one calls backward."""
    here, there = event.site.loc, step.loc
    in_one = there is not None and (here.module, here.chunk) == (there.module, there.chunk)
    return bool(event.site.iterations) and in_one and there is not None and here.end <= there.start


def _trained_first(facts: Facts, found: list[Lineage]) -> list[Lineage]:
    """Cuts, first those that keep a backward from what an optimizer trains, and that somebody made: the others may be
    meant."""
    trained = {trail for made in facts.of(OptimizerMade) for trail in made.trails}
    return sorted(found, key=lambda cut: (trained.isdisjoint(cut.walk()), cut.cut in _NATURAL))


def _asks_for_grad(facts: Facts, step: Lineage) -> bool:
    call = None if step.loc is None else node_at(facts, step.loc)
    return isinstance(call, n.Call) and any(
        keyword.arg == "requires_grad" and not (isinstance(keyword.value, n.Constant) and keyword.value.value is False)
        for keyword in call.keywords
    )


def _number(facts: Facts, event: Raised, lineage: Lineage | None) -> Iterator[Draft]:
    """A number that came from a tensor with a graph, and is used as if it were still a tensor."""
    found = cuts(lineage)
    node = node_at(facts, event.site.loc)
    if not found or found[0].loc is None or not isinstance(node, n.Attribute):
        return
    name = facts.text(at(event.site.loc, node.value))
    message = f"{explain_cut(facts, found[0])}, so `{name}` has no `{node.attr}`"
    asked: Note = (event.site.loc, f"`{node.attr}` is accessed here")
    notes = told(callers(found[0].via), [asked], besides=found[0].loc)
    yield Draft(found[0].loc, message, event, related=notes, fixes=_repair(facts, found[0], only=len(found) == 1))


def _repair(facts: Facts, step: Lineage, *, only: bool) -> tuple[FixDraft, ...]:
    """Remove the cut where it is a call or an attribute of its own."""
    attached = attach(facts, step)
    return () if attached is None else (FixDraft(attached[0], only and attached[1], attached[2]),)


def _trained(facts: Facts, lineage: Lineage | None, module: str) -> Iterator[FixDraft]:
    """Make the tensors whose gradients the program reads by name require grad."""
    steps = {id(step): step for step in (lineage.walk() if lineage is not None else ())}
    wanted = trained_names(facts, module)
    made = {b.name: steps[id(b.lineage)] for b in facts.run.bindings if b.name in wanted and id(b.lineage) in steps}
    changes: list[Change] = []
    for step in made.values():
        call = node_at(facts, step.loc) if step.loc is not None else None
        if step.loc is None or call is None or (isinstance(call, n.Call) and _says_so(call)):
            return
        if isinstance(call, n.Call) and step.what.removeprefix("torch.") in FACTORIES and not step.parents:
            changes.append(add_argument(facts, step.loc, call, "requires_grad=True"))
        else:
            changes += behind(step.loc, call, ".requires_grad_()")
    if changes:
        yield FixDraft(f"Make {', '.join(f'`{name}`' for name in made)} require grad", True, tuple(changes))


def _require_grad(facts: Facts, loc: Loc | None) -> Iterator[FixDraft]:
    node = node_at(facts, loc) if loc is not None else None
    if loc is not None and isinstance(node, n.Call) and not _says_so(node):
        change = add_argument(facts, loc, node, "requires_grad=True")
        yield FixDraft(f"Make {said(facts, loc)} require grad", False, (change,))


def _says_so(call: n.Call) -> bool:
    return any(keyword.arg == "requires_grad" for keyword in call.keywords)


RULE = Rule("AG101", "backward-without-graph", "Backward is called on a tensor that has no graph", check, __doc__ or "")
