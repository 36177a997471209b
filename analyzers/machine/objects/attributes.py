"""Attributes and methods, answered by the object's model."""

from __future__ import annotations

from analyzers.domain.values import (
    NONE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Native,
    Partial,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, note_part, unknown_call
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.library_names import outside
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.missing import none_used
from analyzers.machine.core.registries import CALLS, GUESSES, PLAIN_VALUE, VALUES, model_of
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.havoc import store_perhaps


def get_attribute(m: Machine, owner: Value, name: str) -> Value:
    match owner:
        case Ref():
            found = m.st.get(owner.id)
            return model_of(found).get_attribute(m, owner, found, name)
        case Builtin(name=dotted):
            return Const(dotted.rsplit(".", 1)[-1]) if name == "__name__" else outside(m, f"{dotted}.{name}")
        case Func():
            if name in {"__name__", "__qualname__"}:
                return Const(owner.node_name)
            if name == "__wrapped__":
                return owner
        case Method():
            if name == "__self__":
                return owner.receiver
            if name == "__func__":
                return owner.func
            if name in {"__name__", "__qualname__"}:
                return Const(owner.func.node_name)
        case Partial(func=func, args=args) if name in {"func", "args"}:
            return func if name == "func" else Tup(args)
        case BoundBuiltin() | Native():
            return Unknown()
    return VALUES.get(type(owner), PLAIN_VALUE).get_attribute(m, owner, name)


def set_attribute(m: Machine, owner: Value, name: str, value: Value) -> None:
    if isinstance(owner, Ref):
        found = m.st.get(owner.id)
        model_of(found).set_attribute(m, owner, found, name, value)
        return
    if isinstance(owner, Unknown) and owner.type is None:
        if any(guess.set_attribute(m, owner, name, value) for guess in GUESSES):
            return
        havoc_value(m, owner)
        store_perhaps(m, owner, name, value)
        note_part(m, owner, value)
    if owner == NONE:
        raise none_used(m, NONE, "AttributeError", f"'NoneType' object has no attribute '{name}'")


def call_bound(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    if name.startswith("object."):
        return _object_method(m, receiver, name[7:], args)
    if isinstance(receiver, Ref):
        found = m.st.get(receiver.id)
        result = model_of(found).call_method(m, receiver, found, name, args)
    elif isinstance(receiver, Func):
        return Unknown()
    else:
        result = VALUES.get(type(receiver), PLAIN_VALUE).call_method(m, receiver, name, args)
    return result if result is not None else unknown_call(m, receiver, args)


def _object_method(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    """A method of `object` itself, as found through `super()`."""
    if name == "__setattr__" and isinstance(receiver, Ref):
        key, value = args.get(0, "name"), args.get(1, "value")
        if isinstance(key, Const) and isinstance(key.value, str):
            found = m.st.get(receiver.id)
            model_of(found).store(m, receiver, found, key.value, value)
        else:
            havoc_value(m, receiver)
        return NONE
    return Unknown() if name == "__getattribute__" else NONE


def call_method(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    return call(m, get_attribute(m, receiver, name), args)


def _call_bound(m: Machine, func: Value, args: Args) -> Value:
    assert isinstance(func, BoundBuiltin)
    return call_bound(m, func.receiver, func.name, args)


enter(CALLS, BoundBuiltin, _call_bound)
