"""`.grad` is read from a tensor that backward never fills.

Gradients arrive at leaves. A tensor that was scaled, moved, reshaped or cloned after `requires_grad=True` is a result:
its `.grad` stays None, with at most a warning. The same holds for a leaf whose detached copy went into the loss, and
for a leaf that is not in the loss at all. A line that then uses the None raises, as does one that uses a gradient
after `zero_grad`, which sets gradients to None.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True) * 0.1  # warning: [grad-of-non-leaf]
w.sum().backward()
g = w.grad
```
```python fixed
import torch
w = (torch.ones(3) * 0.1).requires_grad_()
w.sum().backward()
g = w.grad
```
## The None is used
```python
import torch
w = torch.ones(3, requires_grad=True) * 0.1  # error: [grad-of-non-leaf]
w.sum().backward()
w.grad.zero_()  # raises: AttributeError "'NoneType' object has no attribute 'zero_'"
```
```python fixed
import torch
w = (torch.ones(3) * 0.1).requires_grad_()
w.sum().backward()
w.grad.zero_()
```
## An intermediate result
A tensor that is not a leaf keeps its gradient only if asked to.
```python
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2  # warning: [grad-of-non-leaf]
(h * h).sum().backward()
w.grad = h.grad
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
h.retain_grad()
(h * h).sum().backward()
w.grad = h.grad
```
## An update that turns the leaf into a result
```python
import torch
x = torch.ones(3, requires_grad=True)
for step in range(3):
    (x * x).sum().backward()
    x = x - 0.1 * x.grad  # error: [grad-of-non-leaf]  # raises: TypeError "unsupported operand type(s)"
```
```python fixed
import torch
x = torch.ones(3, requires_grad=True)
for step in range(3):
    (x * x).sum().backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    x.grad = None
```
## A new leaf in each iteration
```python
import torch
x = torch.ones(3, requires_grad=True)
for step in range(3):
    (x * x).sum().backward()
    x = x + 0.1 * x.grad.sign()  # error: [grad-of-non-leaf]  # raises: AttributeError "'NoneType' object has no"
    x.requires_grad_()
```
```python fixed
import torch
x = torch.ones(3, requires_grad=True)
for step in range(3):
    (x * x).sum().backward()
    x = (x + 0.1 * x.grad.sign()).detach()
    x.requires_grad_()
```
## A detached copy got the gradient
```python
import torch
x = torch.ones(3, requires_grad=True)
probe = x.detach().requires_grad_()  # warning: [grad-of-non-leaf]
(probe * 2).sum().backward()
g = x.grad
```
## A layer that is not in the loss
```python
import torch
body, unused = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
body(torch.ones(4, 3)).sum().backward()
norm = unused.weight.grad.norm()  # error: [grad-of-non-leaf]  # raises: AttributeError "no attribute 'norm'"
```
## Cut off along the way
```python
import torch
body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
h = body(torch.ones(4, 3)).detach()  # error: [grad-of-non-leaf]
head(h).sum().backward()
norm = body.weight.grad.norm()  # raises: AttributeError "no attribute 'norm'"
```
```python fixed
import torch
body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
h = body(torch.ones(4, 3))
head(h).sum().backward()
norm = body.weight.grad.norm()
```
## It does not require grad
```python
import torch
w, b = torch.ones(3, requires_grad=True), torch.zeros(3)  # error: [grad-of-non-leaf]
(w + b).sum().backward()
norm = b.grad.norm()  # raises: AttributeError "no attribute 'norm'"
```
```python fixed
import torch
w, b = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
(w + b).sum().backward()
norm = b.grad.norm()
```
## Cleared before it is used
```python
import torch
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(4, 3)).sum().backward()
opt.step()
opt.zero_grad()  # error: [grad-of-non-leaf]
norm = net.weight.grad.norm()  # raises: AttributeError "no attribute 'norm'"
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True) * 0.1
w.retain_grad()
w.sum().backward()
g = w.grad
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.lines import under_no_grad
from analyzers.drafting.edits.regrading import attach, behind, leaf_of_result, require
from analyzers.drafting.places.blocks import Spot, block_around
from analyzers.drafting.places.tree import at, between, indentation, node_at, path_to, statement_at, walk
from analyzers.drafting.words import Note, callers, explain_cut, said, told
from analyzers.machine.core.causes import NoneGrad, NoneGradUsed, Raised, Site
from analyzers.machine.core.events import BackwardCall, Cleared, FlagSet, GradRead, OptimizerMade, Rewrapped, ZeroCall
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    used: set[Loc] = set()
    for event, cause in facts.raised(NoneGradUsed):
        trail = cause.grad.tensor.lineage if cause.grad.tensor is not None else None
        if trail is not None and trail.loc is not None:
            used.add(trail.loc)
        yield _used(facts, event, cause.grad)
    ran = False
    for other in facts.run.events:
        ran = ran or isinstance(other, BackwardCall)
        if ran and isinstance(other, GradRead):
            made = other.tensor.lineage.loc if other.tensor.lineage is not None else None
            if made is not None and made not in used:
                yield from _read(facts, other, made)


def _used(facts: Facts, event: Raised, grad: NoneGrad) -> Draft:
    here, name = event.site.loc, grad.name
    used: Note = (here, f"`{name}.grad` is used here")
    trail = grad.tensor.lineage if grad.tensor is not None else None
    made = trail.loc if trail is not None else None
    if grad.tensor is not None and trail is not None and made is not None:
        if grad.tensor.is_leaf is False:
            message = f"{said(facts, made)} is not a leaf, so its `.grad` stays None, and using it raises"
            notes = told(callers(trail.via), [used], callers(event.site.via), besides=made)
            return Draft(made, message, event, related=notes, fixes=_lasting(facts, made, safe=False))
        if grad.tensor.requires_grad is False:
            is_cut = trail.cut is not None and trail.cut != "frozen"
            why = explain_cut(facts, trail) if is_cut else f"`{name}` does not require grad"
            message = f"{why}, so `{name}.grad` stays None, and using it raises"
            notes = told(callers(trail.via), [used], callers(event.site.via), besides=made)
            return Draft(made, message, event, related=notes, fixes=tuple(require(facts, trail, safe=False)))
    filled, cleared, missed = _before(facts, event, grad.ident)
    if cleared is not None:
        message = f"{said(facts, cleared)} sets `{name}.grad` to None, and using it raises"
        return Draft(cleared, message, event, related=told([used], callers(event.site.via), besides=cleared))
    cut = _cut(missed, trail) if filled is None and missed is not None and trail is not None else None
    if cut is not None and cut.loc is not None:
        message = f"{explain_cut(facts, cut)}: no gradient reaches `{name}`, and using `{name}.grad` raises"
        notes = told(callers(cut.via), [used], callers(event.site.via), besides=cut.loc)
        return Draft(cut.loc, message, event, related=notes, fixes=_attached(facts, cut))
    message = f"`{name}.grad` is None here: no backward has filled it"
    origin: list[Note] = [(made, f"`{name}` is created here")] if made is not None else []
    if filled is not None:
        message = f"`{name}.grad` is None here: it was cleared after {said(facts, filled.loc)}"
    elif missed is not None:
        message = f"`{name}.grad` is None here: {said(facts, missed.site.loc)} does not reach `{name}`"
        origin.append((missed.site.loc, "this is the last backward before it"))
    return Draft(here, message, event, related=told(origin, callers(event.site.via), besides=here))


def _before(facts: Facts, event: Raised, leaf: int) -> tuple[Site | None, Loc | None, BackwardCall | None]:
    """The backward that has filled a leaf's gradient before `event`, what has cleared it, and the last backward."""
    owned = {made.optimizer for made in facts.of(OptimizerMade) if leaf in made.parameters}
    last = filled = cleared = None
    for other in takewhile(lambda other: other is not event, facts.run.events):
        match other:
            case BackwardCall():
                last = other
                if leaf in other.reached:
                    filled, cleared = other.site, None
            case ZeroCall(site=site, optimizer=optimizer) if optimizer in owned:
                cleared = site.loc
            case Cleared(site=site, backward=backward) if backward == filled:
                cleared = site.loc if isinstance(node_at(facts, site.loc), n.Call) else site.statement
    return filled, cleared if filled is not None else None, last


