"""A step leaves parameters as they are: backward never reaches them, or they came after the optimizer was made.

The model runs, the loss may even fall, and part of it stays as it was initialised: a branch that the forward pass does
not use or detaches, a head that was replaced, a layer that was added when the optimizer had already taken its list.

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
## Reported: a layer added after the optimizer was made
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
## Not reported
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

from analyzers.domain.lineage import Loc
from analyzers.machine.events import BackwardCall, LeftOut
from analyzers.rules.base import Draft, Facts, Rule
from analyzers.rules.trace import callers, origin, said, told


def check(facts: Facts) -> Iterator[Draft]:
    steps: dict[tuple[Loc, str], list[LeftOut]] = {}
    for event in facts.of(LeftOut):
        if event.how == "late" or (event.how == "unreached" and _never_reached(facts, event.parameter)):
            steps.setdefault((event.site.loc, event.how), []).append(event)
    for (loc, how), events in steps.items():
        count = len({event.parameter for event in events})
        some = "a parameter" if count == 1 else f"{count} parameters"
        if how == "late":
            message = f"{said(facts, loc)} leaves out {some} made after the optimizer, though backward reaches them"
        else:
            message = f"{said(facts, loc)} never changes {some} of the optimizer: no backward reaches them"
        made = [note for event in events for note in origin(event.lineage, "made here")]
        notes = told(made[:4], callers(events[0].site.via), besides=loc)
        yield Draft(loc, message, effect="param-not-updated", related=notes)


def _never_reached(facts: Facts, parameter: int) -> bool:
    return all(not backward.unknown and parameter not in backward.reached for backward in facts.of(BackwardCall))


RULE = Rule("AG203", "parameters-unreached", "A step leaves parameters as they are", check, __doc__ or "")
