"""The table of functions that are modelled by hand: what a call of a dotted name from outside the program does."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.domain.values import Builtin, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.syntax import nodes as n

Handler = Callable[[Machine, Args], Value]


NATIVE: dict[str, Handler] = {}


def native(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        for name in names:
            NATIVE[name] = handler
        return handler

    return add


def called(m: Machine) -> str:
    """The name by which the running call was made."""
    from analyzers.machine.interpreter.names import load_name

    node = m.frame.node
    if isinstance(node, n.Call):
        func = node.func
        if isinstance(func, n.Attribute):
            return func.attr
        if isinstance(func, n.Name):
            value = load_name(m, func.id)
            return value.name if isinstance(value, Builtin) else func.id
    return ""
