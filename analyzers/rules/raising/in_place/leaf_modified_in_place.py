"""A leaf that requires grad, or a view of one, is written in place while gradients are enabled.

Gradients arrive at leaves; if autograd recorded the write, the leaf would become a result. Update parameters under
`torch.no_grad()`. A running total must not be a leaf that requires grad.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
(w * 2).sum().backward()
w -= 0.1 * w.grad  # error: [leaf-modified-in-place]  # raises: RuntimeError "a leaf Variable that requires grad"
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
(w * 2).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
```
Consecutive writes to the same tensor are wrapped together.
```python
import torch
w = torch.ones(3, requires_grad=True)
w[0] = 0.0  # error: [leaf-modified-in-place]  # raises: RuntimeError "a view of a leaf Variable that requires grad"
w[2] = 0.0
(w * 2).sum().backward()
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    w[0] = 0.0
    w[2] = 0.0
(w * 2).sum().backward()
```
## Filled after it was made a leaf
```python
import torch
w = torch.empty(3, requires_grad=True).fill_(0.1)  # error: [leaf-modified-in-place]  # raises: RuntimeError "a leaf"
(w * 2).sum().backward()
```
```python fixed
import torch
w = torch.empty(3).fill_(0.1).requires_grad_()
(w * 2).sum().backward()
```
## A running total
```python
import torch
w = torch.ones(3, requires_grad=True)
total = torch.zeros(1, requires_grad=True)
total += w.sum()  # error: [leaf-modified-in-place]  # raises: RuntimeError "a leaf Variable that requires grad"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
total = torch.zeros(1)
total += w.sum()
```
## A view made before its base got a graph
Torch updates the place of such a view in the graph only when it is used or its `grad_fn` is read. A new view is fine.
```python
import torch
w = torch.ones(3, requires_grad=True)
states = torch.zeros(3)
first = states[0]
states.add_(w)
first.mul_(2)  # error: [leaf-modified-in-place]  # raises: RuntimeError "a leaf Variable that requires grad"
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    w.clamp_(min=0)
```
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.lines import under_no_grad
from analyzers.drafting.edits.regrading import leaf_of_result
from analyzers.drafting.places.blocks import Spot, block_around
from analyzers.drafting.places.tree import between, node_at, path_to, statement_at, walk
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.causes import LeafWritten, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(LeafWritten):
        yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: LeafWritten) -> Draft:
    loc = event.site.loc
    made = cause.lineage.loc if cause.lineage is not None else None
    related: list[Note] = []
    if made is not None and cause.lineage is not None:
        related.append((made, "the view is created here" if cause.late else "the leaf is created here"))
        related += callers(cause.lineage.via)
    kind = "a view of a leaf" if cause.view else "a leaf"
    message = f"{said(facts, loc)} writes to `{cause.name}`, {kind} that requires grad, while gradients are enabled"
    fixes = tuple(_fixes(facts, loc, made))
    if cause.late:
        message = (
            f"{said(facts, loc)} writes to `{cause.name}`, a leaf to torch: the view is older than its base's graph"
        )
        fixes = ()
    if cause.late or not _collects(facts, loc, made):
        related += _recording(facts, loc)
    return Draft(loc, message, event, related=told(related, callers(event.site.via), besides=loc), fixes=fixes)


def _recording(facts: Facts, loc: Loc) -> Iterator[Note]:
    """The function whose operators autograd records, including the write."""
    for node in reversed(path_to(facts, loc)):
        if isinstance(node, n.FunctionDef):
            yield (
                replace(loc, start=node.name_start, end=node.name_start + len(node.name.encode())),
                "gradients are enabled in here",
            )
            return


def _fixes(facts: Facts, loc: Loc, made: Loc | None) -> Iterator[FixDraft]:
    statement = statement_at(facts, loc)
    if statement is None:
        return
    if made is not None and (begun := _begun(facts, loc, made)) is not None:
        yield begun
        return
    updates = _updates(statement)
    sets = isinstance(statement, n.ExprStmt) or (
        isinstance(statement, n.Assign) and isinstance(statement.targets[0], n.Subscript)
    )
    if made is not None and _collects(facts, loc, made):
        yield from _plain_total(facts, made)
        return  # a sum that is collected without gradients would train nothing
    changes = under_no_grad(facts, _writes(facts, loc))
    if changes is not None and not (isinstance(statement, n.Assign) and not sets):
        yield FixDraft("Write under `torch.no_grad()`", updates or sets, changes)


def _updates(statement: n.Node) -> bool:
    """Whether it reads a gradient, as `w -= lr * w.grad` does."""
    return isinstance(statement, n.AugAssign | n.Assign) and any(
        isinstance(node, n.Attribute) and node.attr == "grad" for node in walk(statement)
    )


def _collects(facts: Facts, loc: Loc, made: Loc | None) -> bool:
    """Whether a leaf collects a sum, as in `loss += term`: then gradients are enabled as they should be."""
    statement = statement_at(facts, loc)
    is_sum = isinstance(statement, n.AugAssign) and not _updates(statement)
    return is_sum and made is not None and any(True for _ in _plain_total(facts, made))


def _begun(facts: Facts, loc: Loc, made: Loc) -> FixDraft | None:
    """`torch.empty(3, requires_grad=True).normal_()` becomes `torch.empty(3).normal_().requires_grad_()`."""
    whole = node_at(facts, loc)
    inside = (loc.module, loc.chunk) == (made.module, made.chunk) and loc.start <= made.start < made.end <= loc.end
    statement = statement_at(facts, loc)
    if not inside or not isinstance(whole, n.Call) or isinstance(statement, n.ExprStmt):
        return None
    return leaf_of_result(facts, loc)


def _writes(facts: Facts, loc: Loc) -> list[Spot]:
    """The write and the similar ones right after it, since torch would refuse each of them in turn."""
    around = block_around(facts, loc)
    if around is None:
        return []
    block, here = around
    root, last = _written(block[here][1]), here + 1
    while last < len(block) and root is not None and root == _written(block[last][1]):
        last += 1
    return block[here:last]


def _written(node: n.Node) -> str | None:
    """The root name of an in-place write: `w` in `w[0] = 1`, `self` in `self.w.zero_()`."""
    match node:
        case n.AugAssign(target=target) | n.Assign(targets=(n.Subscript() as target,)):
            pass
        case n.ExprStmt(value=n.Call(func=n.Attribute(attr=attr) as target)) if attr.endswith("_"):
            pass
        case _:
            return None
    while isinstance(target, n.Attribute | n.Subscript | n.Call):
        target = target.func if isinstance(target, n.Call) else target.value
    return target.id if isinstance(target, n.Name) else None


def _plain_total(facts: Facts, made: Loc) -> Iterator[FixDraft]:
    call = node_at(facts, made)
    if not isinstance(call, n.Call):
        return
    for index, keyword in enumerate(call.keywords):
        if keyword.arg == "requires_grad":
            before = call.keywords[index - 1] if index else call.args[-1] if call.args else None
            start = before.end if before is not None else keyword.start
            yield FixDraft("Create it without `requires_grad`", True, ((between(made, start, keyword.end), ""),))


RULE = Rule("AG105", "leaf-modified-in-place", "A leaf that requires grad is modified in place", check, __doc__ or "")
