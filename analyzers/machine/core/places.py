"""Frames: the calls in progress, and the function each is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzers.domain.values import Func, Value
from analyzers.machine.core.program import Program
from analyzers.syntax import nodes as n


@dataclass(slots=True)
class Frame:
    """One call in progress. `node` is the current expression, `statement` the current statement.

    `stands_in`: for a caller outside of the program; nothing is called at its place.
    """

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
    stands_in: bool = False


def whole(program: Program, func: Func) -> n.FunctionDef | n.Lambda:
    """A function with its body, which is not parsed with its definition."""
    if isinstance(func.node, n.FunctionDef | n.Lambda):
        return func.node
    (node,) = program.chunk(func.module, func.chunk).body
    assert isinstance(node, n.FunctionDef)
    return node


def attributes_set(program: Program, func: Func) -> frozenset[str]:
    """The names of the attributes that a function assigns to, of whatever object."""
    if isinstance(func.node, n.FunctionDef | n.Lambda):
        return n.attributes_set([func.node])
    return program.attributes_set(func.module, func.chunk)
