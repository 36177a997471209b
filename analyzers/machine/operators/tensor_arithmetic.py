"""Arithmetic on gradients: formulas are written with the operators that they describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from analyzers.domain.objects import Node, Operand, Shape
from analyzers.domain.values import NONE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.dispatch import apply, call_torch
from analyzers.ops import table

Given: TypeAlias = "Term | float | bool | Sequence[int | None] | None"


class Term:
    """A tensor of the machine's, to compute with as the program would."""

    __slots__ = ("m", "value")

    def __init__(self, m: Machine, value: Value) -> None:
        self.m = m
        self.value = value

    def __getattr__(self, name: str) -> Callable[..., Term]:
        return lambda *args, **kwargs: self.method(name, *args, **kwargs)

    def method(self, name: str, *args: Given, **kwargs: Given) -> Term:
        from analyzers.machine.objects.attributes import call_bound

        named = {k: _value(v) for k, v in kwargs.items()}
        return Term(self.m, call_bound(self.m, self.value, name, Args([_value(a) for a in args], named)))

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


def _value(given: Given) -> Value:
    if isinstance(given, Term):
        return given.value
    if isinstance(given, Sequence):
        return Tup(tuple(Const(n) if n is not None else Unknown("int") for n in given))
    return Const(given)


class Derivative:
    """What a formula sees: the gradients of the node's results, what it saved, its plain arguments, and its operand."""

    def __init__(self, m: Machine, node: Node, grads: Sequence[Value], operand: Operand) -> None:
        self.m = m
        self.node = node
        self.grads = [Term(m, g) for g in grads]
        self.operand = operand

    @property
    def grad(self) -> Term:
        return next(g for g in self.grads if g.value != NONE)

    @property
    def shape(self) -> Sequence[int | None]:
        """The operand's sizes."""
        assert self.operand.shape is not None
        return self.operand.shape

    def saved(self, name: str) -> Term:
        """What the node kept under a name; what it had no need to keep has no graph."""
        for saved in self.node.saved:
            if saved.name == name and saved.tensor is not None:
                return Term(self.m, Ref(saved.tensor))
        return Term(self.m, self.m.new_tensor((), self.operand.dtype))

    def scalar(self, name: str, default: object = None) -> object:
        value = dict(self.node.scalars).get(name, Const(default))
        return value.value if isinstance(value, Const) else None

    def sizes(self, name: str) -> list[int]:
        """A plain argument that is one whole number or several."""
        match dict(self.node.scalars).get(name):
            case Const(value=int() as one):
                return [one]
            case Tup(items=items) if all(isinstance(i, Const) and isinstance(i.value, int) for i in items):
                return [i.value for i in items if isinstance(i, Const) and isinstance(i.value, int)]
        return []

    def op(self, base: str, *args: Given) -> Term:
        """An operator that has no Python name of its own, with its first arguments."""
        row = next(r for r in table.rows(base) if not r.out)
        bound = {a.name: _value(v) for a, v in zip(row.args, args, strict=False)}
        result = apply(self.m, row, bound)
        value = result.items[0] if isinstance(result, Tup) else result
        made = self.m.tensor(value)
        if made is not None and made.shape is None:
            made.shape, made.dtype = self.operand.shape, self.operand.dtype
        return Term(self.m, value)

    def where(self, condition: Term, yes: Given, no: Given) -> Term:
        return Term(self.m, call_torch(self.m, "torch.where", [condition.value, _value(yes), _value(no)], {}))


Formula: TypeAlias = Callable[[Derivative], Term]


def summed_to(term: Term, shape: tuple[int | None, ...]) -> Term:
    """The engine sums a gradient over what broadcasting had repeated."""
    given = term.shape
    assert given is not None
    if given == shape or len(given) < len(shape):
        return term
    if not shape:
        return term.method("sum")
    leading = len(given) - len(shape)
    dims = [i for i in range(len(given)) if i < leading or (shape[i - leading] == 1 and given[i] != 1)]
    term = term.method("sum", dims, keepdim=True)
    return term.method("view", shape) if leading else term
