"""A step leaves parameters unchanged: backward never reaches them, or they were added after the optimizer was created.

The model runs, and the loss may even fall, but part of the model keeps its initial values: a branch that the forward
pass skips or detaches, a head that was replaced, or a layer that was added after the optimizer took its list.

## Reported
```python
import torch
body, head, spare = (torch.nn.Linear(2, 2) for _ in range(3))
opt = torch.optim.SGD([*body.parameters(), *head.parameters(), *spare.parameters()], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    head(body(torch.ones(1, 2))).sum().backward()
    opt.step()  # warning: [parameters-unreached]
```
## Reported: a layer added after the optimizer was created
```python
import torch
model = torch.nn.Sequential(torch.nn.Linear(2, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model.append(torch.nn.Linear(2, 2))
for _ in range(3):
    opt.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    opt.step()  # warning: [parameters-unreached]
```
## Reported: a part that is cut off
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    seen = body(torch.ones(1, 2)).detach()  # warning: [parameters-unreached]
    head(seen).sum().backward()
    opt.step()
```
```python fixed
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    seen = body(torch.ones(1, 2))
    head(seen).sum().backward()
    opt.step()
```
## Reported: a derivative of zero
Rounding, signs and draws have a graph, but all that comes back through them is zeros.
```python
import torch
encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)
opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    code = torch.round(encoder(x))  # warning: [parameters-unreached]
    opt.zero_grad()
    (decoder(code) - x).pow(2).mean().backward()
    opt.step()
```
## Reported: the optimizer of another network
```python
import torch
old = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(old.parameters(), lr=0.1)
net = torch.nn.Linear(2, 1)
for _ in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()  # warning: [parameters-unreached]
```
## Reported: given to no optimizer
This may be intentional or an oversight.
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.1)  # info: [parameters-unreached]
for _ in range(3):
    opt.zero_grad()
    head(body(torch.ones(1, 2))).sum().backward()
    opt.step()
```
## Not reported
Points at which derivatives are asked for, in whatever form.
```python
import torch
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
points = torch.linspace(0, 1, 5).requires_grad_()
for _ in range(3):
    x = points.reshape(-1, 1)
    out = net(x).tanh()
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    opt.zero_grad()
    ((slope - out) ** 2).mean().backward()
    opt.step()
```
A gradient that goes past the rounding, or a sign that is one of several factors.
```python
import torch
encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)
opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    code = encoder(x)
    code = code + (torch.round(code) - code).detach()
    opt.zero_grad()
    out = decoder(code)
    ((out - x).pow(2).mean() + (out * out.sign()).mean()).backward()
    opt.step()
```
What is frozen is not expected to change.
```python
import torch
body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
body.requires_grad_(False)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    head(body(torch.ones(1, 2))).sum().backward()
    opt.step()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.regrading import attach
from analyzers.drafting.places.training import idle_steps
from analyzers.drafting.places.tree import at, between, node_at, walk
from analyzers.drafting.places.unreached import parameters_left_out, root_cuts
from analyzers.drafting.words import Note, callers, explain_cut, named, origin, said, told
from analyzers.machine.core.events import (
    BackwardCall,
    Cleared,
    Compared,
    EndedAtCut,
    GradTaken,
    HandStep,
    LeftOut,
    OptimizerMade,
    OutputReplaced,
    StepCall,
)
from analyzers.report import Severity
from analyzers.syntax import nodes as n

NOWHERE = frozenset({"nowhere", "beside"})
"""How a parameter is left out that no optimizer holds."""


def check(facts: Facts) -> Iterator[Draft]:
    steps: dict[tuple[Loc, str], list[LeftOut]] = {}
    cut_off: dict[Loc, list[LeftOut]] = {}
    for event in facts.of(LeftOut):
        if event.how == "late":
            steps.setdefault((event.site.loc, event.how), []).append(event)
    for event, cut in parameters_left_out(facts):
        if cut is None:
            steps.setdefault((event.site.loc, event.how), []).append(event)
        else:
            cut_off.setdefault(_place(facts, cut), []).append(event)
    idle = list(_idle(facts))
    yield from idle or _nowhere(facts, set(steps))
    yield from _flat(facts)
    yield from _cut_off(facts, cut_off, [step for step, _ in root_cuts(facts)])
    # A replaced part counts as late; of several findings at one place, the first one stays.
    for (loc, how), events in sorted(steps.items(), key=lambda item: item[0][1]):
        count = len({event.parameter for event in events})
        some = "a parameter" if count == 1 else f"{count} parameters"
        if how == "late":
            verb = "is" if count == 1 else "are"
            message = f"{some} created after the optimizer {verb} never updated: {said(facts, loc)} does not know them"
            message = message[0].upper() + message[1:]
            advice = "Make the optimizer after them, or give them to it with `add_param_group({'params': ...})`"
        else:
            message = f"{said(facts, loc)} never changes {some} of the optimizer: no backward reaches them"
            advice = "Let the loss depend on them, or leave them out of the optimizer"
        here = "the parameter is created here" if count == 1 else "one of them is created here"
        made = [note for event in events for note in origin(event.lineage, here)][:4]
        if how == "late":
            optimizers = {event.optimizer for event in events}
            over = (each.site.loc for each in facts.of(OptimizerMade) if each.optimizer in optimizers)
            made += [(place, "the optimizer is created here") for place in over][:1]
        notes = told(made, callers(events[0].site.via), besides=loc)
        yield Draft(loc, message, effect="param-not-updated", related=notes, advice=advice)


def _flat(facts: Facts) -> Iterator[Draft]:
    """Parameters of which every backward computes a gradient of zeros, as it goes through a flat operator."""
    held: dict[int, StepCall] = {}
    for step in facts.of(StepCall):
        held.update(dict.fromkeys(step.parameters, step))
    backwards = facts.of(BackwardCall)
    if facts.run.out_of_fuel or any(each.unknown for each in backwards):
        return
    behind: dict[Loc, dict[int, StepCall]] = {}
    moved = {leaf for each in backwards for leaf in set(each.reached).difference(leaf for leaf, _ in each.flat)}
    for leaf, loc in (pair for each in backwards for pair in each.flat):
        if leaf in held and leaf not in moved:
            behind.setdefault(loc, {})[leaf] = held[leaf]
    for loc, parameters in behind.items():
        site = next(iter(parameters.values())).site
        some = "a parameter" if len(parameters) == 1 else f"{len(parameters)} parameters"
        verb = "gets" if len(parameters) == 1 else "get"
        message = f"{said(facts, loc)} has a derivative of zero, so {some} of the optimizer {verb} nothing but zeros"
        notes = told([(site.loc, f"{said(facts, site.loc)} finds zeros")], callers(site.via), besides=loc)
        advice = "For training, let the gradient pass as if nothing had been done: `x + (round(x) - x).detach()`"
        yield Draft(loc, message, effect="param-not-updated", related=notes, advice=advice)


def _place(facts: Facts, cut: Lineage) -> Loc:
    """The cut itself, or where a forward hook returns what was cut."""
    assert cut.loc is not None
    for event in facts.of(OutputReplaced):
        if event.lineage is not None and any(step is cut for step in event.lineage.walk(20)):
            hook = node_at(facts, event.hook)
            returns = [node for node in walk(hook) if isinstance(node, n.Return)] if hook is not None else []
            if returns:
                return at(event.hook, returns[-1])
    return cut.loc


def _cut_off(facts: Facts, places: dict[Loc, list[LeftOut]], cuts: list[Lineage]) -> Iterator[Draft]:
    for loc, events in places.items():
        count = len({event.parameter for event in events})
        some = "a parameter" if count == 1 else f"{count} parameters"
        cut = next((step for step in cuts if step.loc == loc), None)
        why = explain_cut(facts, cut) if cut is not None else f"{said(facts, loc)} replaces the output of a module"
        step = events[0].site
        message = f"{why}: {some} of the optimizer {'gets' if count == 1 else 'get'} no gradient through it"
        notes = [(step.loc, f"{said(facts, step.loc)} leaves them unchanged")]
        made = [note for event in events for note in origin(event.lineage, "the parameter is created here")]
        related = told(callers(cut.via) if cut is not None else [], notes, made[:3], besides=loc)
        repair = attach(facts, cut) if cut is not None else None
        fixes = (FixDraft(*repair),) if repair is not None else tuple(_only_look(facts, loc))
        advice = ""
        if cut is not None and _is_copied(facts, cut):
            fixes, advice = (), "Keep the tensors as they are, and join them with `torch.stack`: a copy has no graph"
        yield Draft(loc, message, effect="grad-none", related=related, fixes=fixes, advice=advice)


def _is_copied(facts: Facts, cut: Lineage) -> bool:
    """Whether what was cut goes into a new tensor, which would have no graph either."""
    return cut.cut == "left-torch" and any(
        step.what == "torch.tensor" and any(before is cut for before in step.walk())
        for backward in facts.of(BackwardCall)
        if backward.lineage is not None
        for step in backward.lineage.walk()
    )


def _only_look(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`return self.store(out)` becomes `self.store(out)`, in a hook."""
    match node_at(facts, loc):
        case n.Return(value=n.Call() as value):
            yield FixDraft(
                "Return nothing, which keeps the output", True, ((between(loc, loc.start, value.start), ""),)
            )


