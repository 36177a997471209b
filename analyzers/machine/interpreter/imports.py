"""Import statements: workspace modules, modules that the prelude models, and all others."""

from __future__ import annotations

import sys
from itertools import accumulate

from analyzers.domain.objects import Env, ListObj, ModuleObj, by_name
from analyzers.domain.values import Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.library_names import outside, star_import
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import MODELLED
from analyzers.machine.interpreter.dispatch import runs
from analyzers.machine.interpreter.linking import deferred, import_path, member, package_without_file
from analyzers.machine.interpreter.targets import store_name
from analyzers.syntax import nodes as n


@runs(n.Import)
def run_import(m: Machine, s: n.Import) -> None:
    for alias in s.names:
        path = m.config.program.find_import(m.frame.module, alias.name, 0)
        top = alias.name.split(".", 1)[0]
        if path is None:
            _check_installed(m, top)
            name = alias.name if alias.asname is not None else top
            store_name(m, alias.asname or top, outside(m, name))
            continue
        value: Value = import_path(m, path) or deferred(path)
        if alias.asname is None and top != alias.name:
            value = _outermost(m, path, alias.name)
        store_name(m, alias.asname or top, value)


def _check_installed(m: Machine, top: str) -> None:
    """Inside a `try` with handlers, a package may well be missing; elsewhere the program relies on it."""
    if top in MODELLED or top in sys.stdlib_module_names or not any(frame.handlers for frame in m.extent.frames):
        return
    if not m.frame.library and m.config.program.outside_kind(top) == "missing":
        raise PyRaise("ModuleNotFoundError", f"No module named '{top}'")


def _outermost(m: Machine, path: str, name: str) -> Value:
    """What `import a.b.c` binds: `a`. A folder on the way without an `__init__` is a package too."""
    outermost: Value = Unknown()
    folder = path.removesuffix("/__init__.py").removesuffix(".py")
    for prefix in reversed(list(accumulate(name.split("."), "{}.{}".format))[:-1]):
        folder = folder.rpartition("/")[0]
        init = m.config.program.find_import(m.frame.module, prefix, 0)
        if init is None:
            outermost = package_without_file(m, f"{folder}/__init__.py")
        else:
            outermost = import_path(m, init) or deferred(init)
    return outermost


@runs(n.ImportFrom)
def run_import_from(m: Machine, s: n.ImportFrom) -> None:
    name = s.module or ""
    path = m.config.program.find_import(m.frame.module, name, s.level)
    source = import_path(m, path) if path is not None else None
    if path is None and not s.level:
        _check_installed(m, name.split(".", 1)[0])
    for alias in s.names:
        if alias.name == "*":
            _import_star(m, name, path, source)
            continue
        value = _imported(m, s, alias.name, source)
        if value is None:
            value = deferred(path, alias.name) if path is not None and source is None else Unknown()
        store_name(m, alias.asname or alias.name, value)


def _imported(m: Machine, s: n.ImportFrom, symbol: str, source: Ref | None) -> Value | None:
    """What a `from` import finds: a name of the module, one of its submodules, or something outside the workspace."""
    value = member(m, source, symbol) if source is not None else None
    if value is not None:
        return value
    dotted = f"{s.module}.{symbol}" if s.module else symbol
    inner = m.config.program.find_import(m.frame.module, dotted, s.level)
    if inner is not None:
        return import_path(m, inner) or deferred(inner)
    return outside(m, dotted) if source is None and not s.level and not _is_ours(m, s) else None


def _is_ours(m: Machine, s: n.ImportFrom) -> bool:
    return m.config.program.find_import(m.frame.module, s.module or "", s.level) is not None


def _import_star(m: Machine, name: str, path: str | None, source: Ref | None) -> None:
    found = m.obj(source) if source is not None else None
    if source is None or not isinstance(found, ModuleObj):
        for dotted, symbol in star_import(name) if path is None else ():
            store_name(m, symbol, outside(m, dotted))
        _mark_open(m)
        return
    env = m.env(found.env)
    said = _public_names(m, env.vars.get("__all__"))
    for symbol in said if said is not None else [key for key, _ in by_name(env.vars) if not key.startswith("_")]:
        value = member(m, source, symbol)
        if value is None:
            inner = m.config.program.find_import(found.path, symbol, 1)
            value = (import_path(m, inner) or deferred(inner)) if inner is not None else Unknown()
        store_name(m, symbol, value)
    if env.open or (said is None and "__all__" in env.vars):
        _mark_open(m)


def _public_names(m: Machine, value: Value | None) -> list[str] | None:
    """The names in `__all__`, if all of them are known."""
    found = m.obj(value) if value is not None else None
    items = value.items if isinstance(value, Tup) else found.items if isinstance(found, ListObj) else ()
    names = [item.value for item in items if isinstance(item, Const) and isinstance(item.value, str)]
    whole = len(names) == len(items) and getattr(found, "rest", None) is None
    return names if whole and items else None


def _mark_open(m: Machine) -> None:
    env = m.env(m.frame.env)
    m.st.put(m.frame.env, Env(env.vars, env.parent, env.module, True))
