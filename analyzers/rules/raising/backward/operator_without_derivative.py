"""Autograd reaches an operator that torch has no derivative for, or one that it refuses to record.

Most operators without a derivative end the graph silently. Some raise when they are called on a tensor that requires
grad, and some only when backward reaches them. No operator can be recorded when it is called with `out=`.

## Reported
```python
import torch
x = torch.ones(3, requires_grad=True)
out = torch.empty(3)
torch.mul(x, 2, out=out)  # error: [operator-without-derivative]  # raises: RuntimeError "don't support automatic"
```
## Division that rounds
Without rounding the values differ, so this fix is not safe.
```python
import torch
w = torch.tensor(2.0, requires_grad=True)
buckets = torch.tensor([1.0, 3.0, 5.0]) // w  # error: [operator-without-derivative]
buckets.sum().backward()  # raises: RuntimeError "derivative for aten::floor_divide is not implemented"
```
```python fixed
import torch
w = torch.tensor(2.0, requires_grad=True)
buckets = torch.tensor([1.0, 3.0, 5.0]) / w
buckets.sum().backward()
```
## A number that should be learnt
A parameter that takes a number has no derivative. A tensor with one element is accepted there only if it does not
require grad.
```python
import torch
slope = torch.nn.Parameter(torch.tensor(0.1))
x = torch.randn(3)
y = torch.nn.functional.leaky_relu(x, slope)  # error: [operator-without-derivative]  # raises: TypeError "leaky_relu()"
```
```python right
import torch
slope = torch.nn.Parameter(torch.tensor(0.1))
x = torch.randn(3)
y = torch.nn.functional.prelu(x, slope)
```
## Not reported
```python
import torch
x = torch.ones(3, requires_grad=True)
out = torch.empty(3)
with torch.no_grad():
    torch.mul(x, 2, out=out)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import between, node_at
from analyzers.drafting.words import callers, origin, said, told
from analyzers.machine.core.causes import NumberWanted, Raised
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    for event in facts.of(Raised):
        refused = any(part in event.message for part in ("support automatic differentiation", "is not differentiable"))
        if refused or event.message.startswith(
            ("derivative for", "the derivative for", "trying to differentiate twice")
        ):
            yield _draft(facts, event)
    for event, cause in facts.raised(NumberWanted):
        loc = event.site.loc
        message = (
            f"{said(facts, loc)} takes a number for `{cause.parameter}`, and a tensor that requires grad is not one"
        )
        notes = told(origin(cause.lineage, "the tensor comes from here"), callers(event.site.via), besides=loc)
        yield Draft(loc, message, event, related=notes)


def _draft(facts: Facts, event: Raised) -> Draft:
    here = event.site.loc
    made = getattr(event.cause, "lineage", None)
    loc = made.loc if made is not None and made.loc is not None else here
    what = "writes to `out=`, which autograd cannot record" if "out=" in event.message else "has no derivative"
    notes = told([(here, "backward needs its gradient here")], origin(made, ""), callers(event.site.via), besides=loc)
    return Draft(loc, f"{said(facts, loc)} {what}", event, related=notes, fixes=tuple(_true_division(facts, loc)))


def _true_division(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`a // b` becomes `a / b`, which has a derivative but different values."""
    match node_at(facts, loc):
        case n.BinOp(left=left, op="//", right=right):
            apart = between(loc, left.end, right.start)
            if facts.text(apart).count("//") == 1 and "#" not in facts.text(apart):
                yield FixDraft("Divide without rounding", False, ((apart, facts.text(apart).replace("//", "/")),))


RULE = Rule(
    "AG121", "operator-without-derivative", "Backward needs a derivative that torch does not have", check, __doc__ or ""
)
