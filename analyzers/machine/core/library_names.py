"""Names outside the program, and what they mean."""

from __future__ import annotations

from analyzers.domain.values import Builtin, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import ANSWERS, CONSTANTS, MODELLED, STAR


def outside(m: Machine, dotted: str) -> Value:
    """A name from outside the workspace: modelled, or unknown."""
    place = m.config.program.library(dotted) if dotted not in ANSWERS else None
    if place is not None:
        return PORTS.python.library_value(m, place)
    if dotted.split(".", 1)[0] in MODELLED:
        constant = CONSTANTS.get(dotted)
        return constant if constant is not None else Builtin(dotted)
    return Unknown(symbol=("import", dotted))


def star_import(name: str) -> list[tuple[str, str]]:
    """What a star import of a modelled module binds, if known."""
    return [(f"{name}.{symbol}", symbol) for symbol in STAR.get(name, ())]


def outside_name(value: Value) -> str | None:
    """The dotted name of something imported from outside the workspace."""
    if isinstance(value, Builtin):
        return value.name
    symbol = value.symbol if isinstance(value, Unknown) else None
    rest: list[str] = []
    while isinstance(symbol, tuple) and len(symbol) == 2:
        owner, name = symbol
        if owner == "import":
            return ".".join([name, *rest])
        rest.insert(0, str(name))
        symbol = owner
    return None