def _read(facts: Facts, read: GradRead, made: Loc) -> Iterator[Draft]:
    here: Note = (read.site.loc, f"`{read.name}.grad` is read here, and is None")
    trail = read.tensor.lineage
    if trail is None:
        return
    if read.tensor.requires_grad is False:
        yield from _went_elsewhere(facts, read, trail, here)
        return
    if read.tensor.is_leaf is False:
        message = f"{said(facts, made)} is not a leaf, so `{read.name}.grad` stays None"
        notes = told(callers(trail.via), [here], besides=made)
        yield Draft(made, message, effect="grad-none", related=notes, fixes=_lasting(facts, made, safe=True))
        return
    for copy in facts.of(Rewrapped):
        if any(step is trail for step in copy.lineage.walk(40)):
            loc = copy.site.loc
            message = (
                f"{said(facts, loc)} creates a new leaf: the gradient goes there, and `{read.name}.grad` stays None"
            )
            fixes = tuple(_read_there(facts, read, loc))
            yield Draft(loc, message, effect="grad-none", related=told([here], besides=loc), fixes=fixes)
            return
    yield from _never_arrives(facts, read, trail, here)


def _went_elsewhere(facts: Facts, read: GradRead, trail: Lineage, here: Note) -> Iterator[Draft]:
    """A tensor without flag, of which another was made that has it: the gradient came to that."""
    reached = {leaf for backward in facts.of(BackwardCall) for leaf in backward.reached}
    for flag in facts.of(FlagSet):
        made_of = flag.lineage.walk(40) if flag.lineage is not None and flag.tensor in reached else ()
        if flag.tensor != read.ident and any(step is trail for step in made_of):
            loc = read.site.loc
            message = f"`{read.name}` does not require grad, so `{read.name}.grad` stays None"
            notes = [(flag.site.loc, "the gradient goes to this tensor, which was made from it")]
            yield Draft(loc, message, effect="grad-none", related=told(notes, callers(read.site.via), besides=loc))
            return


