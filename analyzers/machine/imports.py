"""Import statements: modules of the workspace, the library that the prelude models, and everything else."""

from __future__ import annotations

import sys
from itertools import accumulate

from analyzers.domain.objects import Env, ListObj, ModuleObj, by_name
from analyzers.domain.values import Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.calls import Args, call
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.linking import attach, import_path, late, member, package_without_file
from analyzers.machine.targets import store_name
from analyzers.syntax import nodes as n

MODELLED = frozenset(
    {
        "torch", "numpy", "math", "random", "copy", "functools", "itertools", "operator", "collections", "contextlib",
        "dataclasses", "typing", "abc", "enum", "time", "os", "sys", "json", "logging", "warnings", "pathlib", "re",
        "argparse", "pytest", "unittest", "types", "string", "datetime", "pickle", "glob", "shutil", "tqdm",
        "matplotlib", "builtins", "autograd_machine", "__future__", "statistics", "inspect", "gc", "threading",
        "multiprocessing", "subprocess", "tempfile", "hashlib", "csv", "uuid", "heapq", "bisect", "textwrap", "pprint",
        "traceback", "signal", "queue", "weakref", "io", "struct", "socket", "yaml", "typing_extensions", "numbers",
        "fractions", "decimal", "secrets", "platform", "importlib", "IPython", "lightning", "pytorch_lightning",
        "accelerate", "transformers",
    }
)  # fmt: skip
"""Top-level modules that change nothing of the program's tensors except where the machine says how."""


def library_value(m: Machine, place: tuple[str, str]) -> Value:
    """The value of a prelude symbol: `place` is its prelude module and name."""
    path, symbol = place
    if m.st.modules.get(path) is None:
        run = m.program.run_module(path, None)
        if run is None:
            return Unknown()
        attach(m, run)
        m.st.modules = m.st.modules.set(path, run.env)
    env = m.st.get(m.st.modules[path])
    assert isinstance(env, Env)
    return env.vars.get(symbol, Unknown())


def library_call(m: Machine, dotted: str, args: Args) -> Value:
    """Call a function or class of the prelude."""
    place = m.program.library(dotted)
    return Unknown() if place is None else call(m, library_value(m, place), args)


def outside(m: Machine, dotted: str) -> Value:
    """A name outside the workspace: modelled, or unknown."""
    from analyzers.machine.library import CONSTANTS, is_native

    place = m.program.library(dotted) if not is_native(dotted) else None
    if place is not None:
        return library_value(m, place)
    if dotted.split(".", 1)[0] in MODELLED:
        constant = CONSTANTS.get(dotted)
        return constant if constant is not None else Builtin(dotted)
    return Unknown(symbol=("import", dotted))


def run_import(m: Machine, s: n.Import) -> None:
    for alias in s.names:
        path = m.program.find_import(m.frame.module, alias.name, 0)
        top = alias.name.split(".", 1)[0]
        if path is None:
            _check_installed(m, top)
            name = alias.name if alias.asname is not None else top
            store_name(m, alias.asname or top, outside(m, name))
            continue
        value: Value = import_path(m, path) or late(path)
        if alias.asname is None and top != alias.name:
            value = _outermost(m, path, alias.name)
        store_name(m, alias.asname or top, value)


def _check_installed(m: Machine, top: str) -> None:
    """Where a handler waits, a package may well be missing; elsewhere the program counts on it."""
    if top in MODELLED or top in sys.stdlib_module_names or not any(frame.handlers for frame in m.frames):
        return
    if not m.frame.library and m.program.outside_kind(top) == "missing":
        raise PyRaise("ModuleNotFoundError", f"No module named '{top}'")


def _outermost(m: Machine, path: str, name: str) -> Value:
    """What `import a.b.c` binds: `a`. A folder on the way that has no `__init__` is a package too."""
    outermost: Value = Unknown()
    folder = path.removesuffix("/__init__.py").removesuffix(".py")
    for prefix in reversed(list(accumulate(name.split("."), "{}.{}".format))[:-1]):
        folder = folder.rpartition("/")[0]
        init = m.program.find_import(m.frame.module, prefix, 0)
        if init is None:
            outermost = package_without_file(m, f"{folder}/__init__.py")
        else:
            outermost = import_path(m, init) or late(init)
    return outermost


def run_import_from(m: Machine, s: n.ImportFrom) -> None:
    name = s.module or ""
    path = m.program.find_import(m.frame.module, name, s.level)
    source = import_path(m, path) if path is not None else None
    if path is None and not s.level:
        _check_installed(m, name.split(".", 1)[0])
    for alias in s.names:
        if alias.name == "*":
            _import_star(m, name, path, source)
            continue
        value = _imported(m, s, alias.name, source)
        if value is None:
            value = late(path, alias.name) if path is not None and source is None else Unknown()
        store_name(m, alias.asname or alias.name, value)


def _imported(m: Machine, s: n.ImportFrom, symbol: str, source: Ref | None) -> Value | None:
    """What a `from` import finds: a name of the module, one of its modules, or something outside the workspace."""
    value = member(m, source, symbol) if source is not None else None
    if value is not None:
        return value
    dotted = f"{s.module}.{symbol}" if s.module else symbol
    inner = m.program.find_import(m.frame.module, dotted, s.level)
    if inner is not None:
        return import_path(m, inner) or late(inner)
    return outside(m, dotted) if source is None and not s.level and not _is_ours(m, s) else None


def _is_ours(m: Machine, s: n.ImportFrom) -> bool:
    return m.program.find_import(m.frame.module, s.module or "", s.level) is not None


def _import_star(m: Machine, name: str, path: str | None, source: Ref | None) -> None:
    found = m.obj(source) if source is not None else None
    if source is None or not isinstance(found, ModuleObj):
        for dotted, symbol in m_star(name) if path is None else ():
            store_name(m, symbol, outside(m, dotted))
        _mark_open(m)
        return
    env = m.env(found.env)
    said = _public_names(m, env.vars.get("__all__"))
    for symbol in said if said is not None else [key for key, _ in by_name(env.vars) if not key.startswith("_")]:
        value = member(m, source, symbol)
        if value is None:
            inner = m.program.find_import(found.path, symbol, 1)
            value = (import_path(m, inner) or late(inner)) if inner is not None else Unknown()
        store_name(m, symbol, value)
    if env.open or (said is None and "__all__" in env.vars):
        _mark_open(m)


def _public_names(m: Machine, value: Value | None) -> list[str] | None:
    """The names in `__all__`, where all of them are known."""
    found = m.obj(value) if value is not None else None
    items = value.items if isinstance(value, Tup) else found.items if isinstance(found, ListObj) else ()
    names = [item.value for item in items if isinstance(item, Const) and isinstance(item.value, str)]
    whole = len(names) == len(items) and getattr(found, "rest", None) is None
    return names if whole and items else None


def m_star(name: str) -> list[tuple[str, str]]:
    """What a star import of a modelled module binds, where that is known."""
    from analyzers.machine.library import STAR

    return [(f"{name}.{symbol}", symbol) for symbol in STAR.get(name, ())]


def _mark_open(m: Machine) -> None:
    env = m.env(m.frame.env)
    m.st.put(m.frame.env, Env(env.vars, env.parent, env.module, True))
