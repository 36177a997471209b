"""Hides all that is of one kind in a program: its data, its models, or how long its lists are."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

from tests.blinding.wrap import Hidden, hidden_at, hide

MAKERS = frozenset({
    "arange", "as_tensor", "empty", "eye", "from_numpy", "full", "linspace", "normal", "ones", "rand", "rand_like",
    "randint", "randn", "randn_like", "randperm", "tensor", "zeros",
})  # fmt: skip
LOADERS = frozenset({"DataLoader", "TensorDataset"})


def data(tree: ast.Module) -> list[ast.expr]:
    """The calls that make plain data: tensors that require no gradient, arrays, loaders."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _makes_data(node)]


def models(tree: ast.Module) -> list[ast.expr]:
    """The calls that make modules, optimizers or losses: of torch's own classes, or of the program's."""
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and _is_module(node)}
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    return [value for value in values if isinstance(value, ast.Call) and _makes_model(value, classes)]


def lengths(tree: ast.Module) -> list[ast.expr]:
    """How often a list is repeated, and how far ranges go that make lists or layers."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=ast.List(), op=ast.Mult(), right=count):
                found.append(count)
            case ast.comprehension(iter=ast.Call(func=ast.Name("range"), args=args)):
                found += args[:1]
    return found


KINDS: dict[str, Callable[[ast.Module], list[ast.expr]]] = {"data": data, "models": models, "lengths": lengths}


def without(text: str, kind: str, dice: random.Random | None = None) -> str | None:
    """The program with all of a kind hidden, or with one that `dice` choose; None where it has none."""
    tree = ast.parse(text)
    source = text.encode()
    found = [hidden_at(source, node) for node in _outermost(KINDS[kind](tree))]
    if not found:
        return None
    chosen: set[Hidden] = set(found) if dice is None else {dice.choice(found)}
    return hide(source, tree, chosen)


def _outermost(nodes: list[ast.expr]) -> list[ast.expr]:
    """Those that are in no other."""
    inside = {id(part) for node in nodes for part in ast.walk(node) if part is not node}
    return [node for node in nodes if id(node) not in inside]


def _makes_data(call: ast.Call) -> bool:
    if any(keyword.arg in ("requires_grad", "out") for keyword in call.keywords):
        return False
    match call.func:
        case ast.Attribute(value=ast.Name("torch"), attr=attr):
            return attr in MAKERS
        case ast.Name(name) if name in LOADERS:
            return True
        case ast.Attribute(attr=attr) if attr in LOADERS:
            return True
    return _root(call.func) in ("np", "numpy")


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_module(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("Module") for base in node.bases)


def _makes_model(call: ast.Call, classes: set[str]) -> bool:
    name = ast.unparse(call.func)
    short = name.rsplit(".", 1)[-1]
    return name in classes or (name.startswith(("nn.", "torch.nn.", "optim.", "torch.optim.")) and short[:1].isupper())
