"""What a name holds according to the code around it: a model, an optimizer, a loss.

Training code gets its model from a factory and its optimizer as an argument; no value tells what they are, but their
uses do. `model(x)` next to `model.parameters()` is a module; what has both `zero_grad()` and `step()` is an optimizer;
what somebody calls `backward()` on is a loss. Where the uses say little, a common name counts too.

    def train(net, batches, optimizer, criterion):   # net: a model, optimizer: an optimizer
        for x, y in batches:
            optimizer.zero_grad()
            loss = criterion(net(x), y)              # loss: a loss
            loss.backward()
            optimizer.step()
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from analyzers.syntax import nodes as n


class Role(Enum):
    """A `NETWORK` is called like a model; whether anything is to train it is not known."""

    MODEL = "model"
    NETWORK = "network"
    OPTIMIZER = "optimizer"
    LOSS = "loss"


_MODEL_NAME = re.compile(
    r"(?i)(?:.*_)?(?:model|net|network|generator|discriminator|encoder|decoder|actor|critic|policy|backbone|classifier|"
    r"student|gen|disc|net_?[gd]|[gd])(?:_\d|\d)?"
)
_OPTIMIZER_NAME = re.compile(r"(?i).*opt(?:im(?:i[sz]er)?)?s?(?:_?\w\d?)?|(?:.*_)?(?:opt|optim|optimizer)(?:_.*)?")
_MODULE_METHODS = frozenset({"parameters", "named_parameters"})
_STATE_METHODS = frozenset({"train", "eval", "state_dict", "load_state_dict", "zero_grad"})


@dataclass(slots=True)
class _Uses:
    """What is done with one name: it is called, methods of it are, and how it is annotated."""

    called: bool = False
    methods: set[str] = field(default_factory=set)
    annotation: str = ""


def roles_in(trees: Iterable[n.Node]) -> dict[str, Role]:
    """The roles of the names in some statements or functions: `net`, or `self.net` for an attribute."""
    uses: dict[str, _Uses] = {}
    for node in n.walk(trees):
        match node:
            case n.Call(func=n.Attribute(value=owner, attr=attr), args=args):
                name = dotted(owner)
                if name and not (attr == "backward" and args):
                    uses.setdefault(name, _Uses()).methods.add(attr)
                itself = dotted(node.func)
                if itself:
                    uses.setdefault(itself, _Uses()).called = True
            case n.Call(func=n.Name(id=name)):
                uses.setdefault(name, _Uses()).called = True
            case n.Arg(name=name, annotation=annotation) if annotation is not None:
                uses.setdefault(name, _Uses()).annotation = _last_name(annotation)
    trains = any("backward" in use.methods for use in uses.values())
    found = ((name, _role(name, use, trains)) for name, use in uses.items())
    return {name: role for name, role in found if role is not None}


def _role(name: str, use: _Uses, trains: bool) -> Role | None:
    methods = use.methods
    plain = name.rpartition(".")[2]
    if use.annotation.endswith("Optimizer"):
        return Role.OPTIMIZER
    if use.annotation in {"Module", "nn.Module"}:
        return Role.MODEL
    if "step" in methods:
        named = bool(_OPTIMIZER_NAME.fullmatch(plain))
        return Role.OPTIMIZER if not use.called and ("zero_grad" in methods or named) else None
    if "backward" in methods:
        return None if use.called or methods & _MODULE_METHODS else Role.LOSS
    if methods & _MODULE_METHODS and (use.called or methods & _STATE_METHODS):
        return Role.MODEL
    if use.called and methods & _STATE_METHODS:
        return Role.MODEL
    return Role.NETWORK if use.called and trains and _MODEL_NAME.fullmatch(plain) else None


def same_part(optimizer: str, model: str) -> bool:
    """Whether an optimizer is named after a model: `opt_g` and `netG`, `actor_optim` and `self.actor`."""
    part = re.sub(r"optimizer|optim|opt|[_\d]", "", optimizer.rpartition(".")[2].lower())
    whole = re.sub(r"_", "", model.rpartition(".")[2].lower())
    return bool(part) and (whole in {part, "net" + part, "model" + part, part + "net"} or whole.startswith(part))


def aliases_in(init: n.FunctionDef) -> Mapping[str, str]:
    """The parameters that `__init__` keeps: their names, and the attributes that they go to."""
    found: dict[str, str] = {}
    for node in n.walk([init]):
        match node:
            case n.Assign(targets=(n.Attribute() as target,), value=n.Name(id=name)):
                attribute = dotted(target)
                if attribute.startswith("self."):
                    found[name] = attribute
    return found


def dotted(node: n.Expr) -> str:
    """`x` for a name, `self.x` for an attribute of `self`, else nothing."""
    match node:
        case n.Name(id=name):
            return name
        case n.Attribute(value=n.Name(id="self"), attr=attr):
            return f"self.{attr}"
    return ""


def _last_name(annotation: n.Expr) -> str:
    match annotation:
        case n.Name(id=name):
            return name
        case n.Attribute(attr=attr):
            return attr
        case n.Constant(value=str() as text):
            return text.rpartition(".")[2]
    return ""
