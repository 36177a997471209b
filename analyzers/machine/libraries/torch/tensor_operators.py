"""Python's operators on tensors."""

from __future__ import annotations

from functools import partial

from analyzers.domain.lineage import BESIDE, FIRST
from analyzers.domain.objects import Instance, Tensor
from analyzers.domain.values import Ref, Tup, Unknown, Value
from analyzers.machine.autograd.likely_tensors import part_of
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ranges import SHOWN
from analyzers.machine.core.registries import misused
from analyzers.machine.core.streams import Stream
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.operators import DUNDER, method
from analyzers.machine.operators.dispatch import call_torch, perhaps


def is_tensor(m: Machine, value: Value) -> bool:
    return isinstance(value, Ref) and isinstance(m.obj(value), Tensor)


def refuse_saved(m: Machine, op: str, left: Value, right: Value) -> None:
    """`grad * ctx.saved_tensors`, where the latter is a tuple."""
    for value in (left, right):
        words = "only integer tensors of a single element" if op == "*" else "unsupported operand type(s)"
        misused(m, value, "TypeError", words)


def tensor_binary(m: Machine, op: str, left: Value, right: Value) -> Value:
    if is_tensor(m, left):
        found = m.obj(right)
        if isinstance(found, Instance) and not isinstance(found.cls, str):
            result = method(m, right, f"__r{DUNDER[op]}__", [left])
            if result is not None:
                return result
        return call_torch(m, f"Tensor.__{DUNDER[op]}__", [left, right], {})
    found = m.obj(left)
    if isinstance(found, Instance):
        result = method(m, left, f"__{DUNDER[op]}__", [right])
        if result is not None:
            return result
    if op == "/" and isinstance(left, Unknown) and left.type in {None, "tensor"}:
        # A number is multiplied by the reciprocal, a tensor is divided: which node is made is not known.
        return perhaps(m, "div.Tensor", op, self=left, other=right)
    if op == "/":
        return call_method(m, right, "__rtruediv__", Args([left]))
    return call_torch(m, f"Tensor.__r{DUNDER[op]}__", [right, left], {})


def stream_of_rows(m: Machine, value: Ref, tensor: Tensor, unpack: int | None) -> Stream:
    """Iterating over a tensor is `unbind(0)`."""
    if tensor.presumed:
        if unpack is not None:
            return Stream(tuple([part_of(m, tensor, BESIDE if index else FIRST) for index in range(unpack)]))
        return Stream((), Unknown(), lambda: part_of(m, tensor))
    size = tensor.shape[0] if tensor.shape else None
    if tensor.shape == ():
        raise PyRaise("TypeError", "iteration over a 0-d tensor")
    if size is None and unpack is not None:
        size = unpack
    if size is not None and size <= SHOWN:
        rows = call_torch(m, "Tensor.unbind", [value], {}, count=size)
        if isinstance(rows, Tup):
            return Stream(rows.items)
    return Stream((), Unknown(), partial(_row, m, value))


def _row(m: Machine, value: Ref) -> Value:
    pieces = call_torch(m, "Tensor.unbind", [value], {}, count=1)
    return pieces.items[0] if isinstance(pieces, Tup) and pieces.items else m.unknown_tensor()
