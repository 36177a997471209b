"""Enumerations: each member is one object, so that comparing members with `is` or `==` tells them apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from analyzers.domain.copies import replace
from analyzers.domain.objects import ClassObj, HeapObject, Instance
from analyzers.domain.values import Const, Func, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import find_in_class
from analyzers.maps import Map

MIXED: Final = frozenset(
    {"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.int", "builtins.str", "builtins.float"}
)
"""Members of an enumeration with one of these bases compare as their values do."""
ENUMS: Final = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
AUTO: Final = "auto"
"""The first part of the symbol of what `enum.auto()` gives."""


def make_members(m: Machine, cls: int, order: Iterable[str]) -> None:
    """Turn the plain attributes of a new enumeration into its members; `order` are the names that its body binds."""
    found = m.st.get(cls)
    assert isinstance(found, ClassObj)
    attrs = found.attrs
    members: list[tuple[str, Value | None, bool]] = []
    for name in dict.fromkeys(order):
        value = attrs.get(name)
        if value is None or not _is_member(m, name, value):
            continue
        same = next((ref for _, ref, _ in members if ref is not None and _value_of(m, ref) == value), None)
        if same is None:
            same = m.new(
                Instance(cls, Map({"value": value, "_value_": value, "name": Const(name), "_name_": Const(name)}))
            )
            members.append((name, same, False))
        attrs = attrs.set(name, same)
    m.st.put(cls, replace(found, attrs=attrs, fields=tuple(members)))
    for _, member, _ in members:
        if member is not None:
            _initialize(m, cls, member)


def _is_member(m: Machine, name: str, value: Value) -> bool:
    """A value that nobody knows may be that of another member, so it makes none that could be told apart."""
    if name.startswith("_") and name.endswith("_"):
        return False
    if isinstance(value, Unknown):
        return isinstance(value.symbol, tuple) and value.symbol[:1] == (AUTO,)
    return not isinstance(value, Func) and not isinstance(m.obj(value), ClassObj)


def _initialize(m: Machine, cls: int, member: Value) -> None:
    """A `__new__` or `__init__` of its own may set what it likes."""
    if isinstance(find_in_class(m, cls, "__new__"), Func):
        found = m.obj(member)
        if isinstance(found, Instance) and isinstance(member, Ref):
            kept = Map({key: value for key, value in found.attrs.items() if key in {"name", "_name_"}})
            m.st.put(member.id, Instance(cls, kept, True))
    elif isinstance(find_in_class(m, cls, "__init__"), Func):
        value = _value_of(m, member) or Unknown()
        call_method(m, member, "__init__", Args(list(value.items) if isinstance(value, Tup) else [value]))


def members(found: HeapObject | None) -> tuple[Value, ...]:
    """The members of an enumeration, without aliases, in the order of the program."""
    if not isinstance(found, ClassObj) or found.kind != "enum":
        return ()
    return tuple(member for _, member, _ in found.fields if member is not None)


def is_complete(found: ClassObj) -> bool:
    """Whether every attribute that may be a member is known to be one or none."""
    return not any(isinstance(value, Unknown) for value in found.attrs.values())


def by_value(m: Machine, cls: Ref, found: ClassObj, value: Value) -> Value:
    """`Phase(1)`."""
    for member in members(found):
        if member == value or (isinstance(value, Const | Tup) and _value_of(m, member) == value):
            return member
    if isinstance(value, Const) and is_complete(found) and not _makes_more(m, cls.id, found):
        raise PyRaise("ValueError")
    return Unknown(None, None, None, (cls.id,))


def _makes_more(m: Machine, cls: int, found: ClassObj) -> bool:
    """Whether there are members beyond those that are written down, or other ways to find one."""
    is_flag = not {"enum.Flag", "enum.IntFlag"}.isdisjoint(found.ancestry)
    values = [_value_of(m, member) for member in members(found)]
    settled = all(isinstance(value, Const | Tup) for value in values)
    return is_flag or not settled or any(find_in_class(m, cls, name) is not None for name in ("_missing_", "__new__"))


def by_key(cls: Ref, found: ClassObj, key: Value) -> Value:
    """`Phase["TRAIN"]`."""
    value = found.attrs.get(key.value) if isinstance(key, Const) and isinstance(key.value, str) else None
    return value if isinstance(value, Ref) else Unknown(None, None, None, (cls.id,))


def as_compared(m: Machine, value: Value) -> Value:
    """The value of a member that compares as its value does; any other value as it is."""
    found = m.obj(value)
    if isinstance(found, Instance) and isinstance(found.cls, int):
        cls = m.st.get(found.cls)
        if isinstance(cls, ClassObj) and cls.kind == "enum" and not MIXED.isdisjoint(cls.ancestry):
            return found.attrs.get("_value_", Unknown())
    return value


def _value_of(m: Machine, member: Value) -> Value | None:
    found = m.obj(member)
    return found.attrs.get("_value_") if isinstance(found, Instance) else None
