"""A custom function stores a tensor as an attribute of `ctx` instead of using `save_for_backward`.

An output stored on `ctx` refers to its graph, and the graph refers to `ctx`: a reference cycle that keeps both in
memory until Python's garbage collector runs. An input stays in memory after backward is done with it, and its version
counter is never compared: if it is modified in the meantime, the gradient is wrong and nothing is raised.

## Reported
```python
import torch
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.y = y  # warning: [context-attribute-leak]
        return y
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y
x = torch.ones(3, requires_grad=True)
Exp.apply(x).sum().backward()
```
## Fixed
```python fixed
import torch
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]
x = torch.ones(3, requires_grad=True)
Exp.apply(x).sum().backward()
```
## Reported: an input
```python
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x  # info: [context-attribute-leak]
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.x
x = torch.ones(3, requires_grad=True)
h = x + 1
y = Square.apply(h)
h.zero_()
y.sum().backward()
```
```python right
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x
x = torch.ones(3, requires_grad=True)
h = x + 1
y = Square.apply(h)
y.sum().backward()
```
## Not reported
Numbers, shapes, and tensors that are neither inputs nor outputs.
```python
import torch
class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bound):
        ctx.bound, ctx.shape = bound, x.shape
        ctx.inside = x.abs() < bound
        return x.clamp(-bound, bound)
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.inside, None
x = torch.ones(3, requires_grad=True)
Clip.apply(x, 2.0).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.tree import at, node_at, statement_at, walk
from analyzers.drafting.words import said
from analyzers.machine.core.events import KeptOnContext
from analyzers.syntax import nodes as n


def check(facts: Facts) -> Iterator[Draft]:
    kept: dict[Loc, KeptOnContext] = {}
    for event in facts.of(KeptOnContext):
        kept.setdefault(event.site.statement, event)
    for loc, event in kept.items():
        alone = not any(other is not event and other.methods == event.methods for other in kept.values())
        fixes = tuple(_save(facts, event, loc)) if alone else ()
        if event.role == "output":
            message = f"{said(facts, loc)} keeps an output: the output and its graph keep each other in memory"
            yield Draft(loc, message, effect="graph-grows", fixes=fixes)
        else:
            message = f"{said(facts, loc)} keeps an input beyond backward, and without a version check"
            yield Draft(loc, message, effect="graph-grows", severity="info", fixes=fixes)


def _save(facts: Facts, event: KeptOnContext, loc: Loc) -> Iterator[FixDraft]:
    """`ctx.y = y` becomes `ctx.save_for_backward(y)`, and `ctx.y` elsewhere becomes the saved tensor."""
    statement = statement_at(facts, loc)
    match statement:
        case n.Assign(targets=(n.Attribute() as target,), value=n.Name(id=name)):
            attributes = list(_attributes(facts, event))
            if any(node.attr in {"save_for_backward", "saved_tensors"} for _, node in attributes):
                return
            saving = f"{facts.text(at(loc, target.value))}.save_for_backward({name})"
            reads = [
                (at(method, node), f"{facts.text(at(method, node.value))}.saved_tensors[0]")
                for method, node in attributes
                if node.attr == event.attr and node is not target
            ]
            yield FixDraft("Save it for backward", False, ((at(loc, statement), saving), *reads))


def _attributes(facts: Facts, event: KeptOnContext) -> Iterator[tuple[Loc, n.Attribute]]:
    """The attributes that the function's methods mention."""
    for method in event.methods:
        defined = node_at(facts, method)
        for node in walk(defined) if defined is not None else ():
            if isinstance(node, n.Attribute):
                yield method, node


RULE = Rule(
    "AG405",
    "context-attribute-leak",
    "A tensor is kept on `ctx` instead of being saved for backward",
    check,
    __doc__ or "",
)
