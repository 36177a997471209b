"""A step uses gradients that still contain those an earlier step has already used.

Backward adds to `.grad`. Unless `.grad` is cleared after a step, the next step uses the sum of all gradients so far.
Accumulating several backward passes before one step is different, and fine.

## Reported
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.ones(2, 3)).pow(2).mean()
    loss.backward()  # warning: [gradients-never-zeroed]
    opt.step()
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.ones(2, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
```
## Not reported
Two backward passes for each step.
```python
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    net(torch.ones(2, 3)).pow(2).mean().backward()
    if step % 2 == 1:
        opt.step()
        opt.zero_grad()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import insert_before
from analyzers.drafting.places.tree import before_dot, node_at, statement_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import BackwardCall, GradAccumulated, NotCalled, StepCall, ZeroCall
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    seen: set[tuple[Loc, Loc]] = set()
    if any(event.method in {"zero_grad", "zero_"} for event in facts.of(NotCalled)):
        return
    for event in facts.of(GradAccumulated):
        loc, step = event.site.loc, event.again.loc
        if (loc, step) in seen or not event.site.iterations or _cleared_otherwise(facts, event):
            continue
        seen.add((loc, step))
        used = said(facts, event.step.loc)
        message = f"{said(facts, loc)} adds to gradients that {used} has used and that were never cleared"
        notes = told(
            [(event.step.loc, "this step has used them"), (step, "this step uses the sum")], callers(event.site.via),
            besides=loc,
        )  # fmt: skip
        yield Draft(
            loc,
            message,
            effect="grad-accumulates",
            related=notes,
            fixes=tuple(_zero(facts, _first(facts, event), step)),
        )


def _cleared_otherwise(facts: Facts, event: GradAccumulated) -> bool:
    """Whether another path through the same iteration clears them first: `if clear: opt.zero_grad()`."""
    steps = {step.optimizer for step in facts.of(StepCall) if step.site == event.again}
    events = facts.run.events
    return any(
        isinstance(earlier, ZeroCall)
        and earlier.optimizer in steps
        and earlier.site.iterations == event.site.iterations
        and earlier.site.via == event.site.via
        for earlier in events[: events.index(event)]
    )


def _first(facts: Facts, event: GradAccumulated) -> Loc:
    """The first backward of an iteration that fills what its step uses: what comes after the step is not to be used."""
    loc, step = event.site.loc, event.again.loc
    moved = {ident for each in facts.of(StepCall) if each.site == event.again for ident in each.parameters}
    before = [
        each.site.loc
        for each in facts.of(BackwardCall)
        if each.site.iterations == event.again.iterations
        and each.site.via == event.again.via
        and (each.site.loc.module, each.site.loc.chunk) == (step.module, step.chunk)
        and each.site.loc.start < step.start < loc.start
        and not moved.isdisjoint(each.reached)
    ]
    return min(before, key=lambda each: each.start, default=loc)


def _zero(facts: Facts, loc: Loc, step: Loc) -> Iterator[FixDraft]:
    """`opt.zero_grad()` before the backward; safe where it is the only one in its block's loop."""
    call = node_at(facts, step)
    if (
        not isinstance(call, n.Call)
        or not isinstance(call.func, n.Attribute)
        or call.func.attr != "step"
        or loc.chunk != step.chunk
    ):
        return
    statement = statement_at(facts, loc)
    if statement is None:
        return
    owner = facts.text(Loc(step.module, step.chunk, call.start, before_dot(facts, step, call.func).start))
    change = insert_before(facts, loc, statement, f"{owner}.zero_grad()")
    if change is not None:
        alone = len({b.site.loc for b in facts.of(BackwardCall)}) == 1
        yield FixDraft(f"Clear the gradients first: `{owner}.zero_grad()`", alone, (change,))


RULE = Rule(
    "AG301",
    "gradients-never-zeroed",
    "Gradients accumulate across steps because they are never cleared",
    check,
    __doc__ or "",
)
