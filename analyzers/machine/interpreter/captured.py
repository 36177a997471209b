"""What the text of a function says of what it may do when others call it."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.machine.core.havoc import writes_in_place
from analyzers.machine.core.program import Captured
from analyzers.syntax import nodes as n
from analyzers.syntax.paths import attribute_paths


def captured_by(node: n.FunctionDef | n.Lambda) -> Captured:
    nodes = list(n.walk([node.body]))
    alone: dict[str, int] = {}
    for part in nodes:
        match part:
            case n.Name(id=name):
                alone[name] = alone.get(name, 0) + 1
            case n.Attribute(value=n.Name(id=name)):
                alone[name] = alone.get(name, 0) - 1
    bare = {name for name, count in alone.items() if count > 0}
    own = node.locals if isinstance(node, n.FunctionDef) else frozenset[str]()
    paths = frozenset(path for path in attribute_paths([node.body]) if path.partition(".")[0] not in own)
    rebound = node.globals | node.nonlocals if isinstance(node, n.FunctionDef) else frozenset[str]()
    walks = any(isinstance(part, n.Attribute) and part.attr == "backward" for part in nodes)
    return Captured(frozenset(alone.keys() - own) | paths, frozenset(bare - own), rebound, _writes(node), walks)


def _writes(node: n.FunctionDef | n.Lambda) -> bool:
    a = node.args
    given = {arg.name for arg in (*a.posonly, *a.args, *a.kwonly, a.vararg, a.kwarg) if arg is not None}
    nodes = list(n.walk([node.body]))
    given |= {
        part.id
        for loop in nodes
        if isinstance(loop, n.For)
        for part in n.walk([loop.target])
        if isinstance(part, n.Name)
    }
    return any(not given.isdisjoint(_roots(target)) for target in _targets(nodes))


def _targets(nodes: Iterable[object]) -> Iterable[n.Expr]:
    """What statements and calls write in place."""
    for node in nodes:
        match node:
            case n.AugAssign(target=target):
                yield target
            case n.Assign(targets=targets):
                yield from (target for target in targets if isinstance(target, n.Subscript))
            case n.Call(func=n.Attribute(value=value, attr=attr), args=args) if writes_in_place(attr):
                yield from (value, *args[:1])


def _roots(target: n.Expr) -> set[str]:
    """The names of which a target is an item, or of which a call may return one."""
    while isinstance(target, n.Subscript):
        target = target.value
    if isinstance(target, n.Call):
        return {name for arg in target.args for name in _roots(arg)}
    return {target.id} if isinstance(target, n.Name) else set()
