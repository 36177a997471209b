"""What unknown code may do to objects: which of their contents it may replace."""

from __future__ import annotations

from typing import TypeVar

from immutables import Map

from analyzers.domain.join import reach_of
from analyzers.domain.objects import Instance
from analyzers.domain.values import Func, Ref, Unknown, Value
from analyzers.machine.core.havoc import put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import class_model

K = TypeVar("K")


def havoc_instance(m: Machine, ident: int, found: Instance) -> None:
    model = class_model(found)
    changed = model.doubted(m, ident, found) if model is not None else None
    if changed is None:
        changed = replaceable(m, found.attrs)
    put(m, ident, found, Instance(found.cls, found.attrs.update(changed), True))


def replaceable(m: Machine, held: Map[K, Value]) -> dict[K, Value]:
    """Unknown stand-ins for plain values and, while forgetting, for non-parameter tensors; other objects are kept."""
    return {key: Unknown(None, None, None, reach_of(value)) for key, value in held.items() if _is_replaceable(m, value)}


def _is_replaceable(m: Machine, value: Value) -> bool:
    if isinstance(value, Ref):
        tensor = m.tensor(value)
        return bool(m.extent.forgets) and tensor is not None and not tensor.parameter
    return not isinstance(value, Func) and not (isinstance(value, Unknown) and value.type is value.symbol is None)


def some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)
