"""A tensor saved for backward is modified in place before that backward runs.

An operator may save its operands or its result. An in-place write increments the tensor's version counter; backward
compares versions and raises. Views and `detach()` share the counter; `.data` shares only the storage.

## Reported
```python
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)  # error: [saved-tensor-modified]
y.sum().backward()  # raises: RuntimeError "modified by an inplace operation"
```
## Fixed
```python fixed
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y = y.add(1)
y.sum().backward()
```
The fix is safe only if no other name and no view refers to the tensor, because they would no longer see the write.

## An operand that does not need a gradient itself
`w * mask` saves `mask` for the gradient of `w`.
```python
import torch
w = torch.ones(3, requires_grad=True)
mask = torch.ones(3)
y = w * mask
mask[0] = 0  # error: [saved-tensor-modified]
y.sum().backward()  # raises: RuntimeError "modified by an inplace operation"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
mask = torch.ones(3)
y = w * mask
mask = mask.clone()
mask[0] = 0
y.sum().backward()
```
## A step between the two
A step modifies the parameters. The fix computes the second loss after the step, with the new parameters.
```python
import torch
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
one, other = torch.ones(1, 2), torch.zeros(1, 2)
first = net(one).pow(2).mean()
second = net(other).pow(2).mean()
first.backward()
opt.step()  # error: [saved-tensor-modified]
second.backward()  # raises: RuntimeError "modified by an inplace operation"
```
```python fixed
import torch
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
one, other = torch.ones(1, 2), torch.zeros(1, 2)
first = net(one).pow(2).mean()
first.backward()
opt.step()
second = net(other).pow(2).mean()
second.backward()
```
## One part computed from another
The product saves the part that it reads, and the write happens after that.
```python
import torch
w = torch.ones(4, requires_grad=True)
z = w * 2
z[2:] = z[2:] * z[:2].exp()  # error: [saved-tensor-modified]
z.sum().backward()  # raises: RuntimeError "modified by an inplace operation"
```
```python fixed
import torch
w = torch.ones(4, requires_grad=True)
z = w * 2
old_z = z
z = z.clone()
z[2:] = old_z[2:] * old_z[:2].exp()
z.sum().backward()
```
## Several views of the same memory
They all share one version counter.
```python
import torch
arena = torch.zeros(10)
w = arena[:6].requires_grad_()
counts = arena[6:]
loss = w.square().sum()
counts[0] = 1.0  # error: [saved-tensor-modified]
counts[1] += 1
loss.backward()  # raises: RuntimeError "modified by an inplace operation"
```
```python fixed
import torch
arena = torch.zeros(10)
w = arena[:6].requires_grad_()
counts = arena[6:].clone()
loss = w.square().sum()
counts[0] = 1.0
counts[1] += 1
loss.backward()
```
## A write that comes too early
The weight decay runs before a backward that needs the old weights.
```python
import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(2, 3)
for _ in range(2):
    loss = (x * w.pow(2)).sum()
    with torch.no_grad():
        for p in (w,):
            p.mul_(0.9)  # error: [saved-tensor-modified]
    loss.backward()  # raises: RuntimeError "modified by an inplace operation"
    w.grad = None
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
x = torch.ones(2, 3)
for _ in range(2):
    loss = (x * w.pow(2)).sum()
    loss.backward()
    with torch.no_grad():
        for p in (w,):
            p.mul_(0.9)
    w.grad = None
```
## Not reported
Addition saves neither operand, so its result may be overwritten.
```python
import torch
y = torch.ones(3, requires_grad=True) + 1
y.mul_(2)
y.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import Write
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.out_of_place import VIEWS, out_of_place
from analyzers.drafting.edits.rebuilding import compute_after, write_after
from analyzers.drafting.places.tree import at, statement_at
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.causes import Modified, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(Modified):
        yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: Modified) -> Draft:
    node, here = cause.node, event.site.loc
    places: dict[object, Write] = {w.loc: w for w in reversed(cause.writes) if w.loc is not None}
    writes = list(places.values())[::-1]
    write = writes[0] if writes else None
    loc = write.loc if write is not None and write.loc is not None else here
    related: list[Note] = []
    is_step = write is not None and write.what == "step"
    kept = "its result" if cause.saved.is_output else "its parameters" if is_step else "one of its inputs"
    is_model = node.what == "model"
    if node.loc is not None:
        related.append(
            (node.loc, "the model saved its weights here" if is_model else f"`{node.what}` saved {kept} here")
        )
        related += callers(node.via)
    related += _seen_through(facts, loc)
    related += [(w.loc, "also written here") for w in writes[1:5] if w.loc is not None]
    related.append((here, "backward needs it here"))
    if write is not None:
        related += callers(write.via)
    saver = said(facts, node.loc) if node.loc is not None else f"`{node.what}`"
    if write is None:
        message = f"A tensor saved by {saver} is modified before this backward"
    elif is_step:
        message = f"{said(facts, loc)} changes parameters that {saver} saved for backward"
    else:
        message = f"{said(facts, loc)} modifies in place what {saver} saved for backward"
    alone = len({_statement(facts, w) for w in writes}) == 1
    fix: FixDraft | None = None
    if any(w.what == "step" for w in writes):
        saved = (*node.via, node.loc) if node.loc is not None else node.via
        fix = compute_after(facts, saved, [(w.loc, w.via) for w in writes if w.loc is not None], event.site)
    elif alone and write is not None:
        fix = out_of_place(facts, loc) or write_after(facts, [(loc, write.via)], event.site)
    fix = fix or _memory_of_its_own(facts, [w.loc for w in writes if w.loc is not None])
    through = [loc for loc in (*node.via, node.loc) if loc is not None and _is_beside(loc, here)]
    forward = said(facts, through[-1]) if through else "the forward pass"
    advice = f"Run {forward} again after the step"
    return Draft(
        loc, message, event, related=told(related, besides=loc), fixes=(fix,) if fix is not None else (),
        advice=advice if is_step else "",
    )  # fmt: skip


def _is_beside(loc: Loc, here: Loc) -> bool:
    return (loc.module, loc.chunk) == (here.module, here.chunk)


def _statement(facts: Facts, write: Write) -> tuple[str, str, int]:
    assert write.loc is not None
    statement = statement_at(facts, write.loc)
    return write.loc.module, write.loc.chunk, statement.start if statement is not None else write.loc.start


def _seen_through(facts: Facts, loc: Loc) -> list[Note]:
    """Where the modified name became a view."""
    return [(there, f"`{name}` becomes a view here") for name, there in _views(facts, loc)][:1]


def _memory_of_its_own(facts: Facts, writes: list[Loc]) -> FixDraft | None:
    """A copy instead of the one view that all writes go to, in case the base was not meant to change."""
    views = {view for loc in writes for view in _views(facts, loc)[:1] or [("", loc)]}
    (name, there) = views.pop() if len(views) == 1 else ("", None)
    if not name or there is None:
        return None
    match statement_at(facts, there):
        case n.Assign(targets=(n.Name(),), value=n.Subscript() | n.Call() | n.Attribute() as value):
            place = at(there, value)
            title = f"Give `{name}` its own memory (`clone()`)"
            return FixDraft(title, False, ((place, f"{facts.text(place)}.clone()"),))
    return None


def _views(facts: Facts, loc: Loc) -> list[tuple[str, Loc]]:
    """The modified name, and where it became a view."""
    match statement_at(facts, loc):
        case n.Assign(targets=(n.Subscript(value=n.Name(id=name)),)):
            pass
        case n.AugAssign(target=n.Subscript(value=n.Name(id=name)) | n.Name(id=name)):
            pass
        case n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name(id=name)))):
            pass
        case _:
            return []
    views = [b for b in facts.run.bindings if b.name == name and b.lineage is not None and b.lineage.what in VIEWS]
    return [(name, b.loc) for b in views if b.loc.module == loc.module]


RULE = Rule("AG104", "saved-tensor-modified", "A tensor saved for backward is modified in place", check, __doc__ or "")
