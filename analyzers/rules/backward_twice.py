"""A second backward runs through a part of the graph that the first one freed.

Backward frees what the nodes it visits had saved. A second backward through such a node raises, unless the first was
told to keep the graph. Nodes that saved nothing (a sum, a view) may be run through as often as one likes.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.sum().backward()  # error: [backward-twice]
y.mean().backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
## Fixed
Adding up the losses first and calling backward once is often better, so this is left to a person to accept.
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.sum().backward(retain_graph=True)
y.mean().backward()
```
## Not reported
The product by a number saves nothing of the tensor.
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w + 2
y.sum().backward()
y.mean().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.machine.events import BackwardCall, Freed, Raised
from analyzers.rules.base import Draft, Facts, FixDraft, Rule
from analyzers.rules.edits import add_argument, between, node_at
from analyzers.rules.trace import Note, callers, said, told
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(Freed):
        if not across_iterations(event, cause):
            yield _draft(facts, event, cause)


def across_iterations(event: Raised, cause: Freed) -> bool:
    """Whether the freed node was made before the iteration in which backward meets it again."""
    now = event.site.iterations
    older = cause.node.epoch[: len(now)] != now
    return bool(now) and older and (now[-1] != 0 or cause.node.freed_at == event.site.loc)


def _draft(facts: Facts, event: Raised, cause: Freed) -> Draft:
    node, again = cause.node, event.site.loc
    first = node.freed_at or again
    taken = taken_in(facts, cause)
    related: list[Note] = [(taken, "the first backward's loss takes it in here")] if taken is not None else []
    shared = "a part of the graph"
    if node.loc is not None:
        shared = said(facts, node.loc)
        related.append((node.loc, "both backward passes go through this"))
        related += callers(node.via)
    related.append((again, "the second backward runs here"))
    message = f"{said(facts, first)} frees the graph behind {shared}, and a later backward goes through it again"
    notes = told(related, callers(node.freed_via), callers(event.site.via), besides=first)
    fixes = (*_detach(facts, cause, taken), *keep_graph(facts, cause))
    return Draft(first, message, event, related=notes, fixes=fixes)


def taken_in(facts: Facts, cause: Freed) -> Loc | None:
    """Where, in the function that made the shared part, the tensor that was backwarded first uses it."""
    node = cause.node
    first = next((c for c in facts.of(BackwardCall) if c.site.loc == node.freed_at), None)
    if first is None or first.lineage is None:
        return None
    user: dict[int, Lineage] = {}
    for step in first.lineage.walk():
        if step.loc == node.loc and id(step) in user:
            taker = user[id(step)]
            return (*taker.via, taker.loc)[len(step.via)] if len(taker.via) >= len(step.via) else None
        for parent in step.parents:
            user.setdefault(id(parent), step)
    return None


def _detach(facts: Facts, cause: Freed, taken: Loc | None) -> Iterator[FixDraft]:
    """`loss_of(net, fake)` becomes `loss_of(net, fake.detach())`."""
    names = {b.name for b in facts.run.bindings if b.lineage is not None and b.lineage.loc == cause.node.loc}
    call = node_at(facts, taken) if taken is not None else None
    if taken is None or not isinstance(call, n.Call):
        return
    for argument in call.args:
        if isinstance(argument, n.Name) and argument.id in names:
            spot = between(taken, argument.end, argument.end)
            yield FixDraft(f"Hand over `{argument.id}` without its graph", False, ((spot, ".detach()"),))


def keep_graph(facts: Facts, cause: Freed) -> Iterator[FixDraft]:
    first = cause.node.freed_at
    call = node_at(facts, first) if first is not None else None
    if first is None or not isinstance(call, n.Call) or any(k.arg == "retain_graph" for k in call.keywords):
        return
    if isinstance(call.func, n.Attribute) and call.func.attr in {"backward", "grad"}:
        change = add_argument(facts, first, call, "retain_graph=True")
        yield FixDraft("Keep the graph in the first backward (`retain_graph=True`)", False, (change,))


RULE = Rule("AG102", "backward-twice", "A second backward runs through a graph that was freed", check, __doc__ or "")
