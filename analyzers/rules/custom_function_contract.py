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
```python fixed
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        return x * scale
    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None
x = torch.ones(3, requires_grad=True)
Double.apply(x, 2).sum().backward()
```
## Methods that are not static
```python
import torch
class Double(torch.autograd.Function):
    def forward(ctx, x):
        return x * 2
    def backward(ctx, grad):
        return grad * 2
x = torch.ones(3, requires_grad=True)
y = Double()(x)  # error: [custom-function-contract]  # raises: RuntimeError "Legacy autograd function"
y.sum().backward()
```
```python fixed
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
x = torch.ones(3, requires_grad=True)
y = Double.apply(x)
y.sum().backward()
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

import re
from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.machine.events import Plain, Raised
from analyzers.rules.base import Change, Draft, Facts, FixDraft, Rule
from analyzers.rules.blocks import module_block
from analyzers.rules.edits import at, between, indentation, node_at, walk
from analyzers.rules.trace import Note, callers, origin, said, told
from analyzers.syntax import nodes as n

WORDS = {
    "Legacy autograd function": "calls an instance of an autograd function: make its methods static and call `apply`",
    "You must implement either the backward or vjp": "needs the gradient of a function that defines no `backward`",
    "save_for_backward can only save variables": "runs an autograd function that saves more than tensors: keep "
    "that as an attribute of `ctx`",
}

RETURNED = "its `backward` returns this"

PLACES = {
    "You must implement either the backward or vjp": "a `backward` belongs behind this",
    "save_for_backward can only save variables": "this is saved",
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
    words = next((words for start, words in PLACES.items() if event.message.startswith(start)), RETURNED)
    related: list[Note] = origin(plain.lineage, words)
    fixes = tuple(_apply(facts, loc)) if event.message.startswith("Legacy") else tuple(_completed(facts, event))
    notes = told(related, callers(event.site.via), besides=loc)
    return Draft(loc, f"{said(facts, loc)} {what}", event, related=notes, fixes=fixes)


def _apply(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`Square()(x)` becomes `Square.apply(x)`, and the methods static."""
    changes: tuple[Change, ...] = ()
    match node_at(facts, loc):
        case n.Call(func=n.Call(func=n.Name(id=name) as cls, args=(), keywords=()) as made):
            changes = ((at(loc, made), f"{facts.text(at(loc, cls))}.apply"),)
        case n.Call(func=n.Attribute(value=n.Name(id=name), attr="apply")):
            pass
        case _:
            return
    methods = _methods(facts, loc.module, name)
    if "__init__" in methods or not methods.keys() >= {"forward", "backward"}:
        return
    for place, method in (methods["forward"], methods["backward"]):
        indent = indentation(facts, place, method.body[0])
        if method.decorators or not indent or len(indent) % 2:
            return
        changes += ((between(place, 0, 0), f"@staticmethod\n{indent[: len(indent) // 2]}"),)
    yield FixDraft("Make its methods static and call `apply`", True, changes)


def _methods(facts: Facts, module: str, name: str) -> dict[str, tuple[Loc, n.FunctionDef]]:
    """The methods of a class of the module."""
    found: dict[str, tuple[Loc, n.FunctionDef]] = {}
    for _, statement in module_block(facts, module):
        if isinstance(statement, n.ClassDef) and statement.name == name:
            for part in statement.body:
                if isinstance(part, n.ChunkRef):
                    place = Loc(module, part.key, 0, 0)
                    for method in facts.places.chunk(place).body:
                        if isinstance(method, n.FunctionDef):
                            found[method.name] = place, method
    return found


def _completed(facts: Facts, event: Raised) -> Iterator[FixDraft]:
    """`return grad * 2` becomes `return grad * 2, None`, where `forward` takes something else besides."""
    named = re.match(r"function (\w+)Backward returned an incorrect number", event.message)
    methods = _methods(facts, event.site.loc.module, named[1]) if named else {}
    if named is None or not methods.keys() >= {"forward", "backward"}:
        return
    place, backward = methods["backward"]
    args = methods["forward"][1].args
    returns = [node for node in walk(backward) if isinstance(node, n.Return)]
    if len(returns) != 1 or returns[0].value is None or args.vararg is not None or args.kwonly:
        return
    value = returns[0].value
    parts = value.elts if isinstance(value, n.TupleExpr) else (value,)
    missing = len(args.posonly) + len(args.args) - 1 - len(parts)
    if missing <= 0 or any(isinstance(part, n.Starred) for part in parts) or not parts:
        return
    end = parts[-1].end
    given = [call.args[len(parts) :] for call in _applied(facts, event.site.loc.module, named[1])]
    plain = bool(given) and all(isinstance(argument, n.Constant) for rest in given for argument in rest)
    yield FixDraft("Return None for what has no gradient", plain, ((between(place, end, end), ", None" * missing),))


def _applied(facts: Facts, module: str, name: str) -> Iterator[n.Call]:
    for _, statement in module_block(facts, module):
        for node in walk(statement):
            match node:
                case n.Call(func=n.Attribute(value=n.Name(id=cls), attr="apply")) if cls == name:
                    yield node


RULE = Rule("AG118", "custom-function-contract", "An `autograd.Function` breaks its contract", check, __doc__ or "")
