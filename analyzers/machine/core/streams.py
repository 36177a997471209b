"""The elements of an iterable: known ones, then perhaps unknown ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from analyzers.domain.copies import replace
from analyzers.domain.objects import Generator
from analyzers.domain.values import Const, Tup, Unknown, Value
from analyzers.machine.core.machine import Machine


@dataclass(slots=True)
class Stream:
    """`items`, then any number of `rest` (None: no more). `fresh` makes a new object for each unknown element.

    From the index `supposed` on, there need not be such an element. `numbers` are the start and the step of a range
    whose end is not known.

    A generator that has not been started is in `generator`, so that a loop can run inside it; `drain` runs it to its
    end.
    """

    items: tuple[Value, ...] = ()
    rest: Value | None = None
    fresh: Callable[[], Value] | None = None
    generator: Generator | None = None
    drain: Callable[[Machine], Stream] | None = None
    counted: int | None = None
    supposed: int | None = None
    numbers: tuple[int, int] | None = None

    def at(self, m: Machine, index: int) -> Callable[[], Value]:
        """A function that produces the element at `index`: paired with its number under `enumerate`."""
        if index < len(self.items):
            return lambda: self.items[index]
        if self.numbers is not None:
            start, step = self.numbers
            return lambda: Const(start + index * step)
        if self.counted is None or not isinstance(self.rest, Tup):
            return self.make(m)
        pair = replace(self.rest, items=(Const(self.counted + index), *self.rest.items[1:]))
        return lambda: pair

    def make(self, m: Machine) -> Callable[[], Value]:
        del m
        if self.fresh is not None:
            return self.fresh
        rest = self.rest if self.rest is not None else Unknown()
        return lambda: rest

    def drained(self, m: Machine) -> Stream:
        """The same elements, with a generator run to its end now."""
        return self if self.drain is None else self.drain(m)


@dataclass(slots=True)
class Supposed:
    """What a run made of elements that there need not be: the heap ids after the first of each pair, up to the last."""

    made: list[tuple[int, int]] = field(default_factory=list)

    def holds(self, ident: int) -> bool:
        return any(before < ident <= last for before, last in self.made)
