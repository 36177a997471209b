"""Which functions are worth running on unknown arguments.

On unknown arguments a rule can only find something where the code itself brings up a gradient, a parameter, an
optimizer, or another word of autograd's; of most of a program's functions, such as those that read files or parse
options, no run could say anything. A function matters if it has such a word, or calls by name one of its file that
does. The `forward` of a module also matters if it writes in place what it computed, or its module has a function of its
own: a backward goes through it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from analyzers.syntax import nodes as n

_WORD = re.compile(r"(?i).*(?:grad|backward|optim|scaler|hook).*|deepcopy|inference_mode|Function|Parameter|ctx")
_ATTRIBUTE = re.compile(r"numpy|detach_?|data|step|is_leaf|apply|unscale_|(?:named_)?parameters")


def matters(nodes: Iterable[n.Node]) -> bool:
    """Whether some nodes have a word of autograd's, or write to what an object holds."""
    return any(_matters(node) for node in nodes)


def _matters(node: n.Node) -> bool:
    match node:
        case n.FunctionDef(name="training_step" | "compute_loss"):
            return True
        case n.Attribute(attr=name):
            return _WORD.fullmatch(name) is not None or _ATTRIBUTE.fullmatch(name) is not None
        case n.Name(id=name) | n.Arg(name=name):
            return _WORD.fullmatch(name) is not None
        case n.Keyword(arg=str() as name):
            return _WORD.fullmatch(name) is not None
        case n.Call(func=n.Attribute(value=owner, attr=attr)):
            return attr.endswith("_") and not attr.endswith("__") and _of_object(owner)
        case n.AugAssign(target=target):
            return not isinstance(target, n.Name) and not isinstance(node.value, n.Constant) and _of_object(target)
        case n.Assign(targets=targets):
            return any(
                isinstance(t, n.Subscript) and isinstance(t.value, n.Attribute) and _of_object(t) for t in targets
            )
    return False


def writes(nodes: Iterable[n.Node]) -> bool:
    """Whether some nodes may write a tensor in place, or are of an autograd function."""
    return any(_writes(node) for node in nodes)


def _writes(node: n.Node) -> bool:
    match node:
        case n.AugAssign(op="+" | "-", value=n.Constant(value=int())):
            return False
        case n.AugAssign():
            return True
        case n.Assign(targets=targets):
            return any(isinstance(target, n.Subscript) for target in targets)
        case n.Call(func=n.Attribute(attr=attr)):
            return attr.endswith("_") and not attr.endswith("__")
        case n.Attribute(attr="Function") | n.Name(id="Function"):
            return True
    return False


def _of_object(node: n.Expr) -> bool:
    """Whether an expression is something that `self` holds."""
    while isinstance(node, n.Attribute | n.Subscript):
        node = node.value
    return isinstance(node, n.Name) and node.id == "self"


def called_names(nodes: Iterable[n.Node]) -> frozenset[str]:
    """The last names of all that some nodes call or hand on."""
    return frozenset(
        node.attr if isinstance(node, n.Attribute) else node.id
        for node in nodes
        if isinstance(node, n.Attribute | n.Name)
    )


def reaching(names: Mapping[str, frozenset[str]], direct: Iterable[str]) -> frozenset[str]:
    """The definitions from which a direct one is reached, by the names that each uses."""
    found = set(direct)
    changed = True
    while changed:
        more = {name for name, used in names.items() if name not in found and not used.isdisjoint(found)}
        changed = bool(more)
        found |= more
    return frozenset(found)