def _nowhere(facts: Facts, told_otherwise: set[tuple[Loc, str]]) -> Iterator[Draft]:
    """Leaves that no optimizer holds: a waste, if that is intentional, as it hardly is of what starts at random."""
    left: dict[int, LeftOut] = {}
    known = {event.parameter for event in facts.of(LeftOut) if event.how not in NOWHERE}
    known |= {leaf for event in facts.of(Compared) if event.how == "target" for leaf in event.leaves}
    by_hand = bool(facts.of(HandStep))
    for event in facts.of(LeftOut):
        repeated = event.how in NOWHERE and event.site.iterations and not by_hand
        if repeated and event.parameter not in known | {taken.leaf for taken in facts.of(GradTaken)}:
            left.setdefault(event.parameter, event)
    made = facts.of(OptimizerMade)
    if not left or not made or told_otherwise:
        return
    loc = made[-1].site.loc
    step = next(iter(left.values())).site
    some = "a tensor" if len(left) == 1 else f"{len(left)} tensors"
    message = f"backward fills gradients of {some} held by neither {named(facts, loc)} nor any other optimizer"
    origins = [
        note for event in list(left.values())[:3] for note in origin(event.lineage, "the tensor is created here")
    ]
    notes = told(origins, [(step.loc, "this step leaves them out")], besides=loc)
    severity: Severity = "warning" if any(event.how == "beside" for event in left.values()) else "info"
    yield Draft(loc, message, effect="param-not-updated", severity=severity, related=notes)


