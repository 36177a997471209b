"""Attributes and methods of values that are not known."""

from __future__ import annotations

from analyzers.domain.values import BoundBuiltin, Const, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import unknown_call
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.strings import lost, text_method


def unknown_attribute(m: Machine, owner: Unknown, name: str) -> Value:
    from analyzers.machine.libraries.torch.tensor_attributes import FLAGS, PROPERTIES
    from analyzers.machine.libraries.torch.unknown_tensors import TENSOR_ONLY

    if owner.type in {"int", "float", "bool", "complex"} and not hasattr(0.0, name) and not hasattr(1, name):
        raise m.throw(
            "AttributeError", f"'{owner.type}' object has no attribute '{name}'", lost(m, Const(0, owner.lineage))
        )
    if owner.type is None:
        if name in TENSOR_ONLY:
            return BoundBuiltin(owner, name)
        if name == "training":
            return Unknown("bool", None if owner.symbol is None else (owner.symbol, name))
    m.doubts += 1
    symbol = (owner.symbol, name) if owner.symbol is not None else None
    if owner.type in {"grad", "tensor"}:
        if name in PROPERTIES:
            return Unknown("bool" if name in FLAGS else None, symbol, owner.lineage, owner.reach)
    if owner.type is not None:
        return BoundBuiltin(owner, name)
    return Unknown(None, symbol, owner.lineage, owner.reach)


def unknown_method(m: Machine, receiver: Unknown, name: str, args: Args) -> Value:
    """A method of something unknown; one that only tensors have says what it is."""
    from analyzers.machine.libraries.torch.unknown_tensors import TENSOR_ONLY, unknown_tensor_method

    if receiver.type == "str":
        return text_method(m, name)
    if receiver.type in {"int", "float", "bool", "complex", "bytes"}:
        return Unknown()
    if receiver.type == "torch.Size":
        return Unknown("int")
    if name in TENSOR_ONLY and receiver.type is None:
        return unknown_tensor_method(m, receiver, name, args)
    return unknown_call(m, receiver, args)
