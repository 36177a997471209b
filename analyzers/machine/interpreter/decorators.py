"""The effects of decorators on functions and classes."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import ClassObj, Instance
from analyzers.domain.values import BoundBuiltin, Builtin, Const, Func, Partial, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, MODES, TRANSPARENT, ClassModel, mode_of
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.closures import give_away

TRANSPARENT.update({
    "functools.wraps", "functools.cache", "functools.lru_cache", "functools.cached_property", "abc.abstractmethod",
    "typing.overload", "typing.no_type_check", "typing.final", "typing.override", "typing_extensions.override",
    "typing.runtime_checkable", "functools.singledispatch", "atexit.register", "functools.total_ordering",
    "enum.unique", "typing.dataclass_transform",
})  # fmt: skip


def decorate(m: Machine, decorator: Value, func: Value) -> Value:
    """The result of decorating `func`."""
    name = decorator.name if isinstance(decorator, Builtin) else None
    found = m.obj(decorator)
    if isinstance(func, Func):
        if name is not None and name in MODES:
            return replace(func, modes=(MODES[name], *func.modes))
        mode = mode_of(m, decorator)
        if mode is not None:
            # `set_grad_enabled(False)` takes effect when created, and is undone when it decorates a function.
            previous = found.attrs.get("previous") if isinstance(found, Instance) else None
            if isinstance(previous, Tup):
                first = previous.items[0]
                m.st.grad = bool(first.value) if isinstance(first, Const) else None
            return replace(func, modes=(mode, *func.modes))
        if name == "builtins.property":
            return replace(func, kind="property")
        if name == "functools.cached_property":
            return replace(func, kind="cached_property")
        if name == "builtins.staticmethod":
            return replace(func, kind="static")
        if name == "builtins.classmethod":
            return replace(func, kind="classmethod")
        if name in {"contextlib.contextmanager", "contextlib.asynccontextmanager"}:
            return replace(func, kind="context")
    if mode_of(m, decorator) is not None:
        return func
    if isinstance(decorator, BoundBuiltin) and isinstance(decorator.receiver, Func):
        made = decorator.receiver
        if decorator.name == "setter" and isinstance(func, Func):
            return replace(made, setter=func)
        if decorator.name == "getter" and isinstance(func, Func):
            return replace(func, kind="property", setter=made.setter)
        if decorator.name in {"setter", "deleter", "getter"}:
            return made
    if name is not None and name in TRANSPARENT:
        return func
    if isinstance(found, Instance) and found.cls == "transparent":
        return func
    if isinstance(decorator, Unknown):
        if isinstance(func, Func):
            give_away(m, func)
        return Unknown(None, None, None, decorator.reach)
    if isinstance(decorator, Partial) and isinstance(decorator.func, Builtin) and decorator.func.name in TRANSPARENT:
        return func
    return call(m, decorator, Args([func], {}))


def decorate_class(m: Machine, decorator: Value, value: Value) -> Value:
    found = m.obj(value)
    inner = decorator.func if isinstance(decorator, Partial) else decorator
    name = inner.name if isinstance(inner, Builtin) else None
    made = m.obj(decorator)
    if isinstance(made, Instance) and made.cls == "dataclasses.dataclass":
        name = "dataclasses.dataclass"
    if name == "dataclasses.dataclass" and isinstance(found, ClassObj) and isinstance(value, Ref):
        inherited: dict[str, tuple[str, Value | None, bool]] = {}
        for ancestor in reversed(found.ancestry):
            base = m.st.get(ancestor) if isinstance(ancestor, int) else None
            if isinstance(base, ClassObj) and (base.kind == "dataclass" or ancestor == value.id):
                for field in base.fields:
                    inherited[field[0]] = field
        m.st.put(value.id, replace(found, kind="dataclass", fields=tuple(inherited.values())))
        return value
    if name is not None and (name in TRANSPARENT or name in MODES):
        return value
    if isinstance(made, Instance) and made.cls == "transparent":
        return value
    if isinstance(decorator, Unknown):
        return value
    return call(m, decorator, Args([value], {}))


class Transparent(ClassModel):
    """A decorator with arguments, already called, that does not change what a function does with tensors."""

    def call(self, m: Machine, owner: Ref, found: Instance, args: Args) -> Value | None:
        return decorate(m, owner, args.get(0, "func"))


enter(CLASSES, "transparent", Transparent())
