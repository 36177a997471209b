"""What a name holds according to the code around it: a model, an optimizer, a loss.

Training code gets its model from a factory and its optimizer as an argument; no value tells what they are, but their
uses do. `model(x)` next to `model.parameters()` is a module, and so is what a module keeps in an attribute and calls;
what has both `zero_grad()` and `step()` is an optimizer;
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_STATE_METHODS = frozenset({"train", "eval", "state_dict", "load_state_dict", "zero_grad", "requires_grad_"})
_RETURN_ITSELF = frozenset({"to", "cuda", "cpu", "half", "bfloat16", "float", "train", "eval", "requires_grad_"})
_OF_PARTS = frozenset(
    {"parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "requires_grad_"}
)
_CONTAINERS = frozenset({"Sequential", "ModuleList"})
_OF_MODULES = re.compile(r"(?:forward|encode|decode|embed|extract)(?:_\w+)?|\w+_features")
"""Methods that compute as a module does when it is called."""
_NO_MODULE = re.compile(r"(?i).*(?:token|process|transform|augment|collat|log|metric|schedul|sampl|noise|rng|timer)")
"""What modules keep and call beside modules."""


@dataclass(slots=True)
class _Uses:
    """What is done with one name: it is called, methods of it are, it is annotated.

    `made`: a call gives it; `moved`: by way of a method that modules have, and return themselves from. `has_parts`:
    attributes of it are modules. `frozen`: gradients are switched off for it. `part_of`: the name of which it is an
    attribute or item.
    """

    called: bool = False
    made: bool = False
    moved: bool = False
    has_parts: bool = False
    frozen: bool = False
    part_of: str = ""
    methods: set[str] = field(default_factory=set)
    annotation: str = ""

    def add(self, other: _Uses) -> None:
        """What is done with another name is done with this one, too."""
        self.called = self.called or other.called
        self.has_parts = self.has_parts or other.has_parts
        self.frozen = self.frozen or other.frozen
        self.methods |= other.methods


def roles_in(
    trees: Iterable[n.Node], *, of_module: bool = False, functions: Iterable[n.FunctionDef] = ()
) -> dict[str, Role]:
    """The roles of the names in some statements or functions: `net`, or `self.net` for an attribute.

    `of_module`: these are the methods of a module's class. `functions` use the names that they do not bind themselves.
    """
    nodes = tuple(n.walk(trees))
    uses: dict[str, _Uses] = {}
    _collect(uses, nodes, frozenset())
    own = frozenset(uses)
    trains = any(map(_is_backward, nodes))
    for function in functions:
        inner = tuple(n.walk([function]))
        _collect(uses, inner, function.locals)
        trains = trains or any(map(_is_backward, inner))
    for name in _parts_among(nodes):
        uses.setdefault(name, _Uses()).has_parts = True
    for each, names in _taken_in_turn(nodes):
        for name in names:
            uses.setdefault(name, _Uses()).add(uses.get(each, _Uses()))
    for use in uses.values():
        # What is taken from what a call gave is made by it.
        use.made = use.made or (use.part_of in uses and uses[use.part_of].made)
    found = ((name, _role(name, uses[name], trains) or _kept(name, uses[name], of_module)) for name in uses)
    return {name: role for name, role in found if role is not None and name in own}


def _is_backward(node: n.Node) -> bool:
    """`loss.backward()`, `scaler.scale(loss).backward()`, `accelerator.backward(loss)`."""
    return isinstance(node, n.Call) and isinstance(node.func, n.Attribute) and node.func.attr == "backward"


def _taken_in_turn(nodes: Iterable[n.Node]) -> Iterator[tuple[str, list[str]]]:
    """The name that a loop uses, and those that it stands for: `for net in (body, head):`."""
    for node in nodes:
        match node:
            case n.For(target=n.Name(id=each), iter=n.TupleExpr(elts=elts) | n.ListExpr(elts=elts)):
                yield each, [name for name in map(dotted, elts) if name]


def parts_in(trees: Iterable[n.Node]) -> dict[str, frozenset[str]]:
    """The attributes of names that are used as modules, or are set to new ones: `model.head.parameters()`,
    `model.head = nn.Linear(...)` and `nn.Sequential(model.head, ...)` say that `model` has a part `head`."""
    return _parts_among(n.walk(trees))


def _parts_among(nodes: Iterable[n.Node]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for node in nodes:
        for part in _used_as_modules(node):
            whole = _part(part)
            if whole is not None:
                found[whole[0]] = found.get(whole[0], frozenset()) | {whole[1]}
    return found


def _used_as_modules(node: n.Node) -> Sequence[n.Expr]:
    match node:
        case n.Call(func=n.Attribute(value=owner, attr=attr)) if attr in _OF_PARTS:
            return (owner,)
        case n.Call(func=made, args=(n.ListExpr(elts=layers),) | layers) if _last_name(made) in _CONTAINERS:
            return layers
        case n.Assign(targets=(n.Attribute() | n.Subscript() as target,), value=n.Call(func=made)) if _is_new(made):
            return (target,)
    return ()


def _collect(uses: dict[str, _Uses], nodes: Iterable[n.Node], bound: frozenset[str]) -> None:
    """Add what is done with names, but for those that are `bound`, which are others."""
    for node in nodes:
        match node:
            case n.Call(func=n.Attribute(value=owner, attr=attr), args=args):
                name = dotted(owner)
                if name and name not in bound and not (attr == "backward" and args):
                    use = uses.setdefault(name, _Uses())
                    use.methods.add(attr)
                    use.frozen = use.frozen or (attr == "requires_grad_" and _is_off(args))
                itself = dotted(node.func)
                if itself:
                    uses.setdefault(itself, _Uses()).called = True
            case n.Call(func=n.Name(id=name)) if name not in bound:
                uses.setdefault(name, _Uses()).called = True
            case n.Assign(targets=(target,), value=n.Call(func=func)) if (name := dotted(target)) not in {"", *bound}:
                use = uses.setdefault(name, _Uses())
                use.made = True
                use.moved = use.moved or (
                    isinstance(func, n.Attribute) and func.attr in _RETURN_ITSELF and isinstance(func.value, n.Call)
                )
            case n.Assign(targets=(target,), value=n.Attribute() | n.Subscript() as value) if (
                name := dotted(target)
            ) not in {"", *bound}:
                use, root = uses.setdefault(name, _Uses()), _root(value)
                use.made = use.made or isinstance(root, n.Call)
                use.part_of = root.id if isinstance(root, n.Name) else ""
            case n.Arg(name=name, annotation=annotation) if annotation is not None and name not in bound:
                uses.setdefault(name, _Uses()).annotation = _last_name(annotation)


def _is_off(args: tuple[n.Expr, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], n.Constant) and args[0].value is False


def computes(method: str) -> bool:
    """Whether a method of a module most likely computes as the module does when it is called."""
    return bool(_OF_MODULES.fullmatch(method))


def _root(node: n.Expr) -> n.Expr:
    """What an attribute or item is of, in the end: `make()` of `make().layers[0].body`."""
    while isinstance(node, n.Attribute | n.Subscript):
        node = node.value
    return node


def _part(node: n.Expr) -> tuple[str, str] | None:
    """`model` and `head` of `model.head`, `model.head.out` and `model.head[0]`."""
    attr = ""
    while isinstance(node, n.Attribute | n.Subscript):
        name = dotted(node)
        if name and attr:
            return name, attr
        attr = node.attr if isinstance(node, n.Attribute) else attr
        node = node.value
    name = dotted(node)
    return (name, attr) if name and attr and name != "self" else None


def _is_new(made: n.Expr) -> bool:
    """Whether this is the class of a layer: `nn.Linear`, `torch.nn.Linear`."""
    return isinstance(made, n.Attribute) and (
        (isinstance(made.value, n.Name) and made.value.id == "nn")
        or (isinstance(made.value, n.Attribute) and made.value.attr == "nn")
    )


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
    if methods & _MODULE_METHODS and name != "self":
        return Role.NETWORK
    return Role.NETWORK if use.called and trains and _MODEL_NAME.fullmatch(plain) else None


def _kept(name: str, use: _Uses, of_module: bool) -> Role | None:
    """Of what is called and was made by a call: it is a network if that call says so, or if a module keeps it."""
    if use.has_parts and (use.made or use.called):
        return Role.NETWORK
    if use.frozen and use.made:
        return Role.NETWORK
    is_asked = use.called or any(map(computes, use.methods))
    if not is_asked or not use.made or _NO_MODULE.match(name.rpartition(".")[2]):
        return None
    return Role.NETWORK if use.moved or (of_module and name.startswith("self.")) else None


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
