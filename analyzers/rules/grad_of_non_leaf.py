"""`.grad` is read of a tensor that backward fills no gradient into.

Gradients arrive at leaves. What was scaled, moved, reshaped or cloned after `requires_grad=True` is a result: its
`.grad` stays None, with a warning at most, and so does that of a leaf whose detached copy went into the loss. Where
the None is then used, that line raises.

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
## A result on the way
What is no leaf keeps its gradient only when it is told to.
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
## A step that makes a result of the leaf
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
## A leaf for each round
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

from analyzers.domain.lineage import Lineage, Loc
from analyzers.machine.events import BackwardCall, FlagSet, GradRead, NoneGradUsed, Raised, Rewrapped
from analyzers.rules.base import Draft, Facts, FixDraft, Rule
from analyzers.rules.blocks import Spot, block_around, under_no_grad
from analyzers.rules.edits import at, between, indentation, node_at, path_to, statement_at, walk
from analyzers.rules.regrading import attach, behind, leaf_of_result
from analyzers.rules.trace import Note, callers, explain_cut, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    used: set[Loc] = set()
    for event, cause in facts.raised(NoneGradUsed):
        made = cause.lineage.loc if cause.lineage is not None else None
        if made is not None:
            used.add(made)
        yield _used(facts, event, cause, made)
    ran = False
    for other in facts.run.events:
        ran = ran or isinstance(other, BackwardCall)
        if ran and isinstance(other, GradRead):
            made = other.tensor.lineage.loc if other.tensor.lineage is not None else None
            if made is not None and made not in used:
                yield from _read(facts, other, made)


def _used(facts: Facts, event: Raised, cause: NoneGradUsed, made: Loc | None) -> Draft:
    here = event.site.loc
    name = cause.name.removesuffix(".grad")
    message = f"`{name}.grad` is None here: no backward has filled it"
    if made is None or cause.lineage is None or not cause.lineage.parents:
        notes: list[Note] = [(made, "the tensor is made here")] if made is not None else []
        return Draft(here, message, event, related=told(notes, callers(event.site.via), besides=here))
    message = f"{said(facts, made)} is no leaf, so its `.grad` stays None, and using it raises"
    notes = [*callers(cause.lineage.via), (here, f"`{name}.grad` is used here")]
    notes = [*notes, *callers(event.site.via)]
    return Draft(made, message, event, related=told(notes, besides=made), fixes=_lasting(facts, made, safe=False))


def _read(facts: Facts, read: GradRead, made: Loc) -> Iterator[Draft]:
    here: Note = (read.site.loc, f"`{read.name}.grad` is read here, and is None")
    trail = read.tensor.lineage
    if trail is None:
        return
    if read.tensor.requires_grad is False:
        yield from _went_elsewhere(facts, read, trail, here)
        return
    if read.tensor.is_leaf is False:
        message = f"{said(facts, made)} is no leaf, so `{read.name}.grad` stays None"
        notes = told(callers(trail.via), [here], besides=made)
        yield Draft(made, message, effect="grad-none", related=notes, fixes=_lasting(facts, made, safe=True))
        return
    for copy in facts.of(Rewrapped):
        if any(step is trail for step in copy.lineage.walk(40)):
            loc = copy.site.loc
            message = f"{said(facts, loc)} makes a new leaf: the gradient goes there, and its `.grad` stays None"
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
            notes = [(flag.site.loc, "the gradient comes to this tensor, which is made of it")]
            yield Draft(loc, message, effect="grad-none", related=told(notes, callers(read.site.via), besides=loc))
            return


def _never_arrives(facts: Facts, read: GradRead, trail: Lineage, here: Note) -> Iterator[Draft]:
    """A leaf that backward does not reach, as the graph was cut behind it, or was there before the leaf's flag."""
    for backward in facts.of(BackwardCall):
        steps = list(backward.lineage.walk()) if backward.lineage is not None else []
        if not any(step is trail for step in steps):
            continue
        cut = next((s for s in steps if s.cut is not None and s.loc and any(b is trail for b in s.walk())), None)
        flag = next((event.site for event in facts.of(FlagSet) if event.tensor == read.ident), None)
        if cut is not None and cut.loc is not None:
            message = f"{explain_cut(facts, cut)}: no gradient comes to `{read.name}`, and its `.grad` stays None"
            notes = told([here], callers(cut.via), besides=cut.loc)
            fix = attach(facts, cut)
            fixes = (FixDraft(*fix),) if fix is not None else ()
            yield Draft(cut.loc, message, effect="grad-none", related=notes, fixes=fixes)
        elif flag is not None:
            message = f"{said(facts, flag.loc)} comes after `{read.name}` was used, so `{read.name}.grad` stays None"
            yield Draft(flag.loc, message, effect="grad-none", related=told([here], besides=flag.loc))
        return


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
                            return (FixDraft("Begin a new graph here", True, behind(loc, value, ".detach()")),)
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


RULE = Rule("AG201", "grad-of-non-leaf", "`.grad` is read of a tensor that gets no gradient", check, __doc__ or "")
