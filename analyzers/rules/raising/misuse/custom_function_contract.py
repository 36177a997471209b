"""An `autograd.Function` does not do what torch requires of it.

`forward` and `backward` must be static methods, called through `apply`, and `backward` must return one gradient for
each input of `forward`.

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
## `backward` reads what was never stored
```python
import torch
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None  # error: [custom-function-contract]  # raises: AttributeError "'factor'"
x = torch.ones(3, requires_grad=True)
Scale.apply(x, 2.0).sum().backward()
```
```python fixed
import torch
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None
x = torch.ones(3, requires_grad=True)
Scale.apply(x, 2.0).sum().backward()
```
## The tuple of saved tensors is not unpacked
```python
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors
        return 2 * grad * x  # error: [custom-function-contract]  # raises: TypeError "only integer tensors"
x = torch.ones(3, requires_grad=True)
Square.apply(x).sum().backward()
```
## Not reported
Extra gradients are allowed if they are None.
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
from analyzers.drafting.base import Change, Draft, Facts, FixDraft, Rule
from analyzers.drafting.places.blocks import module_block
from analyzers.drafting.places.tree import at, between, indentation, node_at, walk
from analyzers.drafting.words import Note, callers, origin, said, told
from analyzers.machine.core.causes import UNMATERIALIZED, Plain, Raised
from analyzers.syntax import nodes as n

WORDS = {
    "Legacy autograd function": "calls an instance of an autograd function: make its methods static and call `apply`",
    "You must implement either the backward or vjp": "needs the gradient of a function that defines no `backward`",
    "You must implement the forward function": "applies an autograd function that defines no `forward`",
    "save_for_backward can only save variables": "runs an autograd function that saves something other than tensors: "
    "keep that as an attribute of `ctx`",
}

LEGACY = (
    "Make `forward(ctx, ...)` and `backward(ctx, ...)` static. What `__init__` takes becomes an argument of `apply`, "
    "for which `backward` returns None"
)

MISTAKES = {
    r"not enough values": "unpacks more values than `forward` saved",
    r"too many values": "unpacks fewer values than `forward` saved",
    r"only integer tensors|unsupported operand|'tuple' object": "uses the tuple of saved tensors as a tensor",
    r"'\w+' object has no attribute": "reads what `forward` did not keep on `ctx`",
    r"\w+\.\w+\(\) ": "passes arguments that the method does not take",
    r"expected Variable": "runs an autograd function whose `backward` returns something that is not a tensor",
}
"""What the program does wrong, by the start of torch's message."""

RETURNED = "its `backward` returns this"

PLACES = {
    "You must implement either the backward or vjp": "a `backward` belongs after this",
    "save_for_backward can only save variables": "this is saved",
}


def check(facts: Facts) -> Iterator[Draft]:
    for event, plain in facts.raised(Plain):
        if plain.note == "custom":
            yield from _broken(facts, event, plain)
        elif plain.lineage is not None and plain.lineage.what == UNMATERIALIZED:
            loc = event.site.loc
            message = f"{said(facts, loc)} uses a gradient that is None because of `set_materialize_grads(False)`"
            yield Draft(loc, message, event, related=told(callers(event.site.via), besides=loc))


def _broken(facts: Facts, event: Raised, plain: Plain) -> Iterator[Draft]:
    loc = event.site.loc
    mistake = next((words for start, words in MISTAKES.items() if re.match(start, event.message)), None)
    if mistake is not None and not facts.is_certain(event):
        # The path that reads may be the one that stores it as well.
        return
    what = next((words for start, words in WORDS.items() if event.message.startswith(start)), mistake)
    if what is None:
        what = f"runs an autograd function that breaks its contract: {event.message}"
    words = next((words for start, words in PLACES.items() if event.message.startswith(start)), RETURNED)
    if plain.lineage is not None and plain.lineage.what == "def":
        words = "the method is defined here"
    related: list[Note] = origin(plain.lineage, words)
    fixes = (*_apply(facts, event), *_completed(facts, event), *_kept(facts, event))
    notes = told(related, callers(event.site.via), besides=loc)
    advice = LEGACY if event.message.startswith("Legacy") else ""
    yield Draft(loc, f"{said(facts, loc)} {what}", event, related=notes, fixes=fixes, advice=advice)


def _apply(facts: Facts, event: Raised) -> Iterator[FixDraft]:
    """`Square()(x)` becomes `Square.apply(x)`, and the methods static."""
    loc = event.site.loc
    if not event.message.startswith("Legacy"):
        return
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
        if not method.body:
            return
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
    """`return grad * 2` becomes `return grad * 2, None` if `forward` takes another input."""
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
    yield FixDraft(
        "Return None for inputs that have no gradient", plain, ((between(place, end, end), ", None" * missing),)
    )


def _kept(facts: Facts, event: Raised) -> Iterator[FixDraft]:
    """`ctx.factor = factor` in `forward` if `backward` reads it."""
    named = re.match(r"'(\w+)Backward' object has no attribute '(\w+)'", event.message)
    methods = _methods(facts, event.site.loc.module, named[1]) if named else {}
    if named is None or "forward" not in methods:
        return
    place, forward = methods["forward"]
    names = [parameter.name for parameter in (*forward.args.posonly, *forward.args.args)]
    first = forward.body[0]
    indent = indentation(facts, place, first)
    if named[2] not in names[1:] or indent is None:
        return
    given = [call.args[names.index(named[2]) - 1 :][:1] for call in _applied(facts, event.site.loc.module, named[1])]
    plain = bool(given) and all(argument and isinstance(argument[0], n.Constant) for argument in given)
    text = f"{names[0]}.{named[2]} = {named[2]}\n{indent}"
    yield FixDraft(f"Keep `{named[2]}` on `{names[0]}`", plain, ((between(place, first.start, first.start), text),))


def _applied(facts: Facts, module: str, name: str) -> Iterator[n.Call]:
    for _, statement in module_block(facts, module):
        for node in walk(statement):
            match node:
                case n.Call(func=n.Attribute(value=n.Name(id=cls), attr="apply")) if cls == name:
                    yield node


RULE = Rule("AG118", "custom-function-contract", "An `autograd.Function` breaks its contract", check, __doc__ or "")
