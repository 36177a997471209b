"""Gradient flows into a value that a loss should treat as fixed: a target, a teacher, an advantage.

A target that is computed by the network in training moves towards the prediction while the prediction moves towards it.
A copy of the network that is never trained accumulates gradients that are never cleared. Compute such values under
`no_grad`, or detach them.

## Reported
```python
import torch
q = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(3):
    now, then = torch.ones(4, 3), torch.zeros(4, 3)
    target = 1.0 + 0.9 * q(then)  # warning: [target-not-detached]
    opt.zero_grad()
    torch.nn.functional.mse_loss(q(now), target).backward()
    opt.step()
```
```python fixed
import torch
q = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(3):
    now, then = torch.ones(4, 3), torch.zeros(4, 3)
    target = (1.0 + 0.9 * q(then)).detach()
    opt.zero_grad()
    torch.nn.functional.mse_loss(q(now), target).backward()
    opt.step()
```
## Reported: a copy that is never trained
```python
import copy
import torch
q = torch.nn.Linear(3, 1)
frozen = copy.deepcopy(q)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(3):
    goal = frozen(torch.zeros(4, 3))  # warning: [target-not-detached]
    opt.zero_grad()
    torch.nn.functional.mse_loss(q(torch.ones(4, 3)), goal).backward()
    opt.step()
```
```python fixed
import copy
import torch
q = torch.nn.Linear(3, 1)
frozen = copy.deepcopy(q)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(3):
    goal = frozen(torch.zeros(4, 3)).detach()
    opt.zero_grad()
    torch.nn.functional.mse_loss(q(torch.ones(4, 3)), goal).backward()
    opt.step()
```
## Reported: an advantage
The weight of a log-probability must not carry gradient; otherwise the actor's loss trains the critic as well.
```python
import torch
actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
for step in range(3):
    state = torch.ones(4, 3)
    dist = torch.distributions.Categorical(logits=actor(state))
    action = dist.sample()
    advantage = action.float() - critic(state).squeeze(-1)
    actor_loss = -(dist.log_prob(action) * advantage).mean()  # warning: [target-not-detached]
    loss = actor_loss + advantage.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
```
```python fixed
import torch
actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
for step in range(3):
    state = torch.ones(4, 3)
    dist = torch.distributions.Categorical(logits=actor(state))
    action = dist.sample()
    advantage = action.float() - critic(state).squeeze(-1)
    actor_loss = -(dist.log_prob(action) * advantage.detach()).mean()
    loss = actor_loss + advantage.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
```
## Reported: one branch of two
A loss that only pulls a network's outputs together is smallest when all outputs are the same.
```python
import torch
encode, predict = torch.nn.Linear(3, 4), torch.nn.Linear(4, 4)
opt = torch.optim.SGD([*encode.parameters(), *predict.parameters()], lr=0.1)
for step in range(3):
    one, other = encode(torch.randn(5, 3)), encode(torch.randn(5, 3))
    loss = -torch.nn.functional.cosine_similarity(predict(one), other).mean()  # warning: [target-not-detached]
    opt.zero_grad()
    loss.backward()
    opt.step()
```
## Reported: a teacher that is trained along
Nothing trains the teacher but the loss whose target it is: it moves towards the student.
```python
import torch
import torch.nn.functional as F
teacher, student = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
opt = torch.optim.SGD(torch.nn.ModuleList([teacher, student]).parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
    s, t = student(x), teacher(x)
    soft = F.kl_div(F.log_softmax(s, 1), F.softmax(t, 1), reduction="batchmean")  # warning: [target-not-detached]
    opt.zero_grad()
    (soft + F.cross_entropy(s, y)).backward()
    opt.step()
```
## Fixed
The optimizer does not hold the teacher.
```python right
import torch
import torch.nn.functional as F
teacher, student = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
    with torch.no_grad():
        t = teacher(x)
    s = student(x)
    soft = F.kl_div(F.log_softmax(s, 1), F.softmax(t, 1), reduction="batchmean")
    opt.zero_grad()
    (soft + F.cross_entropy(s, y)).backward()
    opt.step()
```
## Reported: the same with logarithms, and by hand
```python
import torch
import torch.nn.functional as F
teacher, student = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
opt = torch.optim.SGD(torch.nn.ModuleList([teacher, student]).parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(5, 4)
    s, t = F.log_softmax(student(x), 1), F.log_softmax(teacher(x), 1)
    soft = F.kl_div(s, t, reduction="batchmean", log_target=True)  # warning: [target-not-detached]
    opt.zero_grad()
    soft.backward()
    opt.step()
    hard = -(F.softmax(teacher(x), 1) * F.log_softmax(student(x), 1)).sum()  # warning: [target-not-detached]
    opt.zero_grad()
    hard.backward()
    opt.step()
```
## Reported: a running mean that is trained as well
```python
import copy
import torch
q = torch.nn.Linear(3, 3)
slow = copy.deepcopy(q)
opt = torch.optim.SGD(torch.nn.ModuleList([q, slow]).parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(5, 3)
    goal = slow(x + 1)  # warning: [target-not-detached]
    opt.zero_grad()
    (-torch.nn.functional.cosine_similarity(q(x), goal).mean()).backward()
    opt.step()
    with torch.no_grad():
        for kept, new in zip(slow.parameters(), q.parameters()):
            kept.mul_(0.9).add_(new, alpha=0.1)
```
## Not reported
```python
import copy
import torch
q = torch.nn.Linear(3, 1)
slow = copy.deepcopy(q)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for step in range(3):
    with torch.no_grad():
        target = 1.0 + 0.9 * slow(torch.zeros(4, 3))
    opt.zero_grad()
    torch.nn.functional.mse_loss(q(torch.ones(4, 3)), target).backward()
    opt.step()
    with torch.no_grad():
        for kept, new in zip(slow.parameters(), q.parameters()):
            kept.lerp_(new, 0.1)
```
Two networks that teach each other: each has a loss of its own.
```python
import torch
import torch.nn.functional as F
one, two = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
opt = torch.optim.SGD(torch.nn.ModuleList([one, two]).parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
    a, b = one(x), two(x)
    loss = F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean")
    loss = loss + F.cross_entropy(a, y) + F.cross_entropy(b, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
```
In turn, too.
```python
import torch
import torch.nn.functional as F
one, two = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
opt_one = torch.optim.SGD(one.parameters(), lr=0.1)
opt_two = torch.optim.SGD(two.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
    for this, other, opt in ((one, two, opt_one), (two, one, opt_two)):
        a, b = this(x), other(x)
        loss = F.cross_entropy(a, y) + F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean")
        one.zero_grad()
        two.zero_grad()
        loss.backward()
        opt.step()
```
Weights that are mixed with others, without a loss that goes through both.
```python
import torch
one, two = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
for step in range(3):
    for net in (one, two):
        opt.zero_grad()
        net(torch.randn(5, 4)).pow(2).mean().backward()
        opt.step()
    with torch.no_grad():
        for kept, new in zip(two.parameters(), one.parameters()):
            kept.lerp_(new, 0.1)
```
A product whose gradient is chosen by hand: a log-probability less itself, detached, is zero and has a gradient.
```python
import torch
actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
for step in range(3):
    state = torch.ones(4, 3)
    dist = torch.distributions.Categorical(logits=actor(state))
    action = dist.sample()
    picked = dist.log_prob(action)
    advantage = action.float() - critic(state).squeeze(-1)
    loss = ((1 - torch.exp(picked - picked.detach())) * advantage).mean() + advantage.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
```
Two branches that are both trained.
```python
import torch
encode = torch.nn.Linear(3, 4)
opt = torch.optim.SGD(encode.parameters(), lr=0.1)
for step in range(3):
    one, other = encode(torch.randn(5, 3)), encode(torch.randn(5, 3))
    loss = torch.nn.functional.mse_loss(one, other) - torch.logdet(one.T @ one + torch.eye(4))
    opt.zero_grad()
    loss.backward()
    opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import behind
from analyzers.drafting.places.training import held
from analyzers.drafting.places.tree import node_at, outside_forward
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.events import (
    BackwardCall,
    Compared,
    Dropped,
    FollowerReached,
    GradTaken,
    HandStep,
    OptimizerMade,
    StepCall,
)
from analyzers.report import Effect
from analyzers.syntax import nodes as n

_SAMPLES = frozenset({"multinomial", "bernoulli", "sample"})
_PICKS = frozenset(
    {"gather", "getitem", "index", "take_along_dim", "log_prob", "select", "binary_cross_entropy_with_logits"}
)
_PROBABILITIES = frozenset(
    {"softmax", "log_softmax", "sigmoid", "logsigmoid", "log", "log_prob", "binary_cross_entropy_with_logits"}
)
_PRODUCTS = frozenset({"mul", "*", "mul_"})
_DIFFERENCES = frozenset({"sub", "rsub", "-"})
_NEAR = 600
_BESIDE = 6
_CLOSE = 80


def check(facts: Facts) -> Iterator[Draft]:
    seen = {event.site.loc for event in facts.of(Dropped) if event.source == "graph"}
    if seen:
        return
    for loc, message, effect, notes, target in (*_compared(facts), *_followers(facts), *_weights(facts)):
        if loc not in seen:
            seen.add(loc)
            yield Draft(loc, message, effect=effect, related=told(notes, besides=loc), fixes=_detach(target))


Target = tuple[Loc, n.Node] | None
_Said = tuple[Loc, str, Effect, list[Note], Target]


def _detach(target: Target) -> tuple[FixDraft, ...]:
    return (FixDraft("Detach it", True, behind(*target, ".detach()")),) if target is not None else ()


def _expression(facts: Facts, loc: Loc) -> Target:
    node = node_at(facts, loc)
    return (loc, node) if isinstance(node, n.Call | n.BinOp | n.Name) else None


def _second(facts: Facts, loc: Loc) -> Target:
    """The target of a loss that is called with the prediction first."""
    match node_at(facts, loc):
        case n.Call(args=(_, target)) if not isinstance(target, n.Starred):
            return loc, target
    return None


def _factor(facts: Facts, loc: Loc, weight: Lineage, picked: Lineage) -> Target:
    """The factor that is the weight: the other one holds the log-probability, or this one has its name."""
    node = node_at(facts, loc)
    if not isinstance(node, n.BinOp):
        return None
    named = {b.name for b in facts.run.bindings if b.lineage is weight}
    for side, other in ((node.left, node.right), (node.right, node.left)):
        place = picked.loc
        holds = place is not None and (place.module, place.chunk) == (loc.module, loc.chunk)
        if holds and place is not None and other.start <= place.start and place.end <= other.end:
            return loc, side
        if isinstance(side, n.Name) and side.id in named:
            return loc, side
    return None


def _trained(facts: Facts) -> frozenset[int]:
    """What optimizers hold; nothing, if some may hold more than is known."""
    known = all(event.known for event in facts.of(OptimizerMade)) and all(event.known for event in facts.of(StepCall))
    return held(facts) if known else frozenset()


def _compared(facts: Facts) -> Iterator[_Said]:
    own = _trained(facts)
    following = frozenset(leaf for event in facts.of(FollowerReached) for leaf in event.leaves)
    for event in facts.of(Compared):
        loc = event.node.loc
        if loc is None:
            continue
        notes: list[Note] = [*callers(event.node.via), (event.site.loc, "this backward goes through it")]
        if event.how == "discounted":
            message = f"{said(facts, loc)} is a target computed by the network in training, and gradient flows into it"
            yield loc, message, "wrong-gradient", notes, _expression(facts, loc)
        elif event.how == "branches":
            message = f"{said(facts, loc)} pulls both branches of one network together because neither is detached"
            yield loc, message, "wrong-gradient", notes, None
        elif event.how == "taught":
            if own >= event.leaves and _is_taught_alone(facts, event.leaves):
                message = (
                    f"{said(facts, loc)} fits its target to the prediction: what computes the target is trained by "
                    "nothing else"
                )
                yield loc, message, "wrong-gradient", notes, None
        elif own and event.leaves.isdisjoint(own | following) and not _looked_at(facts, event.leaves):
            message = (
                f"the target in {said(facts, loc)} gets gradient, which accumulates in parameters that nothing trains"
            )
            yield loc, message, "grad-accumulates", notes, _second(facts, loc)


def _is_taught_alone(facts: Facts, leaves: frozenset[int]) -> bool:
    """Whether each backward that reaches some of `leaves` reaches them as the target of a loss."""
    taught = [event.site for event in facts.of(Compared) if event.how == "taught" and event.leaves & leaves]
    return all(leaves.isdisjoint(backward.reached) or backward.site in taught for backward in facts.of(BackwardCall))


def _followers(facts: Facts) -> Iterator[_Said]:
    own = _trained(facts)
    if not facts.of(StepCall) and not facts.of(HandStep):
        return
    for event in facts.of(FollowerReached):
        left = frozenset(event.leaves) if event.trained else frozenset(event.leaves) - own
        node = next((node for leaf, node in zip(event.leaves, event.nodes, strict=True) if leaf in left), None)
        if node is None or not own or _looked_at(facts, left) or node.loc is None:
            continue
        loc = outside_forward(facts, node.loc, node.via)
        if event.trained:
            message = f"{said(facts, loc)} is computed by a network that follows another one, and is trained as well"
        else:
            message = (
                f"{said(facts, loc)} is computed by a copy that is never trained, and backward adds gradients to that "
                "copy"
            )
        effect: Effect = "wrong-gradient" if event.trained else "grad-accumulates"
        target = _expression(facts, loc) if loc == node.loc else None
        yield loc, message, effect, [(event.site.loc, "this backward goes through it")], target


def _looked_at(facts: Facts, leaves: frozenset[int]) -> bool:
    return any(event.leaf in leaves for event in facts.of(GradTaken))


def _weights(facts: Facts) -> Iterator[_Said]:
    for backward in facts.of(BackwardCall):
        for step in _attached(backward.lineage, _NEAR):
            sides = [parent for parent in step.parents if parent.attached]
            if step.what not in _PRODUCTS or len(sides) != 2 or step.loc is None:
                continue
            for side, weight in (sides, reversed(sides)):
                picked = _log_probability(side) or (_likelihood(side) if _is_advantage(weight) else None)
                if picked is None or _is_surrogate(side):
                    continue
                if not any(other is picked for other in _attached(weight, _NEAR)):
                    message = f"{said(facts, step.loc)} weights a log-probability by a value that gets gradient from it"
                    notes: list[Note] = [(picked.loc, "the log-probability is taken here")] if picked.loc else []
                    notes += [*callers(step.via), (backward.site.loc, "this backward goes through both")]
                    target = _factor(facts, step.loc, weight, picked)
                    yield step.loc, message, "wrong-gradient", notes, target


def _attached(lineage: Lineage | None, limit: int) -> Iterator[Lineage]:
    """The steps through which a gradient flows, nearest first."""
    queue = [lineage] if lineage is not None and lineage.attached else []
    seen: set[int] = set()
    for step in queue:
        if id(step) not in seen and len(seen) < limit:
            seen.add(id(step))
            yield step
            queue += [parent for parent in step.parents if parent.attached]


def _log_probability(side: Lineage) -> Lineage | None:
    """Where a probability is indexed by a random draw: the log-probability of a sample."""
    steps = list(_attached(side, _CLOSE))
    if not any(step.what in _PROBABILITIES for step in steps):
        return None
    for step in steps:
        if step.what in _PICKS:
            for parent in step.parents:
                if not parent.attached and any(before.what in _SAMPLES for before in parent.walk(_CLOSE)):
                    return step
    return None


def _likelihood(side: Lineage) -> Lineage | None:
    """The log-probability of something that was drawn earlier."""
    return next((step for step in _attached(side, _CLOSE) if step.what == "log_prob"), None)


def _is_surrogate(side: Lineage) -> bool:
    """Whether a value less itself, detached, is part of it: one has chosen by hand which gradients flow (DiCE)."""
    for step in _attached(side, _CLOSE):
        if step.what in _DIFFERENCES and len(step.parents) == 2:
            one, other = step.parents
            if any(a.what == "detach" and b in a.parents for a, b in ((one, other), (other, one))):
                return True
    return False


def _is_advantage(weight: Lineage) -> bool:
    """Whether a value is the difference between data and a prediction."""
    return any(
        step.what in _DIFFERENCES and sum(parent.attached for parent in step.parents) == 1 < len(step.parents)
        for step in _attached(weight, _BESIDE)
    )


RULE = Rule("AG208", "target-not-detached", "Gradient flows into a target, teacher or advantage", check, __doc__ or "")
