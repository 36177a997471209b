"""Namespaces as values: `globals()`, `vars(module)`, `sys.modules[name]`, `import_module(name)`."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.objects import Instance, ModuleObj, by_name
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.library_names import outside
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import BUILTIN_ITEMS, answers
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.linking import deferred, import_path, namespace
from analyzers.machine.interpreter.names import module_env
from analyzers.machine.objects.instances import attributes_handed_out


@answers("builtins.globals")
def _globals(m: Machine, args: Args) -> Value:
    return namespace(m, module_env(m))


@answers("builtins.exec")
def _exec(m: Machine, args: Args) -> Value:
    """Code that nobody sees may do anything to what the variables hold around it. What it binds to them anew is given
    on the command line more often than not, and they are left as they are."""
    del args
    env: int | None = m.frame.env
    while env is not None:
        found = m.env(env)
        for _, value in by_name(found.vars):
            havoc_value(m, value)
        env = found.parent
    return NONE


@answers("builtins.locals")
def _locals(m: Machine, args: Args) -> Value:
    return namespace(m, m.frame.env)


@answers("builtins.vars")
def _vars(m: Machine, args: Args) -> Value:
    if not args.pos:
        return namespace(m, m.frame.env)
    owner = args.pos[0]
    found = m.obj(owner)
    if isinstance(found, ModuleObj):
        return namespace(m, found.env)
    if isinstance(found, Instance) and isinstance(owner, Ref):
        return attributes_handed_out(m, owner, found)
    return Unknown(None, None, None, reach_of(owner))


@answers("importlib.import_module", "builtins.__import__")
def _import_module(m: Machine, args: Args) -> Value:
    name = args.get(0, "name")
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown()
    dotted = name.value.lstrip(".")
    path = m.config.program.find_import(m.frame.module, dotted, len(name.value) - len(dotted))
    if path is None:
        return Unknown() if dotted != name.value else outside(m, dotted)
    return import_path(m, path) or deferred(path)


def module_named(m: Machine, name: Value) -> Value:
    """`sys.modules[name]`."""
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown()
    env = module_env(m)
    if m.env(env).vars.get("__name__") == name:
        return m.new(ModuleObj(m.frame.module, name.value, env))
    path = m.config.program.find_import(m.frame.module, name.value, 0)
    known = m.module(path) if path is not None else None
    return Unknown() if known is None else Ref(known)


enter(BUILTIN_ITEMS, "sys.modules", module_named)
