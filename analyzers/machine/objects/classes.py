"""Classes: inheritance, and how a function in a class becomes a method."""

from __future__ import annotations

from analyzers.domain.objects import ClassObj
from analyzers.domain.values import Builtin, Func, Method, Ref, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine

PRELUDE = "<prelude>/"


def class_name(m: Machine, cls: int | str) -> str:
    """A class's dotted name; for a prelude class, the name of the class it models."""
    if isinstance(cls, str):
        return cls
    found = m.st.get(cls)
    if not isinstance(found, ClassObj):
        return "?"
    if found.module.startswith(PRELUDE):
        return found.module[len(PRELUDE) :].rsplit("/", 1)[0] + "." + found.qualname
    return f"{found.module}:{found.qualname}"


def is_a(m: Machine, cls: int | str, dotted: str) -> bool:
    """Whether a class is, or inherits from, the outside class `dotted`."""
    if isinstance(cls, str):
        return cls == dotted
    found = m.st.get(cls)
    return isinstance(found, ClassObj) and any(class_name(m, a) == dotted for a in found.ancestry)


def find_in_class(m: Machine, cls: int | str, name: str, after: int | None = None) -> Value | None:
    """A class attribute, looked up in method resolution order, after the class `after` if given."""
    if isinstance(cls, str):
        return None
    found = m.st.get(cls)
    if not isinstance(found, ClassObj):
        return None
    order = found.ancestry
    if after is not None and after in order:
        order = order[order.index(after) + 1 :]
    for ancestor in order:
        if isinstance(ancestor, int):
            base = m.st.get(ancestor)
            if isinstance(base, ClassObj):
                value = base.attrs.get(name)
                if value is not None:
                    return value
    return None


def bind(m: Machine, value: Value, receiver: Value, cls: Ref | None) -> Value:
    """The result of looking up a class attribute on an instance."""
    if isinstance(value, Func):
        if value.kind == "static":
            return value
        if value.kind == "classmethod":
            return Method(cls if cls is not None else receiver, value)
        if value.kind in {"property", "cached_property"}:
            return call(m, value, Args([receiver]))
        return Method(receiver, value)
    return value


def linearize(m: Machine, ident: int, bases: tuple[Value, ...]) -> tuple[tuple[int | str, ...], bool]:
    """Python's method resolution order (C3); the second result is False if a base is unknown."""
    known = True
    sequences: list[list[int | str]] = []
    heads: list[int | str] = []
    for base in bases:
        found = m.obj(base)
        if isinstance(base, Ref) and isinstance(found, ClassObj):
            sequences.append(list(found.ancestry))
            heads.append(base.id)
            known = known and found.known
        elif isinstance(base, Builtin):
            sequences.append([base.name])
            heads.append(base.name)
        else:
            known = False
    sequences.append(heads)
    order: list[int | str] = [ident]
    while any(sequences):
        sequences = [q for q in sequences if q]
        for sequence in sequences:
            head = sequence[0]
            if not any(head in q[1:] for q in sequences):
                break
        else:
            return (*order, *dict.fromkeys(x for q in sequences for x in q)), known
        order.append(head)
        sequences = [[x for x in q if x != head] for q in sequences]
    return tuple(order), known
