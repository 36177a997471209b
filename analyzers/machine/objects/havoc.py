"""What unknown code may do to objects: which of their contents it may replace."""

from __future__ import annotations

from typing import TypeVar

from analyzers.domain.copies import replace
from analyzers.domain.join import one_of, reach_of
from analyzers.domain.objects import ClassObj, Instance, by_name
from analyzers.domain.values import Const, Func, Ref, Unknown, Value
from analyzers.machine.core.havoc import lend, put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import attributes_set
from analyzers.machine.core.registries import class_model
from analyzers.maps import Map

K = TypeVar("K")


def havoc_instance(m: Machine, ident: int, found: Instance) -> None:
    model = class_model(found)
    changed = model.doubted(m, ident, found) if model is not None else None
    if changed is None:
        changed = replaceable(m, found.attrs)
    if changed or not found.open:
        put(m, ident, found, Instance(found.cls, found.attrs.update(changed), True))


def replaceable(m: Machine, held: Map[K, Value]) -> dict[K, Value]:
    """Unknown stand-ins for plain values and, while forgetting, for non-parameter tensors; other objects are kept."""
    return {key: Unknown(None, None, None, reach_of(value)) for key, value in held.items() if _is_replaceable(m, value)}


def _is_replaceable(m: Machine, value: Value) -> bool:
    if isinstance(value, Ref):
        tensor = m.tensor(value)
        return bool(m.extent.forgets) and tensor is not None and not tensor.parameter
    return not isinstance(value, Func) and not (isinstance(value, Unknown) and value.type is value.symbol is None)


def set_by_methods(m: Machine, cls: int | str) -> set[str]:
    """The attributes that the methods of a class of the program set, once the object is made."""
    found = m.st.find(cls) if isinstance(cls, int) else None
    names: set[str] = set()
    for ancestor in found.ancestry if isinstance(found, ClassObj) else ():
        one = m.st.find(ancestor) if isinstance(ancestor, int) else None
        if isinstance(one, ClassObj) and not one.module.startswith("<"):
            for name, value in by_name(one.attrs):
                if isinstance(value, Func) and name != "__init__":
                    names |= attributes_set_by(m, value)
    return names


def attributes_set_by(m: Machine, func: Func) -> frozenset[str]:
    """The names of the attributes that a function sets, of whatever object."""
    key = (func.module, func.chunk, func.qualname, func.node.start)
    known = m.indexes.attributes_set.get(key)
    if known is None:
        known = m.indexes.attributes_set[key] = attributes_set(m.config.program, func)
    return known


def methods_may_have_run(m: Machine, ident: int) -> None:
    """Unknown code has called what may be an object: of its plain attributes, those that its methods set are lost."""
    found = m.st.find(ident)
    if isinstance(found, Instance) and not m.st.is_library(found):
        names = set_by_methods(m, found.cls)
        lost = {name: Unknown() for name, value in by_name(found.attrs) if name in names and isinstance(value, Const)}
        put(m, ident, found, replace(found, attrs=found.attrs.update(lost)))
        lend(m, ident)


def store_perhaps(m: Machine, owner: Value, name: str | None, value: Value) -> None:
    """One of the objects that an unknown value may be has this attribute now, by a name that perhaps nobody knows."""
    for ident in reach_of(owner):
        found = m.st.find(ident)
        if not isinstance(found, Instance):
            continue
        model = class_model(found)
        if model is not None:
            model.store_perhaps(m, found, name, value)
        if m.tensor(value) is not None:
            held = [
                (key, old) for key, old in by_name(found.attrs) if name in {None, key} and m.tensor(old) is not None
            ]
            attrs = found.attrs.update({key: one_of(old, value) for key, old in held})
            m.st.put(ident, replace(found, attrs=attrs, open=True))


def some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)
