"""Attributes and methods of unknown values."""

from __future__ import annotations

from analyzers.domain.values import BoundBuiltin, Const, Unknown, Value, is_absent
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import unknown_call, used_unseen
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import GUESSES, VALUES, ValueModel
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.beginnings import method_of_beginning
from analyzers.machine.objects.strings import lost, text_method


def unknown_attribute(m: Machine, owner: Unknown, name: str) -> Value:
    if owner.type in {"int", "float", "bool", "complex"} and not hasattr(0.0, name) and not hasattr(1, name):
        raise m.throw(
            "AttributeError",
            f"'{owner.type}' object has no attribute '{name}'",
            lost(m, Const(0, owner.lineage), name),
        )
    if is_absent(owner):
        return owner
    for guess in GUESSES:
        told = guess.get_attribute(m, owner, name)
        if told is not None:
            return told
    if owner.type is None:
        if name == "training":
            return Unknown("bool", None if owner.symbol is None else (owner.symbol, name))
    m.record.imprecisions += 1
    used_unseen(m, owner, name)
    symbol = (owner.symbol, name) if owner.symbol is not None else None
    if owner.type is not None:
        return BoundBuiltin(owner, name)
    return Unknown(None, symbol, owner.lineage, owner.reach)


def unknown_method(m: Machine, receiver: Unknown, name: str, args: Args) -> Value:
    """A method of an unknown value; one that only tensors have reveals what the value is."""
    if receiver.type == "str":
        return method_of_beginning(m, receiver, name, args) or text_method(m, name)
    if receiver.type in {"int", "float", "bool", "complex", "bytes"}:
        return Unknown()
    for guess in GUESSES:
        told = guess.call_method(m, receiver, name, args)
        if told is not None:
            return told
    return unknown_call(m, receiver, args)


class UnknownModel(ValueModel):
    def get_attribute(self, m: Machine, owner: Value, name: str) -> Value:
        assert isinstance(owner, Unknown)
        return unknown_attribute(m, owner, name)

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value:
        assert isinstance(owner, Unknown)
        return unknown_method(m, owner, name, args)


enter(VALUES, Unknown, UnknownModel())
