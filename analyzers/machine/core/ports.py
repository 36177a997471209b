"""What lower rooms need from higher ones: how Python runs, and what a name most likely holds.

Who stands behind a port is set where the machine is put together; until then nothing does.
"""

from __future__ import annotations

from typing import Final

from analyzers.domain.truth import Truth
from analyzers.domain.values import Const, Func, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.syntax import nodes as n


class Python:
    """The interpreter, for rooms that it stands upon or beside."""

    def library_value(self, m: Machine, place: tuple[str, str]) -> Value:
        """What a name of the prelude holds: the module and the symbol."""
        return Unknown(symbol=place)

    def truth(self, m: Machine, value: Value) -> Truth:
        """Whether a value counts as true."""
        return bool(value.value) if isinstance(value, Const) else None

    def escaped(self, m: Machine, func: Func) -> None:
        """Code that is not known may call a function of the program."""


class LikelyValues:
    """What takes the place of values that say nothing."""

    def bound(self, m: Machine, target: n.Expr, value: Value) -> Value:
        """What a target most likely holds that is given `value`."""
        return value

    def arguments(self, m: Machine, func: Func, env: int) -> None:
        """The same for the parameters of a function, once they are bound in `env`."""

    def called(self, m: Machine, func: Value, args: Args) -> Value | None:
        """What a call of something unknown most likely gives."""
        return None


class Ports:
    python: Python = Python()
    likely: LikelyValues = LikelyValues()


PORTS: Final = Ports()
