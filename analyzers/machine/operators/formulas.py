"""What a gradient formula sees of its node, and what it computes with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from analyzers.domain.objects import Node
from analyzers.domain.values import NONE, Const, Ref, Tup, Value
from analyzers.machine.autograd.tensor_arithmetic import Given, Term, value_of
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.dispatch import apply, call_torch
from analyzers.ops import table


class Derivative:
    """What a formula sees: the gradients of the node's results, the saved tensors, plain arguments, and its operand: of
    several that at edge `index`."""

    def __init__(self, m: Machine, node: Node, grads: Sequence[Value], index: int) -> None:
        self.m = m
        self.node = node
        self.grads = [Term(m, g) for g in grads]
        self.index = index
        self.operand = node.operands[index]

    @property
    def grad(self) -> Term:
        return next(g for g in self.grads if g.value != NONE)

    @property
    def shape(self) -> Sequence[int | None]:
        """The operand's sizes."""
        assert self.operand.shape is not None
        return self.operand.shape

    def saved(self, name: str) -> Term:
        """The tensor saved under a name; one that did not need to be saved has no graph."""
        for saved in self.node.saved:
            if saved.name == name and saved.tensor is not None:
                return Term(self.m, Ref(saved.tensor))
        return Term(self.m, self.m.new_tensor((), self.operand.dtype))

    def scalar(self, name: str, default: object = None) -> object:
        value = dict(self.node.scalars).get(name, Const(default))
        return value.value if isinstance(value, Const) else None

    def plain(self, name: str, default: object) -> Given:
        """A plain argument as it was given."""
        return Term(self.m, dict(self.node.scalars).get(name, Const(default)))

    def dim(self, name: str = "dim") -> int | None:
        """A dimension of the operand, counted from its first; the first where none was given."""
        at = self.scalar(name, 0)
        return at % max(1, len(self.shape)) if isinstance(at, int) else None

    def sizes(self, name: str) -> list[int]:
        """A plain argument that is an integer or several."""
        match dict(self.node.scalars).get(name):
            case Const(value=int() as one):
                return [one]
            case Tup(items=items) if all(isinstance(i, Const) and isinstance(i.value, int) for i in items):
                return [i.value for i in items if isinstance(i, Const) and isinstance(i.value, int)]
        return []

    def op(self, base: str, *args: Given) -> Term:
        """An operator that has no Python name of its own, given its first arguments."""
        row = next(r for r in table.rows(base) if not r.out)
        bound = {a.name: value_of(v) for a, v in zip(row.args, args, strict=False)}
        result = apply(self.m, row, bound)
        value = result.items[0] if isinstance(result, Tup) else result
        made = self.m.tensor(value)
        if made is not None and made.shape is None:
            made.shape, made.dtype = self.operand.shape, self.operand.dtype
        return Term(self.m, value)

    def where(self, condition: Term, yes: Given, no: Given) -> Term:
        return Term(self.m, call_torch(self.m, "torch.where", [condition.value, value_of(yes), value_of(no)], {}))


Formula: TypeAlias = Callable[[Derivative], Term]