def _never_arrives(facts: Facts, read: GradRead, trail: Lineage, here: Note) -> Iterator[Draft]:
    """A leaf that backward does not reach, as the graph was cut behind it, or was there before the leaf's flag."""
    for backward in facts.of(BackwardCall):
        if backward.lineage is None or not any(step is trail for step in backward.lineage.walk()):
            continue
        cut = _cut(backward, trail)
        flag = next((event.site for event in facts.of(FlagSet) if event.tensor == read.ident), None)
        if cut is not None and cut.loc is not None:
            message = f"{explain_cut(facts, cut)}: no gradient reaches `{read.name}`, and its `.grad` stays None"
            notes = told([here], callers(cut.via), besides=cut.loc)
            yield Draft(cut.loc, message, effect="grad-none", related=notes, fixes=_attached(facts, cut))
        elif flag is not None:
            message = f"{said(facts, flag.loc)} comes after `{read.name}` was used, so `{read.name}.grad` stays None"
            yield Draft(flag.loc, message, effect="grad-none", related=told([here], besides=flag.loc))
        return


def _cut(backward: BackwardCall, trail: Lineage) -> Lineage | None:
    """Where the graph was cut between a tensor and the root of a backward."""
    steps = backward.lineage.walk() if backward.lineage is not None else ()
    return next((s for s in steps if s.cut is not None and s.loc and any(b is trail for b in s.walk())), None)


def _attached(facts: Facts, cut: Lineage) -> tuple[FixDraft, ...]:
    fix = attach(facts, cut)
    return (FixDraft(*fix),) if fix is not None else ()


def _lasting(facts: Facts, made: Loc, *, safe: bool) -> tuple[FixDraft, ...]:
    """Make the leaf of the result; or cut the result off, where its flag is set later; or have it keep its gradient."""
    leaf = leaf_of_result(facts, made)
    if leaf is not None:
        return (leaf,)
    around, node = block_around(facts, made), node_at(facts, made)
    if around is None or node is None:
        return ()
    block, here = around
    loc, statement = block[here]
    indent = indentation(facts, loc, statement)
    match statement:
        case n.Assign(targets=(n.Name(id=name),), value=value) if value is node and indent is not None:
            for _, later in block[here + 1 :]:
                match later:
                    case n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name(id=flagged), attr="requires_grad_"))):
                        if flagged == name:
                            return (FixDraft("Start a new graph here", True, behind(loc, value, ".detach()")),)
            if (updated := _updated(facts, block, here, name)) is not None:
                return (updated,)
            line = (between(loc, statement.end, statement.end), f"\n{indent}{name}.retain_grad()")
            return (FixDraft(f"Keep its gradient: `{name}.retain_grad()`", safe, (line,)),)
    return ()


def _updated(facts: Facts, block: Sequence[Spot], here: int, name: str) -> FixDraft | None:
    """`x = x - lr * x.grad`, which makes a result of the leaf, becomes a write under `no_grad`."""
    loc, statement = block[here]
    written = re.match(rf"{name}(\s*=\s*{name}\s*([-+])\s*)", facts.text(at(loc, statement)))
    match statement:
        case n.Assign(value=n.BinOp(left=n.Name(), right=step)) if written and _reads_grad(step, name):
            pass
        case _:
            return None
    changes = under_no_grad(facts, [block[here]])
    if changes is None:
        return None
    start = statement.start + len(name)
    changes += ((between(loc, start, start + len(written[1])), f" {written[2]}= "),)
    if not any(_reads_grad(later, name) for _, later in block[here + 1 :]):
        indent = indentation(facts, loc, statement)
        changes += ((between(loc, statement.end, statement.end), f"\n{indent}{name}.grad = None"),)
    return FixDraft(f"Write to `{name}` under `no_grad()`: it stays a leaf", False, changes)


def _reads_grad(node: n.Node, name: str) -> bool:
    return any(
        isinstance(part, n.Attribute)
        and part.attr == "grad"
        and isinstance(part.value, n.Name)
        and part.value.id == name
        for part in walk(node)
    )


def _read_there(facts: Facts, read: GradRead, copy: Loc) -> Iterator[FixDraft]:
    """`x.grad` becomes `probe.grad`, where the gradient came to `probe`."""
    match statement_at(facts, copy), node_at(facts, read.site.loc):
        case n.Assign(targets=(n.Name(id=name),)), n.Attribute(value=value, attr="grad"):
            if _function(facts, copy) == _function(facts, read.site.loc):
                yield FixDraft(f"Read `{name}.grad`", True, ((at(read.site.loc, value), name),))


def _function(facts: Facts, loc: Loc) -> tuple[str, str, int] | None:
    """The innermost function around a place; None in the module itself."""
    around = [node for node in path_to(facts, loc) if isinstance(node, n.FunctionDef)]
    return (loc.module, loc.chunk, around[-1].start) if around else None


RULE = Rule("AG201", "grad-of-non-leaf", "`.grad` is read from a tensor that gets no gradient", check, __doc__ or "")
