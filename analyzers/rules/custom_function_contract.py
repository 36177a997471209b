"""An `autograd.Function` does not keep to what torch asks of it.

`forward` and `backward` are static methods, reached through `apply`; `backward` returns one gradient for each input of
`forward`.

## Reported
```python
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        return x * scale
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
x = torch.ones(3, requires_grad=True)
Double.apply(x, 2).sum().backward()  # error: [custom-function-contract]  # raises: RuntimeError "function Double"
```
## Not reported
Gradients in excess may be None.
```python
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None
x = torch.ones(3, requires_grad=True)
Double.apply(x).sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.machine.events import Plain, Raised
from analyzers.rules.base import Draft, Facts, FixDraft, Rule
from analyzers.rules.edits import at, node_at
from analyzers.rules.trace import Note, callers, origin, said, told
from analyzers.syntax import nodes as n

WORDS = {
    "Legacy autograd function": "calls an instance of an autograd function: make its methods static and call `apply`",
    "You must implement either the backward or vjp": "needs the gradient of a function that defines no `backward`",
}


def check(facts: Facts) -> Iterator[Draft]:
    for event, plain in facts.raised(Plain):
        if plain.note == "custom":
            yield _draft(facts, event, plain)


def _draft(facts: Facts, event: Raised, plain: Plain) -> Draft:
    loc = event.site.loc
    what = next((words for start, words in WORDS.items() if event.message.startswith(start)), None)
    if what is None:
        what = f"runs an autograd function that does not keep its contract: {event.message}"
    is_missing = event.message.startswith("You must implement")
    words = "a `backward` belongs behind this" if is_missing else "its `backward` returns this"
    related: list[Note] = origin(plain.lineage, words)
    fixes = tuple(_apply(facts, loc)) if event.message.startswith("Legacy") else ()
    notes = told(related, callers(event.site.via), besides=loc)
    return Draft(loc, f"{said(facts, loc)} {what}", event, related=notes, fixes=fixes)


def _apply(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`Square()(x)` becomes `Square.apply(x)`, which works once the methods are static."""
    match node_at(facts, loc):
        case n.Call(func=n.Call(func=cls, args=(), keywords=()) as made):
            text = f"{facts.text(at(loc, cls))}.apply"
            yield FixDraft("Call `apply`", False, ((at(loc, made), text),))


RULE = Rule("AG118", "custom-function-contract", "An `autograd.Function` breaks its contract", check, __doc__ or "")