def _copies(lineage: Lineage | None, made: OptimizerMade) -> list[Note]:
    """Where copies were made of what an optimizer holds, if a loss depends on such."""
    steps = () if lineage is None else lineage.walk()
    copied = [step for step in steps if step.what == "deepcopy" and not set(made.trails).isdisjoint(step.parents)]
    return [note for step in copied[:1] for note in origin(step, "the loss depends on this copy")]


def _idle(facts: Facts) -> Iterator[Draft]:
    """Steps that never find a gradient, because the backward in their iteration goes elsewhere."""
    for step, round_ in idle_steps(facts):
        before = round_[: round_.index(step)]
        last = next((e for e in reversed(before) if isinstance(e, Cleared | BackwardCall)), None)
        made = _made(facts, step)
        if facts.of(EndedAtCut) or (isinstance(last, BackwardCall) and last.root_is_leaf):
            continue
        if not isinstance(last, BackwardCall) or made is None or any(b.unknown for b in facts.of(BackwardCall)):
            continue
        held = {*made.parameters, *step.parameters}
        if any(not held.isdisjoint(b.reached) for b in facts.of(BackwardCall)):
            continue
        if not all(one.of_data for one in facts.run.presumptions) and not _is_cut(last.lineage):
            continue  # what stands in for two unknown values may be one
        loc = step.site.loc
        message = f"{said(facts, loc)} finds no gradient: {said(facts, last.site.loc)} reaches none of its parameters"
        copies = _copies(last.lineage, made)
        if copies:
            message += ", only a copy of them"
        notes = told(
            [(made.site.loc, "the optimizer is created here"), (last.site.loc, "this backward reaches none of them")],
            copies,
            callers(step.site.via), besides=loc,
        )  # fmt: skip
        advice = "A copy keeps its gradients: use `torch.func.functional_call`, or add them to the model's `.grad`"
        yield Draft(loc, message, effect="param-not-updated", related=notes, advice=advice if copies else "")


def _made(facts: Facts, step: StepCall) -> OptimizerMade | None:
    """Where the optimizer of a step was made; of one that stands for several, the place of them all."""
    made = facts.of(OptimizerMade)
    known = next((event for event in made if event.optimizer == step.optimizer), None)
    if known is None and len({event.site.loc for event in made}) == 1:
        return made[-1]
    return known


def _is_cut(lineage: Lineage | None) -> bool:
    """Whether a step took a graph away."""
    return lineage is not None and any(step.cut is not None for step in lineage.walk())


RULE = Rule("AG203", "parameters-unreached", "A step leaves parameters unchanged", check, __doc__ or "")
