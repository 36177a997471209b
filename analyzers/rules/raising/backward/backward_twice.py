"""A second backward runs through part of the graph that the first one freed.

Backward frees the tensors saved by the nodes it visits. A second backward through such a node raises, unless the first
one was told to keep the graph. Nodes that save nothing (a sum, a view) can be traversed any number of times.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.sum().backward()  # error: [backward-twice]
y.mean().backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
## Fixed
One backward on the sum leaves the same gradients, and nothing is traversed twice.
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2

(y.sum() + y.mean()).backward()
```
Keeping the graph is offered too, but not as a safe fix.
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.sum().backward(retain_graph=True)
y.mean().backward()
```
## Gradients that are read one at a time
Here the graph has to be kept, so that fix is safe.
```python
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.sum().backward()  # error: [backward-twice]
first = w.grad.clone()
w.grad = None
y.mean().backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
y = w ** 2
y.sum().backward(retain_graph=True)
first = w.grad.clone()
w.grad = None
y.mean().backward()
```
## Not reported
Adding a number saves nothing.
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

from analyzers.domain.lineage import BLURRED, Lineage, Loc, Round
from analyzers.domain.objects import Node
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import add_argument
from analyzers.drafting.edits.regrading import attach
from analyzers.drafting.places.blocks import block_around, contains, is_alone_on_lines, names_in, plainly_bound
from analyzers.drafting.places.settings import hangs_on_settings
from analyzers.drafting.places.tree import at, between, node_at
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.causes import Freed, Raised
from analyzers.machine.core.events import BackwardCall
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(Freed):
        if not across_iterations(event, cause) and not is_left_over(facts, event, cause):
            yield _draft(facts, event, cause)


def across_iterations(event: Raised, cause: Freed) -> bool:
    """Whether the freed node was made before the iteration in which backward meets it again."""
    now = event.site.iterations
    older = cause.node.epoch[: len(now)] != now
    return bool(now) and older and (now[-1][1] != 0 or cause.node.freed_at == event.site.loc)


def is_carried(node: Node, now: tuple[Round, ...]) -> bool:
    """Whether it was made in an earlier iteration of a loop that is still running."""
    apart = next((pair for pair in zip(node.epoch, now, strict=False) if pair[0] != pair[1]), None)
    return apart is not None and apart[0][0] == apart[1][0]


def is_left_over(facts: Facts, event: Raised, cause: Freed) -> bool:
    """Whether the freed node is of an earlier round, since no setting asked for a new one in this round: nor did any
    in the round before."""
    node, now = cause.node, event.site.iterations
    # A blurred round stands for any two that follow one another.
    if node.loc is None or not (is_carried(node, now) or (now and now[-1][1] >= BLURRED)):
        return False
    places = (event.site.loc, *event.site.via)
    return any(hangs_on_settings(facts, node.loc, node.via, place, event.taken) for place in places)


def _draft(facts: Facts, event: Raised, cause: Freed) -> Draft:
    node, again = cause.node, event.site.loc
    first = node.freed_at or again
    taken = taken_in(facts, cause)
    related: list[Note] = [(taken, "the first backward's loss uses it here")] if taken is not None else []
    shared = "part of the graph"
    if node.loc is not None:
        shared = said(facts, node.loc)
        related.append((node.loc, "both backward passes go through this"))
        related += callers(node.via)
    related.append((again, "the second backward runs here"))
    message = f"{said(facts, first)} frees the graph of {shared}, and a later backward goes through it again"
    notes = told(related, callers(node.freed_via), callers(event.site.via), besides=first)
    second = (again, *event.site.via)
    fixes = (*_detach(facts, cause, taken), *_added_up(facts, first, second), *keep_graph(facts, cause, second))
    return Draft(first, message, event, related=notes, fixes=fixes)


def taken_in(facts: Facts, cause: Freed) -> Loc | None:
    """Where, in the function that made the shared part, the first backward's root uses it."""
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
            yield FixDraft(f"Pass `{argument.id}` without its graph", False, ((spot, ".detach()"),))


def _added_up(facts: Facts, first: Loc, second: tuple[Loc, ...]) -> Iterator[FixDraft]:
    """`one.backward()` and `other.backward()` in one block become `(one + other).backward()`."""
    around = block_around(facts, first)
    if around is None or first in second:
        return
    block, here = around
    calls: dict[int, n.Expr] = {}
    for index in range(here, len(block)):
        match block[index][1]:
            case n.ExprStmt(value=n.Call(func=n.Attribute(value=loss, attr="backward"), args=(), keywords=())):
                calls[index] = loss
            case statement if not plainly_bound(statement) or _asks_for_gradients(statement):
                break
    last = max(calls, default=here)
    if len(calls) < 2 or not any(contains(block[i], place) for i in calls for place in second):
        return
    for index, loss in calls.items():
        if any(names_in(loss) & plainly_bound(block[i][1]) for i in range(index + 1, last)):
            return
    if not all(is_alone_on_lines(facts, block[i]) for i in calls):
        return
    texts = [facts.text(at(block[i][0], loss)) for i, loss in calls.items()]
    if any("\n" in text for text in texts) or len(set(texts)) < len(texts):
        return
    total = at(block[last][0], calls[last])
    changes = tuple((block[i][0], "") for i in calls if i != last)
    yield FixDraft("Run one backward on the sum", True, (*changes, (total, f"({' + '.join(texts)})")))


def _asks_for_gradients(node: n.Node) -> bool:
    return n.mentions(node, "grad", "step", "zero_grad", "backward")


def _are_looked_at(facts: Facts, first: Loc, second: tuple[Loc, ...]) -> bool:
    """Whether the program reads the first backward's gradients before the second, with no step in between."""
    around = block_around(facts, first)
    if around is None or first in second:
        return False
    block, here = around
    later = range(here + 1, len(block))
    end = next((i for i in later if any(contains(block[i], place) for place in second)), here)
    passed = tuple(statement for _, statement in block[here + 1 : end])
    return n.mentions(passed, "grad") and not n.mentions(passed, "step")


def keep_graph(facts: Facts, cause: Freed, second: tuple[Loc, ...] = ()) -> Iterator[FixDraft]:
    """Safe where the program reads the gradients of each backward in turn."""
    first = cause.node.freed_at
    call = node_at(facts, first) if first is not None else None
    if first is None or not isinstance(call, n.Call) or any(k.arg == "retain_graph" for k in call.keywords):
        return
    derivative = _derivative(facts, first, second)
    if derivative is not None:
        yield derivative
    elif isinstance(call.func, n.Attribute) and call.func.attr in {"backward", "grad"}:
        change = add_argument(facts, first, call, "retain_graph=True")
        safe = bool(second) and _are_looked_at(facts, first, second)
        yield FixDraft("Keep the graph in the first backward (`retain_graph=True`)", safe, (change,))


def _derivative(facts: Facts, first: Loc, second: tuple[Loc, ...]) -> FixDraft | None:
    """What a later backward is called on may have been made of derivatives, which are to have graphs of their own."""
    roots = {name for place in second if (call := node_at(facts, place)) is not None for name in names_in(call)}
    for binding in facts.run.bindings:
        for step in binding.lineage.walk() if binding.name in roots and binding.lineage is not None else ():
            if step.loc == first and step.cut == "no-grad":
                repair = attach(facts, step)
                return None if repair is None else FixDraft(*repair)
    return None


RULE = Rule("AG102", "backward-twice", "A second backward runs through a graph that was freed", check, __doc__ or "")
