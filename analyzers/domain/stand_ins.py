"""The tensors that a presumed run takes unknown values for, each by the symbol of its value."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Tensor
from analyzers.domain.state import State
from analyzers.domain.values import FALSE, TRUE


def asked(state: State, symbol: object) -> truth.Truth:
    """What a condition on the way to `state` has said of an unknown value's `requires_grad`."""
    flag = (symbol, "requires_grad")
    if flag in state.assumed:
        return state.assumed[flag]
    for answer in (TRUE, FALSE):
        same = state.assumed.get(("==", flag, answer))
        if same is not None:
            return same is bool(answer.value)
    return None


def of_both(a: State, b: State) -> Iterator[tuple[object, int, int]]:
    """The symbols that both take for a tensor, with its id here and there."""
    for symbol, ident in a.stand_ins.items():
        other = b.stand_ins.get(symbol)
        if other is not None:
            yield symbol, ident, other


def of_one(a: State, b: State) -> Iterator[tuple[object, int, Tensor]]:
    """The symbols that only `a` takes for a tensor, which is what `b` would take for one, too: data, unless a condition
    has said otherwise."""
    for symbol, ident in a.stand_ins.items():
        found = a.find(ident)
        if symbol not in b.stand_ins and isinstance(found, Tensor):
            there = asked(b, symbol) or False
            yield symbol, ident, replace(found, requires_grad=truth.join(found.requires_grad, there))
