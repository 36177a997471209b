"""Where the machine is: the calls under way, and the names that the program has for things there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzers.domain.values import Func, Value
from analyzers.machine.core.program import Program
from analyzers.syntax import nodes as n

if TYPE_CHECKING:
    from analyzers.machine.core.machine import Machine


@dataclass(slots=True)
class Frame:
    """One call under way. `node` is the expression at hand, `statement` the statement."""

    module: str
    chunk: str
    qualname: str
    env: int
    func: Func | None
    library: bool
    node: n.Node
    statement: n.Node
    locals: frozenset[str] | None = None
    globals: frozenset[str] = frozenset()
    handlers: int = 0
    visit: int = 0
    yields: Callable[[Value], Value] | None = None


def whole(program: Program, func: Func) -> n.FunctionDef | n.Lambda:
    """A function with its body, which its definition alone does not read."""
    if isinstance(func.node, n.FunctionDef | n.Lambda):
        return func.node
    (node,) = program.chunk(func.module, func.chunk).body
    assert isinstance(node, n.FunctionDef)
    return node


def subject_name(m: Machine) -> str:
    """The user's words for what is being operated on: the target of a write, the owner of a method."""
    node = m.user_frame().node
    match node:
        case n.AugAssign(target=target):
            return m.source(target)
        case n.Call(func=n.Attribute(attr="backward" | "manual_backward"), args=(loss, *_)) if m.frame.library:
            return m.source(loss)
        case n.Call(func=n.Attribute(value=value)):
            return m.source(value)
        case n.Call(args=(first, *_)):
            return m.source(first)
        case n.Subscript(value=value):
            return m.source(value)
        case n.Attribute(value=value):
            return m.source(value)
        case n.Assign(targets=(target, *_)):
            return m.source(target)
    return m.source(node)


def library_caller(m: Machine) -> str:
    """The library function that the user's own code called."""
    inner = None
    for frame in reversed(m.frames):
        if not frame.library:
            break
        inner = frame
    return inner.func.node_name if inner is not None and inner.func is not None else "write"
