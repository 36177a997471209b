"""Modules and optimizers as the engine sees them: tables of parameters."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, DictObj, Instance, ListObj, Tensor
from analyzers.domain.values import NONE, Const, Func, Ref, Unknown, Value
from analyzers.machine.core.havoc import is_lent
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import set_to_constants
from analyzers.machine.core.ports import PORTS


def is_module(m: Machine, value: Value) -> bool:
    found = m.obj(value)
    return isinstance(found, Instance) and isinstance(found.cls, int) and "_modules" in found.attrs


def members(m: Machine, module: Value, table: str) -> list[tuple[str, Value]]:
    """The parameters, buffers or submodules of a module, recursively, each once, by dotted name."""
    out: list[tuple[str, Value]] = []
    seen: set[Value] = set()
    visited: set[int] = set()
    left = [(module, "")]
    while left:
        value, prefix = left.pop()
        found = m.obj(value)
        if not isinstance(value, Ref) or value.id in visited or not isinstance(found, Instance):
            continue
        visited.add(value.id)
        if table == "_modules":
            out.append((prefix.rstrip("."), value))
        else:
            own = m.obj(found.attrs[table]) if table in found.attrs else None
            if isinstance(own, DictObj):
                for key in own.order:
                    item = own.items[key]
                    if item != NONE and item not in seen and isinstance(key, Const):
                        seen.add(item)
                        out.append((f"{prefix}{key.value}", item))
        children = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
        if isinstance(children, DictObj):
            named = [(children.items[key], f"{prefix}{key.value}.") for key in children.order if isinstance(key, Const)]
            left += reversed(named)
    return out


def unseen(m: Machine, module: Value) -> Unknown | None:
    """What stands for the members of a module that nobody knows, if it may have any."""
    is_open = was_away = False
    held: list[Value] = []
    for _, value in members(m, module, "_modules"):
        found = m.obj(value)
        assert isinstance(found, Instance)
        for table in ("_modules", "_parameters"):
            own = m.obj(found.attrs[table]) if table in found.attrs else None
            if not isinstance(own, DictObj):
                is_open = True
                continue
            held += [v for key, v in own.entries if isinstance(v, Unknown) or not isinstance(key, Const)]
            held += [] if own.rest is None else [own.rest]
        own_class = m.st.get(found.cls) if isinstance(found.cls, int) else None
        is_open = is_open or not getattr(own_class, "known", False)
        was_away = was_away or found.open or (isinstance(value, Ref) and is_lent(m, value.id))
    # Of a module without parameters that unknown code has had, it may have made one with some.
    is_open = is_open or (was_away and not members(m, module, "_parameters"))
    if held or is_open or not members(m, module, "_modules"):
        return Unknown(None, None, None, reach_of(*held))
    return None


def unseen_attributes(m: Machine, module: Value) -> Unknown | None:
    """What stands for the members of attributes, of a module or a submodule, that may be unknown modules."""
    modules = [m.obj(value) for _, value in members(m, module, "_modules")]
    held: list[Value] = []
    for found in modules:
        assert isinstance(found, Instance)
        perhaps = {name: value for name, value in found.attrs.items() if _may_be_module(m, value)}
        if m.st.is_library(found):
            perhaps = {name: value for name, value in perhaps.items() if name in _KEPT_MODULES}
        settings = _settings_of(m, found) if perhaps else set()
        held += [value for name, value in perhaps.items() if name not in settings]
    return Unknown(None, None, None, reach_of(*held)) if held else None


_KEPT_MODULES = frozenset({"activation", "decoder", "distance_function", "encoder", "init", "module", "norm"})
"""The arguments that modules of the library keep and that may be modules; the others are numbers, names and flags."""


def _settings_of(m: Machine, found: Instance) -> set[str]:
    """The attributes that constructors of the library set to constants: they hold no module of the program's."""
    own = m.st.find(found.cls) if isinstance(found.cls, int) else None
    ancestors = [m.st.find(cls) for cls in own.ancestry if isinstance(cls, int)] if isinstance(own, ClassObj) else []
    names = {"_hooked", "training"}  # of `nn.Module` itself
    for cls in ancestors:
        made = cls.attrs.get("__init__") if isinstance(cls, ClassObj) and cls.module.startswith("<") else None
        if isinstance(made, Func):
            names |= set_to_constants(m, made)
    return names


def _may_be_module(m: Machine, value: Value) -> bool:
    """Whether nobody knows what a value is, of what its class is made, or what unknown code has made of it."""
    if isinstance(value, Unknown):
        return value.type is None
    found = m.obj(value)
    if not isinstance(found, Instance) or is_module(m, value):
        return False
    cls = m.st.find(found.cls) if isinstance(found.cls, int) else None
    return found.open or (isinstance(cls, ClassObj) and not cls.known)


def parameters_of(m: Machine, optimizer: Value, *, perhaps: bool = False) -> list[int]:
    """The tensors in an optimizer's parameter groups; with `perhaps`, also those that may be in one."""
    items = [item for params in _groups(m, optimizer) for item in _held(m, params, perhaps=perhaps)]
    tensors = (PORTS.likely.stand_in(m, item) or item for item in items)
    return [p.id for p in tensors if isinstance(p, Ref) and isinstance(m.obj(p), Tensor)]


def _held(m: Machine, params: ListObj, *, perhaps: bool) -> list[Value]:
    """What a group holds. Where values are presumed there are some of what stands for any number of tensors."""
    if not m.config.presumes:
        return list(params.items)
    items = params.items if params.rest is None else (*params.items, params.rest)
    return [one for item in items for one in (_perhaps(m, item) if perhaps else (item,))]


def _perhaps(m: Machine, item: Value) -> list[Value]:
    """The parameters of which something unknown may be any."""
    found = [m.st.find(ident) for ident in item.reach] if isinstance(item, Unknown) and item.type is None else []
    if found and isinstance(item, Unknown) and all(isinstance(one, Tensor) and one.parameter for one in found):
        return [Ref(ident) for ident in item.reach]
    return [item]


def all_known(m: Machine, optimizer: Value, *, perhaps: bool = False) -> bool:
    """Whether an optimizer's parameter groups contain only known tensors; with `perhaps`, or any of some."""
    found = m.obj(optimizer)
    groups = m.obj(found.attrs.get("param_groups", NONE)) if isinstance(found, Instance) else None
    if not isinstance(groups, ListObj) or groups.rest is not None:
        return False
    lists = _groups(m, optimizer)
    return len(lists) == len(groups.items) and all(
        (params.rest is None or m.config.presumes)
        and all(isinstance(m.obj(p), Tensor) for p in _held(m, params, perhaps=perhaps))
        for params in lists
    )


def _groups(m: Machine, optimizer: Value) -> list[ListObj]:
    found = m.obj(optimizer)
    if not isinstance(found, Instance) or "param_groups" not in found.attrs:
        return []
    groups = m.obj(found.attrs["param_groups"])
    out: list[ListObj] = []
    for group in groups.items if isinstance(groups, ListObj) else ():
        entries = m.obj(group)
        params = m.obj(entries.items.get(Const("params"), NONE)) if isinstance(entries, DictObj) else None
        if isinstance(params, ListObj):
            out.append(params)
    return out


def weights(m: Machine, model: Value) -> list[int]:
    found = m.obj(model)
    table = m.obj(found.attrs["_parameters"]) if isinstance(found, Instance) and "_parameters" in found.attrs else None
    return [v.id for v in getattr(table, "items", {}).values() if isinstance(v, Ref) and m.tensor(v) is not None]
