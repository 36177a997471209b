"""Import statements: modules of the workspace, the library that the prelude models, and everything else."""

from __future__ import annotations

from analyzers.domain.objects import Env, ModuleObj
from analyzers.domain.values import Builtin, Ref, Unknown, Value
from analyzers.machine.core import Machine, ModuleRun
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
        "fractions", "decimal", "secrets", "platform", "importlib", "IPython",
    }
)  # fmt: skip
"""Top-level modules that change nothing of the program's tensors except where the machine says how."""


def attach(m: Machine, run: ModuleRun) -> None:
    """Make a finished module's heap readable here."""
    m.st.frozen = {**m.st.frozen, **run.state.frozen, run.block: run.state.heap}
    m.st.modules = m.st.modules.update(run.state.modules)


def import_path(m: Machine, path: str) -> Ref | None:
    """The module object of a workspace module, which runs if it has not yet."""
    known = m.st.modules.get(path)
    if known is not None:
        return Ref(known)
    run = m.program.run_module(path, m.frame.module)
    if run is None:
        return None
    attach(m, run)
    module = m.new(ModuleObj(path, m.program.module_name(path), run.env))
    m.st.modules = m.st.modules.set(path, module.id)
    return module


def library_value(m: Machine, place: tuple[str, str]) -> Value:
    """The value of a prelude symbol: `place` is its prelude module and name."""
    path, symbol = place
    if m.st.modules.get(path) is None:
        run = m.program.run_module(path, m.frame.module)
        if run is None:
            return Unknown()
        attach(m, run)
        m.st.modules = m.st.modules.set(path, run.env)
    env = m.st.get(m.st.modules[path])
    assert isinstance(env, Env)
    return env.vars.get(symbol, Unknown())


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
    module = m.frame.module
    for alias in s.names:
        path = m.program.find_import(module, alias.name, 0)
        top = alias.name.split(".", 1)[0]
        if path is not None:
            value: Value = import_path(m, path) or Unknown()
            if alias.asname is None and top != alias.name:
                first = m.program.find_import(module, top, 0)
                value = (import_path(m, first) if first is not None else None) or Unknown()
            store_name(m, alias.asname or top, value)
        elif alias.asname is not None:
            store_name(m, alias.asname, outside(m, alias.name))
        else:
            store_name(m, top, outside(m, top))


def run_import_from(m: Machine, s: n.ImportFrom) -> None:
    module = m.frame.module
    name = s.module or ""
    path = m.program.find_import(module, name, s.level)
    if path is None:
        for alias in s.names:
            if alias.name == "*":
                _open_star(m, name)
                continue
            inner = m.program.find_import(module, f"{name}.{alias.name}" if name else alias.name, s.level)
            if inner is not None:
                store_name(m, alias.asname or alias.name, import_path(m, inner) or Unknown())
            elif s.level:
                store_name(m, alias.asname or alias.name, Unknown())
            else:
                store_name(m, alias.asname or alias.name, outside(m, f"{name}.{alias.name}"))
        return
    source = import_path(m, path)
    found = m.obj(source) if source is not None else None
    env = m.env(found.env) if isinstance(found, ModuleObj) else None
    for alias in s.names:
        if alias.name == "*":
            if env is None:
                _mark_open(m)
                continue
            for key, value in env.vars.items():
                if not key.startswith("_"):
                    store_name(m, key, value)
            if env.open:
                _mark_open(m)
            continue
        value_: Value | None = env.vars.get(alias.name) if env is not None else None
        if value_ is None:
            inner = m.program.find_import(module, f"{name}.{alias.name}" if name else alias.name, s.level)
            value_ = import_path(m, inner) if inner is not None else None
        store_name(m, alias.asname or alias.name, value_ if value_ is not None else Unknown())


def _open_star(m: Machine, name: str) -> None:
    for dotted, symbol in m_star(name):
        store_name(m, symbol, outside(m, dotted))
    _mark_open(m)


def m_star(name: str) -> list[tuple[str, str]]:
    """What a star import of a modelled module binds, where that is known."""
    from analyzers.machine.library import STAR

    return [(f"{name}.{symbol}", symbol) for symbol in STAR.get(name, ())]


def _mark_open(m: Machine) -> None:
    env = m.env(m.frame.env)
    m.st.put(m.frame.env, Env(env.vars, env.parent, env.module, True))
