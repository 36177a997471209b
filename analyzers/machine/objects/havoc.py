"""What an unknown callee may have done to what it was handed: written to it, rebound it, run a backward through it."""

from __future__ import annotations

from typing import TypeVar

from immutables import Map

from analyzers.domain.join import reach_of
from analyzers.domain.objects import Instance
from analyzers.domain.values import Const, Func, Ref, Unknown, Value
from analyzers.machine.core.events import OptimizerEscaped
from analyzers.machine.core.havoc import put
from analyzers.machine.core.machine import Machine

K = TypeVar("K")


TABLES = frozenset({"_parameters", "_buffers", "_modules"})
"""The dicts of a module: what is registered stays registered."""


def havoc_instance(m: Machine, ident: int, found: Instance) -> None:
    from analyzers.machine.libraries.torch.modules import PERHAPS_HOOKED

    attrs = found.attrs
    if "_modules" in attrs and "_parameters" in attrs:
        flag = isinstance(attrs.get("training"), Const)
        changed: dict[str, Value] = {"training": Unknown("bool")} if flag else {}
        if not m.st.is_library(found):
            changed |= {k: v for k, v in replaceable(m, attrs).items() if _is_setting(attrs[k])}
        if "_hooked" in attrs:
            is_told = m.presumes or attrs["_hooked"] == Const(value=True)
            changed["_hooked"] = attrs["_hooked"] if is_told else PERHAPS_HOOKED
    else:
        if "param_groups" in attrs:
            m.note(OptimizerEscaped(m.site(), ident))
        changed = replaceable(m, attrs)
    put(m, ident, found, Instance(found.cls, attrs.update(changed), True))


def _is_setting(value: Value) -> bool:
    """Whether an attribute is of a kind that programs change: a flag, nothing yet, a tensor that is not registered."""
    return not isinstance(value, Const) or value.value is None or isinstance(value.value, bool)


def replaceable(m: Machine, held: Map[K, Value]) -> dict[K, Value]:
    """What may be held in the place of plain values, and later of tensors; other objects stay."""
    return {key: Unknown(None, None, None, reach_of(value)) for key, value in held.items() if _is_replaceable(m, value)}


def _is_replaceable(m: Machine, value: Value) -> bool:
    if isinstance(value, Ref):
        tensor = m.tensor(value)
        return bool(m.forgets) and tensor is not None and not tensor.parameter
    return not isinstance(value, Func) and not (isinstance(value, Unknown) and value.type is value.symbol is None)


def some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)
