"""Each iteration runs backward, and all of them go through a part of the graph that was built earlier.

The first iteration's backward frees that part, and the second iteration's backward needs it again. Either the part is
built once, outside the loop, and belongs inside it; or a value is carried from one iteration to the next (a hidden
state, a queue, a running mean) and should be detached on the way.

## Reported
```python
import torch
w = torch.ones(3, requires_grad=True)
scale = w.exp()  # error: [graph-reused-across-iterations]
for x in torch.randn(2, 3):
    loss = (scale * x).sum()
    loss.backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
for x in torch.randn(2, 3):
    scale = w.exp()
    loss = (scale * x).sum()
    loss.backward()
```
## Carried over
```python
import torch
w = torch.ones(3, requires_grad=True)
h = torch.zeros(3)
for x in torch.randn(2, 3):
    h = torch.tanh(h * w + x)  # error: [graph-reused-across-iterations]
    h.sum().backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
h = torch.zeros(3)
for x in torch.randn(2, 3):
    h = h.detach()
    h = torch.tanh(h * w + x)
    h.sum().backward()
```
A state with several parts does not exist before the first iteration, so it is detached at the end of each one.
```python
import torch
rnn = torch.nn.LSTM(2, 3)
state = None
for x in torch.randn(3, 4, 2):
    out, state = rnn(x, state)  # error: [graph-reused-across-iterations]
    out.sum().backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
```python fixed
import torch
rnn = torch.nn.LSTM(2, 3)
state = None
for x in torch.randn(3, 4, 2):
    out, state = rnn(x, state)
    out.sum().backward()
    state = tuple(part.detach() for part in state)
```
## Collected and never emptied
```python
import torch
w = torch.ones(3, requires_grad=True)
losses = []
for x in torch.randn(2, 3):
    losses.append((w.exp() * x).sum())  # error: [graph-reused-across-iterations]
    torch.stack(losses).sum().backward()  # raises: RuntimeError "Trying to backward through the graph a second time"
```
```python fixed
import torch
w = torch.ones(3, requires_grad=True)
losses = []
for x in torch.randn(2, 3):
    losses.append((w.exp() * x).sum())
    torch.stack(losses).sum().backward()
    losses.clear()
```
## Not reported
```python
import torch
w = torch.ones(3, requires_grad=True)
h = torch.zeros(3)
for x in torch.randn(2, 3):
    h = torch.tanh(h.detach() * w + x)
    h.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.carrying import detach_carried
from analyzers.drafting.edits.collecting import collected, empty_after
from analyzers.drafting.edits.rebuilding import compute_in_loop
from analyzers.drafting.places.tree import at, node_at
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.causes import Freed, Raised
from analyzers.machine.core.events import StepCall
from analyzers.rules.raising.backward.backward_twice import across_iterations, is_carried, is_left_over, keep_graph
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(Freed):
        if across_iterations(event, cause) and not is_left_over(facts, event, cause):
            yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: Freed) -> Draft:
    node = cause.node
    loc = node.loc or event.site.loc
    carried = is_carried(node, event.site.iterations)
    related: list[Note] = callers(node.via)
    related.append((event.site.loc, "each iteration's backward goes through it"))
    if node.freed_at is not None:
        related.append((node.freed_at, "an earlier iteration's backward freed it here"))
    what = said(facts, loc)
    kept = list(_kept(facts, loc)) if carried else []
    detached = tuple(detach_carried(facts, loc, node.via, event.site)) if carried else ()
    is_collected = carried and not kept and not detached
    collection = collected(facts, loc, node.via, event.site.loc) if is_collected else None
    if collection is not None:
        message = f"{what} from an earlier iteration is still in `{facts.text(collection)}`: empty it in each iteration"
    elif carried and (store := _store(facts, kept)) is not None:
        message = f"{what} of an earlier iteration is still in `{store}`: compute it anew in each, or keep it detached"
    elif carried:
        message = f"{what} of an earlier iteration is in this one's graph: `detach()` what is carried over"
    else:
        message = f"{what} is computed once, and the first backward frees its graph: compute it for each backward"
    notes = told(kept, related, callers(event.site.via), besides=loc)
    if collection is not None:
        fixes = tuple(empty_after(facts, collection, event.site.loc))
    elif carried:
        fixes = detached or tuple(_detach_kept(facts, kept))
    else:
        rebuilt = compute_in_loop(facts, loc, node.via, event.site)
        fixes = (rebuilt,) if rebuilt is not None else ()
    # With a step in between, a kept graph would need parameters that have changed since.
    if not facts.of(StepCall):
        fixes += tuple(keep_graph(facts, cause))
    return Draft(loc, message, event, related=notes, fixes=fixes)


def _kept(facts: Facts, loc: Loc) -> Iterator[Note]:
    """Where an object carries the value into the next iteration."""
    for binding in facts.run.bindings:
        if binding.lineage is not None and binding.lineage.loc == loc and not binding.name.isidentifier():
            yield binding.loc, f"`{binding.name}` keeps it for the next iteration"


def _store(facts: Facts, kept: list[Note]) -> str | None:
    """The item of a container that keeps the value, such as a cache."""
    for loc, _ in kept:
        match node_at(facts, loc):
            case n.Assign(targets=(n.Subscript() as target,)):
                return facts.text(at(loc, target))
    return None


def _detach_kept(facts: Facts, kept: list[Note]) -> Iterator[FixDraft]:
    """`self.state = state` becomes `self.state = state.detach()`."""
    for loc, _ in kept:
        match node_at(facts, loc):
            case n.Assign(targets=(n.Attribute(),), value=n.Name() | n.Attribute() as value):
                place = at(loc, value)
                yield FixDraft("Detach the stored value", False, ((place, f"{facts.text(place)}.detach()"),))
                return


RULE = Rule(
    "AG103", "graph-reused-across-iterations", "Every iteration's backward goes through a graph built earlier", check,
    __doc__ or "",
)  # fmt: skip
