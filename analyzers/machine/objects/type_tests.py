"""`isinstance`, as far as the answer is known."""

from __future__ import annotations

import builtins as python

from analyzers.domain import truth
from analyzers.domain.join import NUMBERS
from analyzers.domain.objects import ClassObj, DictObj, Generator, Instance, Iterator, ListObj, SetObj
from analyzers.domain.values import (
    Builtin,
    Const,
    Func,
    Method,
    Partial,
    RangeValue,
    Ref,
    SliceValue,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import FOREIGN_TYPES, OF_INSTANCES, TYPE_TESTS, WHOLE_LIBRARIES, model_of
from analyzers.machine.objects.classes import is_a

TYPES: dict[type, frozenset[str]] = {
    ListObj: frozenset({"builtins.list"}),
    DictObj: frozenset({"builtins.dict"}),
    SetObj: frozenset({"builtins.set", "builtins.frozenset"}),
}


def is_instance(m: Machine, value: Value, cls: Value) -> truth.Truth:
    if isinstance(cls, Tup):
        return truth.any_of(is_instance(m, value, c) for c in cls.items)
    if isinstance(value, Unknown):
        return _unknown_is(value, cls)
    if isinstance(cls, Unknown):
        return None
    if isinstance(cls, Builtin):
        return _is_outside(m, value, cls.name)
    found = m.obj(value)
    if isinstance(found, Instance) and isinstance(cls, Ref):
        own = m.st.get(found.cls) if isinstance(found.cls, int) else None
        if isinstance(own, ClassObj):
            return True if cls.id in own.ancestry else False if own.known else None
        return None
    if isinstance(cls, Ref) and isinstance(value, Tup):
        return value.cls == cls.id
    if found is not None and isinstance(value, Ref) and isinstance(cls, Ref):
        return model_of(found).is_of(m, value, found, cls)
    return False


def _unknown_is(value: Unknown, cls: Value) -> truth.Truth:
    if value.type in NUMBERS | {"str"} and isinstance(cls, Builtin):
        if value.type == "number" and cls.name.removeprefix("builtins.") in NUMBERS:
            return None
        if cls.name == "builtins." + value.type:
            return True
        return bool(value.type == "bool" and cls.name == "builtins.int")
    return None


def _is_outside(m: Machine, value: Value, name: str) -> truth.Truth:
    found = m.obj(value)
    if found is not None and isinstance(value, Ref) and model_of(found).rank > OF_INSTANCES:
        return model_of(found).is_instance(m, value, found, name)
    if isinstance(found, Instance):
        if is_a(m, found.cls, name):
            return True
        own = m.st.get(found.cls) if isinstance(found.cls, int) else None
        known = isinstance(own, ClassObj) and own.known
        told = name.split(".", 1)[0] in WHOLE_LIBRARIES or name.startswith("builtins.")
        return False if known and told and name != "builtins.object" else None
    if name == "builtins.object":
        return True
    if name in TYPE_TESTS:
        return TYPE_TESTS[name](m, value)
    if isinstance(value, Const):
        kind = getattr(python, name.removeprefix("builtins."), None) if name.startswith("builtins.") else None
        if isinstance(kind, type):
            return isinstance(value.value, kind)
        return False if name in FOREIGN_TYPES or value.value is None else None
    if isinstance(value, Tup):
        return name == "builtins.tuple" if name.startswith("builtins.") or name in FOREIGN_TYPES else None
    if isinstance(value, SliceValue | RangeValue) and name.startswith("builtins."):
        return name == ("builtins.slice" if isinstance(value, SliceValue) else "builtins.range")
    for kind_, names in TYPES.items():
        if isinstance(found, kind_):
            return name in names if name.startswith("builtins.") or name in FOREIGN_TYPES else None
    if found is not None and isinstance(value, Ref) and model_of(found).rank > 0:
        return model_of(found).is_instance(m, value, found, name)
    if isinstance(found, Generator | Iterator | ClassObj) or isinstance(value, Func | Method | Partial | RangeValue):
        return (
            False
            if name in FOREIGN_TYPES or name in {"builtins.list", "builtins.dict", "builtins.tuple", "builtins.str"}
            else None
        )
    return None
