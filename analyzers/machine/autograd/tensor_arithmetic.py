"""Arithmetic on gradients, written as a program would write it: each step runs a torch operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from analyzers.domain.objects import Shape
from analyzers.domain.values import BoundBuiltin, Const, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine

Given: TypeAlias = "Term | float | bool | Sequence[int | None] | None"


class Term:
    """A tensor of the machine that supports arithmetic as in a program."""

    __slots__ = ("m", "value")

    def __init__(self, m: Machine, value: Value) -> None:
        self.m = m
        self.value = value

    def __getattr__(self, name: str) -> Callable[..., Term]:
        return lambda *args, **kwargs: self.method(name, *args, **kwargs)

    def method(self, name: str, *args: Given, **kwargs: Given) -> Term:
        named = {k: value_of(v) for k, v in kwargs.items()}
        return Term(self.m, call(self.m, BoundBuiltin(self.value, name), Args([value_of(a) for a in args], named)))

    def __mul__(self, other: Given) -> Term:
        return self.method("mul", other)

    def __rmul__(self, other: Given) -> Term:
        return self.method("mul", other)

    def __add__(self, other: Given) -> Term:
        return self.method("add", other)

    def __radd__(self, other: Given) -> Term:
        return self.method("add", other)

    def __sub__(self, other: Given) -> Term:
        return self.method("sub", other)

    def __truediv__(self, other: Given) -> Term:
        return self.method("div", other)

    def __neg__(self) -> Term:
        return self.method("neg")

    def __lt__(self, other: Given) -> Term:
        return self.method("lt", other)

    def __le__(self, other: Given) -> Term:
        return self.method("le", other)

    def __ge__(self, other: Given) -> Term:
        return self.method("ge", other)

    @property
    def shape(self) -> Shape:
        found = self.m.tensor(self.value)
        return None if found is None else found.shape


def value_of(given: Given) -> Value:
    if isinstance(given, Term):
        return given.value
    if isinstance(given, Sequence):
        return Tup(tuple(Const(n) if n is not None else Unknown("int") for n in given))
    return Const(given)


def summed_to(term: Term, shape: tuple[int | None, ...]) -> Term:
    """The gradient summed over broadcast dimensions, as the engine does."""
    given = term.shape
    assert given is not None
    if given == shape or len(given) < len(shape):
        return term
    if not shape:
        return term.method("sum")
    leading = len(given) - len(shape)
    dims = [i for i in range(len(given)) if i < leading or (shape[i - leading] == 1 and given[i] != 1)]
    if not dims:
        return term
    term = term.method("sum", dims, keepdim=True)
    return term.method("view", shape) if leading else term
