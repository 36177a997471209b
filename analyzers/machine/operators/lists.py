"""Lists of tensors of unknown length as operators take them in."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.join import tensor_among
from analyzers.domain.objects import ListObj, Tensor
from analyzers.domain.values import Ref, Unknown, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine

FEW = 6
"""Tensors that may be in a list and are told apart; of more, nothing is known."""


def of_some_length(m: Machine, value: Value) -> Value:
    """The same list, where all that may be in it beyond its first items are tensors: any number of what is one of them.

    There is one if there is nothing else. What is there perhaps gives a result its graph as what perhaps requires grad.
    """
    found = m.obj(value) if isinstance(value, Ref) else None
    rest = found.rest if isinstance(found, ListObj) else None
    if not isinstance(found, ListObj) or not isinstance(rest, Unknown) or not rest.among or len(rest.reach) > FEW:
        return value
    if not all(isinstance(m.st.find(ident), Tensor) for ident in rest.reach):
        return value
    m.opaque()
    one = tensor_among(m.st, rest.reach, m.fresh)
    perhaps = _perhaps(m, one)
    return m.new(ListObj(found.items or (Ref(one),), perhaps, distinct=True))


def _perhaps(m: Machine, ident: int) -> Ref:
    tensor = tensor_at(m, ident)
    edge = None if tensor.edge is None else replace(tensor.edge, maybe=True)
    required = None if tensor.requires_grad else tensor.requires_grad
    return m.new(replace(tensor, requires_grad=required, edge=edge, base=None, perhaps_of=None, shape=None))
