"""An attribute is set under a name that torch does not know, where `requires_grad` was intended.

Python allows any attribute to be set. `w.require_grad = True` and `net.requires_grad = False` create a new attribute
that nothing reads: a tensor's switch is `requires_grad`, a module's is `requires_grad_(...)`.

## Reported
```python
import torch
w = torch.ones(3)
w.require_grad = True  # warning: [misspelt-grad-attribute]
```
## Fixed
```python fixed
import torch
w = torch.ones(3)
w.requires_grad = True
```
## A module has no such switch
```python
import torch
net = torch.nn.Linear(3, 1)
net.requires_grad = False  # warning: [misspelt-grad-attribute]
```
```python fixed
import torch
net = torch.nn.Linear(3, 1)
net.requires_grad_(False)
```
## A comparison where an assignment was meant
```python
import torch
net = torch.nn.Linear(3, 1)
for p in net.parameters():
    p.requires_grad == False  # warning: [misspelt-grad-attribute]
```
```python fixed
import torch
net = torch.nn.Linear(3, 1)
for p in net.parameters():
    p.requires_grad = False
```
## Not reported
```python
import torch
net = torch.nn.Linear(3, 1)
net.weight.requires_grad = False
net.trainable = False
```
A module may store its own setting under this name.
```python
import torch
class Encoder(torch.nn.Module):
    def __init__(self, requires_grad=True):
        super().__init__()
        self.requires_grad = requires_grad
        self.layer = torch.nn.Linear(3, 1)
    def forward(self, x):
        with torch.set_grad_enabled(self.requires_grad):
            return self.layer(x)
Encoder()(torch.ones(2, 3)).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, before_dot, path_to, statement_at
from analyzers.drafting.words import callers, said, told
from analyzers.machine.core.events import Misspelt
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event in facts.of(Misspelt):
        loc = event.site.loc
        if event.module and _is_own_setting(facts, loc):
            continue
        kind = "a module" if event.module else "a tensor"
        right = "`requires_grad_(...)`" if event.module else "`requires_grad`"
        does = "compares" if event.compared else f"only creates an attribute `{event.attr}`"
        unchanged = "no parameter" if event.module else "nothing"
        message = f"{said(facts, loc)} {does} and changes {unchanged}: {kind} has {right}"
        yield Draft(
            loc, message, effect="no-effect-assignment", related=told(callers(event.site.via), besides=loc),
            fixes=tuple(_fixes(facts, event, loc)),
        )  # fmt: skip


def _is_own_setting(facts: Facts, loc: Loc) -> bool:
    """`self.requires_grad = requires_grad`: a module stores a setting for its own use."""
    match statement_at(facts, loc):
        case n.Assign(targets=(n.Attribute(value=n.Name(id="self")),), value=value):
            return not isinstance(value, n.Constant)
    return False


def _fixes(facts: Facts, event: Misspelt, loc: Loc) -> Iterator[FixDraft]:
    statement = statement_at(facts, loc)
    if event.compared:
        yield from _assignment(facts, event, loc, statement)
        return
    target = next((node for node in path_to(facts, loc) if isinstance(node, n.Attribute)), None)
    if not isinstance(statement, n.Assign) or len(statement.targets) != 1 or target is None:
        return
    if event.module:
        owner = facts.text(replace(loc, start=target.start, end=before_dot(facts, loc, target).start))
        text = f"{owner}.requires_grad_({facts.text(at(loc, statement.value))})"
        yield FixDraft("Call `requires_grad_`", True, ((at(loc, statement), text),))
    else:
        name = replace(loc, start=target.attr_start, end=target.end)
        yield FixDraft("Spell it `requires_grad`", True, ((name, "requires_grad"),))


def _assignment(facts: Facts, event: Misspelt, loc: Loc, statement: n.Node | None) -> Iterator[FixDraft]:
    match statement:
        case n.ExprStmt(value=n.Compare(left=left, comparators=(right,))) if not event.module:
            text = f"{facts.text(at(loc, left))} = {facts.text(at(loc, right))}"
            yield FixDraft("Assign it", True, ((at(loc, statement), text),))


RULE = Rule(
    "AG206", "misspelt-grad-attribute", "An attribute is set whose name should be `requires_grad`", check, __doc__ or ""
)
