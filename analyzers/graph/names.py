"""What the program calls its tensors, modules and optimizers at a moment: `loss`, `model.fc.weight`, `batch["x"]`."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.objects import DictObj, Env, Instance, ListObj, by_name
from analyzers.domain.values import Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.machine import Machine

MOST = 6_000
"""Values that are looked at; what lies deeper has no name."""

ITEMS = 24
"""Elements of a list or a dict that have names."""

DEPTH = 3
"""Attributes and elements within each other; the modules within a module do not count."""

TABLES = ("_parameters", "_buffers", "_modules")


def names_at(m: Machine) -> dict[int, str]:
    """The shortest name of each object that a variable of the function at hand leads to, the nearest first."""
    names: dict[int, str] = {}
    queue = list(_variables(m, m.frame.env))
    for name, value, depth in queue:
        if len(queue) > MOST:
            break
        if isinstance(value, Unknown) and value.symbol in m.st.stand_ins:
            value = Ref(m.st.stand_ins[value.symbol])
        if isinstance(value, Tup):
            queue += _items(name, value.items, depth)
        elif isinstance(value, Ref) and value.id not in names:
            names[value.id] = name
            queue += _inside(m, name, value, depth)
        elif isinstance(value, Ref) and _says_more(m, value, names[value.id], name):
            names[value.id] = name
    return names


def _says_more(m: Machine, value: Ref, one: str, other: str) -> bool:
    """Whether a parameter that a variable such as `p` has gone over has a name in its module."""
    found = m.tensor(value)
    return found is not None and found.parameter and "." in other and "." not in one


def _variables(m: Machine, env: int | None) -> Iterator[tuple[str, Value, int]]:
    hidden: set[str] = set()
    while env is not None:
        found = m.st.find(env)
        if not isinstance(found, Env):
            return
        yield from ((name, value, 0) for name, value in by_name(found.vars) if name not in hidden)
        hidden.update(found.vars)
        env = found.parent


def _inside(m: Machine, name: str, value: Ref, depth: int) -> Iterator[tuple[str, Value, int]]:
    found = m.st.find(value.id)
    if isinstance(found, Instance):
        for table in TABLES:
            entries = m.obj(found.attrs[table]) if table in found.attrs else None
            if isinstance(entries, DictObj):
                keys = [key for key in entries.order if isinstance(key, Const)]
                yield from ((f"{name}.{key.value}", entries.items[key], depth) for key in keys)
        if depth < DEPTH:
            own = sorted(attr for attr in found.attrs if not attr.startswith("_"))
            yield from ((f"{name}.{attr}", found.attrs[attr], depth + 1) for attr in own)
    elif isinstance(found, ListObj):
        yield from _items(name, found.items, depth)
    elif isinstance(found, DictObj) and depth < DEPTH:
        keys = [key for key in found.order[:ITEMS] if isinstance(key, Const)]
        yield from ((f"{name}[{_quoted(key.value)}]", found.items[key], depth + 1) for key in keys)


def _items(name: str, items: tuple[Value, ...], depth: int) -> Iterator[tuple[str, Value, int]]:
    if depth < DEPTH:
        yield from ((f"{name}[{index}]", item, depth + 1) for index, item in enumerate(items[:ITEMS]))


def _quoted(key: object) -> str:
    return f'"{key}"' if isinstance(key, str) else repr(key)
