"""What lower rooms need from higher ones: how Python runs, and what a name most likely holds.

The implementations are installed when the machine is assembled; until then the ports do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analyzers.domain.truth import Truth
from analyzers.domain.values import Const, Func, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.syntax import nodes as n


class Python:
    """The interpreter, for the rooms below or beside it."""

    def library_value(self, m: Machine, place: tuple[str, str]) -> Value:
        """The value of a prelude name, given as module and symbol."""
        return Unknown(symbol=place)

    def truth(self, m: Machine, value: Value) -> Truth:
        """Whether a value is truthy."""
        return bool(value.value) if isinstance(value, Const) else None

    def escaped(self, m: Machine, func: Func) -> None:
        """Unknown code may call a function of the program, now or later."""

    def given_away(self, m: Machine, func: Func) -> None:
        """What is not known may call a function of the program, later."""

    def methods_may_have_run(self, m: Machine, ident: int) -> None:
        """Unknown code has called what may be an object of the program."""

    def reached_from(self, m: Machine, func: Func) -> tuple[list[Func], list[Ref]]:
        """A function of the program, all functions that it may call, as far as names tell, and the objects it names."""
        return [func], []

    def run_callbacks(self, m: Machine) -> None:
        """Unknown code runs, and may call what has escaped."""


class LikelyValues:
    """Likely values, used in place of unknown ones."""

    def bound(self, m: Machine, target: n.Expr, value: Value) -> Value:
        """What a target assigned `value` most likely holds."""
        return value

    def own(self, m: Machine, node: n.Attribute, owner: Value, value: Unknown) -> Value:
        """What an attribute of `self` most likely is, if nothing that was seen has set it."""
        return value

    def arguments(self, m: Machine, func: Func, env: int) -> None:
        """The same for a function's parameters, once they are bound in `env`."""

    def tensor(self, m: Machine, value: Unknown, *, keeps: bool) -> Value | None:
        """The tensor that an unknown value most likely is, where used as one; with `keeps`, it may have a graph."""
        return None

    def given_to_module(self, m: Machine, value: Unknown) -> None:
        """A value is what a module of the program computes with: used as a tensor, it may have a graph."""

    def loaded(self, m: Machine, item: Unknown, made_of: Sequence[Value]) -> None:
        """An item comes from something that nobody knows, and is one of these."""

    def iterated(self, m: Machine, value: Unknown, item: Unknown) -> None:
        """An item comes from the iteration over a value."""

    def unpacked(self, m: Machine, value: Value, items: Sequence[Value]) -> None:
        """A value is unpacked into items."""

    def stand_in(self, m: Machine, value: Value) -> Value | None:
        """The tensor that an unknown value was taken for before."""
        return None

    def part_of_gradient(self, m: Machine) -> Value | None:
        """What is picked from a gradient that may have arrived: it has no graph, but of a backward that creates one."""
        return None

    def items(self, m: Machine, value: Unknown, count: int) -> list[Value] | None:
        """What an unknown value most likely holds, where it is unpacked into so many items."""
        return None

    def has_several(self, m: Machine, ident: int) -> bool:
        """Whether a tensor of unknown rank most likely has several elements."""
        return False

    def learns(self, m: Machine, value: Value) -> bool:
        """Whether a value is part of what a network consists of: a module, or a tensor that requires grad."""
        return False

    def replaced(self, m: Machine, owner: Ref, value: Value) -> None:
        """An attribute of a module was set."""

    def part_set(self, m: Machine, owner: Value, value: Value) -> None:
        """An attribute or item of something unknown was set."""

    def picked(self, m: Machine, items: tuple[Value, ...]) -> tuple[Value, ...]:
        """Items that were picked from a sequence by their places."""
        return items

    def handed_over(self, m: Machine, args: Args) -> Args:
        """Call what is handed to unknown code to be called there; returns the arguments that are left."""
        return args

    def called(self, m: Machine, func: Value, args: Args) -> Value | None:
        """What a call to something unknown most likely returns."""
        return None


class Autograd:
    """What the interpreter needs from autograd."""

    def walked_unseen(self, m: Machine) -> None:
        """A backward may have run that the machine does not see."""


class Tensors:
    """What other objects need to know of tensors."""

    def have(self, name: str) -> bool:
        """Whether tensors have an attribute of this name."""
        return False


class Ports:
    python: Python = Python()
    autograd: Autograd = Autograd()
    tensors: Tensors = Tensors()
    likely: LikelyValues = LikelyValues()


PORTS: Final = Ports()
