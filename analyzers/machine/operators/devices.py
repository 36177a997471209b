"""Devices, which the machine does not track: what a move may do that shows in the graph.

A tensor that is moved to where it is already is returned itself, any other is copied. Nobody knows the reader's
devices, so a move to one that is not surely the CPU is both: a leaf may be a leaf afterwards, or have a graph.
"""

from __future__ import annotations

from analyzers.domain.objects import HeapObject, Instance
from analyzers.domain.values import Const, Unknown, Value
from analyzers.machine.core.machine import Machine


def is_device(m: Machine, value: Value) -> bool:
    """Whether an argument of `to` is a device, the most common case: judged by its name, or by everything it may be."""
    if not isinstance(value, Unknown):
        return _is_torch_device(m.obj(value))
    named = str(value.symbol).lower() if value.symbol is not None else ""
    return "device" in named or (bool(value.reach) and all(_is_torch_device(m.st.find(i)) for i in value.reach))


def may_be_elsewhere(m: Machine, value: Value) -> bool:
    """Whether a device may be another one than the CPU."""
    found = m.obj(value)
    if isinstance(found, Instance) and _is_torch_device(found):
        value = found.attrs.get("type", value)
    match value:
        case Const(value=str(name)):
            return name.split(":")[0] != "cpu"
        case Const(value=None | bool()):
            return False
        case Const(value=int()) | Unknown():
            return True
    return False


def _is_torch_device(found: HeapObject | None) -> bool:
    return isinstance(found, Instance) and found.cls == "torch.device"
