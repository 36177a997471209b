"""A term of the loss was cut off from the graph: it changes the value of the loss but no gradient.

As far as backward is concerned, `loss = a + weight * b.item()` adds a constant. The same goes for a term that was
detached, computed in numpy or under `no_grad`, or computed by an operator without a derivative.

## Reported
```python
import torch
net = torch.nn.Linear(2, 2)
out = net(torch.ones(1, 2))
penalty = out.abs().mean().item()  # warning: [loss-term-without-gradient]
loss = (out - 1).pow(2).mean() + 0.1 * penalty
loss.backward()
```
## Fixed
```python fixed
import torch
net = torch.nn.Linear(2, 2)
out = net(torch.ones(1, 2))
penalty = out.abs().mean()
loss = (out - 1).pow(2).mean() + 0.1 * penalty
loss.backward()
```
## The number comes first, and the sum is scaled
```python
import torch
net = torch.nn.Linear(2, 2)
out = net(torch.ones(1, 2))
loss = 0.5 * (out.abs().mean().item() + (out - 1).pow(2).mean()) / 2  # warning: [loss-term-without-gradient]
loss.backward()
```
```python fixed
import torch
net = torch.nn.Linear(2, 2)
out = net(torch.ones(1, 2))
loss = 0.5 * (out.abs().mean() + (out - 1).pow(2).mean()) / 2
loss.backward()
```
## A penalty on the slope
```python
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.randn(5, 3, requires_grad=True)
out = net(x)
(slope,) = torch.autograd.grad(out.sum(), x, retain_graph=True)  # warning: [loss-term-without-gradient]
loss = out.mean() + ((slope.norm(dim=1) - 1) ** 2).mean()
loss.backward()
```
```python fixed
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.randn(5, 3, requires_grad=True)
out = net(x)
(slope,) = torch.autograd.grad(out.sum(), x, retain_graph=True, create_graph=True)
loss = out.mean() + ((slope.norm(dim=1) - 1) ** 2).mean()
loss.backward()
```
## Not reported
The detached value only weights a term, or is only printed.
```python
import torch
net = torch.nn.Linear(2, 2)
out = net(torch.ones(1, 2))
one, other = out.pow(2).mean(), (out - 1).abs().mean()
balance = (one / other).detach()
loss = one + balance * other
loss.backward()
total = one.item() + other.item()
```
A running mean of values that earlier iterations have already used in backward.
```python
import torch
w = torch.ones(3, requires_grad=True)
mean = torch.zeros(())
for step in range(3):
    reward = (w * w).sum()
    (reward - mean).backward()
    mean = 0.9 * mean + 0.1 * reward.detach()
```
Or one that is cut off where it is used; that it keeps the graphs of all iterations is another matter.
```python
import torch
w = torch.ones(3, requires_grad=True)
mean = torch.zeros(())
for step in range(3):
    reward = (w * w).sum()
    (reward - mean.detach()).backward()
    mean = 0.9 * mean + 0.1 * reward  # warning: [graph-kept-across-iterations]
```
A divergence from a detached target: one of its terms is constant, the other learns.
```python
import torch
net = torch.nn.Linear(2, 3)
x = torch.ones(1, 2)
target = net(x).detach()
log_q, log_p = target.log_softmax(1), net(x + 0.1).log_softmax(1)
divergence = (target.softmax(1) * log_q).sum() - (target.softmax(1) * log_p).sum()
divergence.backward()
```
A straight-through estimate: the term without a graph takes back the value of the one with a graph.
```python
import torch
logits = torch.randn(2, 3, requires_grad=True)
soft = logits.softmax(1)
hard = torch.zeros(2, 3).scatter_(1, soft.argmax(1, keepdim=True), 1.0)
((hard - soft.detach() + soft) * torch.arange(3.0)).sum().backward()
torch.nn.functional.gumbel_softmax(logits, hard=True).square().sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.pieces import drop_suffix
from analyzers.drafting.edits.regrading import attach
from analyzers.drafting.places.cuts import attached, differentiation
from analyzers.drafting.places.tree import node_at
from analyzers.drafting.words import Note, advice_on, callers, explain_cut, said, told
from analyzers.machine.core.events import BackwardCall
from analyzers.syntax import nodes as n

_SUMS = frozenset({"add", "radd", "sub", "rsub", "+", "-", "stack", "cat", "iadd", "isub"})
_NUMERIC = frozenset({"mul", "rmul", "div", "truediv", "neg", "*", "/", "imul", "itruediv"})
_SCALES = _NUMERIC | {"clone", "to", "float", "squeeze", "view", "reshape"}
_REDUCTIONS = frozenset({"sum", "mean"})
_CUTS = frozenset({"detach", "data", "no-grad", "inference", "left-torch", "no-derivative", "leaf-copy"})
_NEAR = 400
_DONE = 12


def check(facts: Facts) -> Iterator[Draft]:
    roots = {id(b.lineage): b for b in facts.of(BackwardCall) if b.lineage is not None}
    seen: set[Loc] = set()
    for backward in roots.values():
        for total, term in _constant_terms(backward.lineage):
            cut = _cut_behind(term)
            if cut is None or cut.loc is None or cut.loc in seen or _is_meant(backward, total, term, cut, roots):
                continue
            seen.add(cut.loc)
            yield _draft(facts, backward, total, cut, cut.loc)


def _constant_terms(root: Lineage | None) -> Iterator[tuple[Lineage, Lineage]]:
    """The terms without a graph in the sums that make up a loss, each with its sum."""
    queue = [(root, False)] if root is not None and root.attached else []
    seen: set[int] = set()
    for step, reduced in queue:
        if id(step) in seen or len(seen) > _NEAR:
            continue
        seen.add(id(step))
        linear = [parent for parent in step.parents if parent.attached]
        if step.what in _SUMS:
            if not (reduced and step.what in {"sub", "rsub", "-", "isub"}):
                yield from ((step, term) for term in step.parents if not (term.attached or term.doubted))
            queue += [(parent, reduced) for parent in linear]
        elif (step.what in _SCALES and len(linear) == 1) or step.what in _REDUCTIONS:
            queue += [(parent, reduced or step.what in _REDUCTIONS) for parent in linear]


def _cut_behind(term: Lineage) -> Lineage | None:
    """Where a term was cut from a graph; None where it never had one, or may still have."""
    cut: Lineage | None = None
    seen: set[int] = set()
    queue = [term]
    for step in queue:
        if id(step) in seen or len(seen) > _NEAR:
            continue
        seen.add(id(step))
        if step.attached or step.doubted:
            return None
        if step.cut is not None:
            cut = cut or (step if step.cut in _CUTS else None)
            continue
        # Whatever unknown data a term is compared with or made of, the result has no graph.
        queue.extend(parent for parent in step.parents if parent.what != "?")
    return cut


def _is_meant(
    backward: BackwardCall, total: Lineage, term: Lineage, cut: Lineage, roots: dict[int, BackwardCall]
) -> bool:
    """Whether a term is made from the others, as in `x + (y - x).detach()`, or from what another backward uses; or
    what was cut is a target, which a term with a graph is compared with."""
    others = [parent for parent in total.parents if parent is not term]
    if any(step is other for step in term.walk(_NEAR) for other in others):
        return True
    if any(step is cut for other in others for step in other.walk(_NEAR)):
        return True
    sources = list(_summed_in(cut))
    done = [b.lineage for b in roots.values() if b is not backward and b.lineage is not None]
    return any(attached(root, source) for root in done[-_DONE:] for source in sources)


def _summed_in(cut: Lineage) -> Iterator[Lineage]:
    """What had a graph where it was cut off, and what that is the sum or a multiple of."""
    queue = [cut]
    seen: set[int] = set()
    for step in queue:
        if id(step) in seen or len(seen) > _NEAR:
            continue
        seen.add(id(step))
        if step is cut or step.what in _SUMS | _SCALES:
            parts = [parent for parent in step.parents if parent.attached and parent.parents]
            yield from parts
            queue += parts


def _draft(facts: Facts, backward: BackwardCall, total: Lineage, cut: Lineage, loc: Loc) -> Draft:
    message = f"{explain_cut(facts, cut)}: as a term of the loss, it contributes no gradient"
    notes: list[Note] = [(total.loc, "it is added to the loss here")] if total.loc is not None else []
    notes.append((backward.site.loc, f"{said(facts, backward.site.loc)} runs without it"))
    related = told(notes, callers(cut.via), besides=loc)
    fixes = tuple(_keep(facts, cut, loc))
    return Draft(loc, message, effect="no-gradient-flows", related=related, fixes=fixes, advice=advice_on(cut))


def _keep(facts: Facts, cut: Lineage, loc: Loc) -> Iterator[FixDraft]:
    recorded = attach(facts, cut) if differentiation(facts, loc) is not None else None
    if recorded is not None:
        yield FixDraft(recorded[0], False, recorded[2])
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(attr="item" | "detach" as name) as func, args=()) as call:
            yield FixDraft(f"Keep the tensor: drop `.{name}()`", False, (drop_suffix(facts, loc, func, call),))


RULE = Rule("AG213", "loss-term-without-gradient", "A term of the loss was cut from its graph", check, __doc__ or "")
