"""Backward runs on a new leaf made from a loss, and trains nothing.

`torch.tensor(loss.item(), requires_grad=True)`, or `requires_grad_()` on a loss without a graph, silences the error
about the missing graph. But the gradient ends at the new leaf, and no parameter gets one.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss = torch.tensor(loss.item(), requires_grad=True)  # warning: [loss-rewrapped]
loss.backward()
```
## Fixed
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss = loss
loss.backward()
```
## `requires_grad_()` on a loss without a graph
```python
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    loss = (w * w).sum()
loss.requires_grad_()  # warning: [loss-rewrapped]
loss.backward()
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()

loss.backward()
```
## A leaf made of numbers
```python
import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for size in (1.0, 2.0):
    opt.zero_grad()
    loss = torch.tensor(size, requires_grad=True)  # warning: [loss-rewrapped]
    loss.backward()
    opt.step()
```
## Not reported
A detached input is a leaf on purpose, because its gradient is wanted.
```python
import torch
w = torch.ones(3, requires_grad=True)
x = (w * 2).detach().requires_grad_()
(x * x).sum().backward()
g = x.grad
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Change, Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import attach
from analyzers.drafting.places.blocks import block_around, is_alone_on_lines
from analyzers.drafting.places.cuts import cuts
from analyzers.drafting.places.training import held
from analyzers.drafting.places.tree import at, between, is_bare, node_at, statement_at
from analyzers.drafting.words import callers, explain_cut, said, told
from analyzers.machine.core.events import BackwardCall, EndedAtCut, GradRead, GradTaken, StepCall
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for call in facts.of(BackwardCall):
        leaf = call.lineage
        if call.root_is_leaf and leaf is not None and leaf.cut == "rewrapped" and leaf.loc is not None:
            yield _draft(facts, call, leaf, leaf.loc)
    yield from _made_of_numbers(facts)
    yield from _parts(facts)


def _made_of_numbers(facts: Facts) -> Iterator[Draft]:
    """A leaf from which a loop runs backward, though no optimizer has it and nobody asks for its gradient."""
    own, seen = held(facts), set[Loc]()
    taken = {event.leaf for event in facts.of(GradTaken)} | {event.ident for event in facts.of(GradRead)}
    for call in facts.of(BackwardCall):
        leaf = call.lineage
        if not call.root_is_leaf or not call.site.iterations or leaf is None or leaf.loc is None:
            continue
        if leaf.cut == "rewrapped" or leaf.loc in seen or len(call.reached) != 1:
            continue
        known = bool(own and facts.of(StepCall)) or _is_inside(leaf.loc, call.site.iterations[-1][0])
        if known and own.isdisjoint(call.reached) and taken.isdisjoint(call.reached):
            seen.add(leaf.loc)
            notes = [(call.site.loc, "backward starts here and ends immediately")]
            message = f"{said(facts, leaf.loc)} creates a new leaf: backward reaches no parameters"
            related = told(notes, callers(leaf.via), besides=leaf.loc)
            yield Draft(leaf.loc, message, effect="no-gradient-flows", related=related)


def _is_inside(loc: Loc, loop: Loc) -> bool:
    """Whether a leaf is made anew in each round of a loop: no optimizer from before the loop has it."""
    return (loc.module, loc.chunk) == (loop.module, loop.chunk) and loop.start <= loc.start < loop.end


def _parts(facts: Facts) -> Iterator[Draft]:
    """The same for a loss computed from such leaves, if their gradients are never read, and no optimizer has them."""
    calls = facts.of(BackwardCall)
    reached = {leaf for call in calls for leaf in call.reached}
    taken = {event.leaf for event in facts.of(GradTaken)} | {event.ident for event in facts.of(GradRead)}
    seen: set[Loc] = set()
    own = held(facts)
    for event in facts.of(EndedAtCut):
        call = next((c for c in calls if c.site == event.site), None)
        loc = event.lineage.loc
        if call is None or loc is None or loc in seen or event.lineage.cut != "rewrapped" or call.root_is_leaf:
            continue
        if event.leaf in own:
            continue  # it is what an optimizer is to change
        asked = taken.intersection((event.leaf, *event.sources))
        if set(call.reached) == {event.leaf} and not asked and not reached.intersection(event.sources):
            seen.add(loc)
            yield _draft(facts, call, event.lineage, loc)


def _draft(facts: Facts, call: BackwardCall, leaf: Lineage, loc: Loc) -> Draft:
    lost = [s for parent in leaf.parents for s in cuts(parent)][:4]
    notes = told(
        [(s.loc, explain_cut(facts, s)) for s in lost if s.loc is not None],
        [(call.site.loc, "backward starts here and ends immediately")], callers(leaf.via), besides=loc,
    )  # fmt: skip
    message = f"{said(facts, loc)} creates a new leaf from a loss that lost its graph: backward reaches no parameters"
    return Draft(loc, message, effect="no-gradient-flows", related=notes, fixes=tuple(_unwrap(facts, loc, lost)))


def _unwrap(facts: Facts, loc: Loc, lost: Sequence[Lineage]) -> Iterator[FixDraft]:
    """`torch.tensor(loss.item(), requires_grad=True)` becomes `loss`; nothing else may have cut its graph."""
    repairs = [attach(facts, step) for step in lost]
    given = [repair for repair in repairs if repair is not None]
    removed = tuple(_removed(facts, loc))
    if not removed or not given or len(given) < len(repairs):
        return
    changes = dict.fromkeys((*removed, *(change for repair in given for change in repair[2])))
    yield FixDraft("Use the loss itself", all(repair[1] for repair in given), tuple(changes))


def _removed(facts: Facts, loc: Loc) -> Iterator[Change]:
    """Removes what makes the leaf: a call around the loss, or the statement that sets its flag."""
    statement = statement_at(facts, loc)
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(value=n.Name(), attr="requires_grad_")) as call if isinstance(
            statement, n.ExprStmt
        ):
            around = block_around(facts, loc)
            spot = at(loc, statement), statement
            if statement.value is call and around is not None and len(around[0]) > 1 and is_alone_on_lines(facts, spot):
                yield spot[0], ""
        case n.Call(args=(value,), keywords=keywords) as call if {k.arg for k in keywords} <= {"requires_grad"}:
            whole = is_bare(value) or (isinstance(statement, n.Assign) and statement.value is call)
            yield between(loc, call.start, value.start), "" if whole else "("
            yield between(loc, value.end, call.end), "" if whole else ")"


RULE = Rule("AG202", "loss-rewrapped", "Backward runs on a leaf made from a loss", check, __doc__ or "")
