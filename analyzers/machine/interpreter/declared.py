"""What annotations say of values that nobody knows."""

from __future__ import annotations

from analyzers.domain.values import Builtin, Func, Unknown, Value
from analyzers.machine.core.library_names import outside_name
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import DECLARED
from analyzers.machine.objects.attributes import get_attribute
from analyzers.syntax import nodes as n
from analyzers.syntax.expression_nodes import Arg


def declare_parameters(m: Machine, func: Func, env: int) -> None:
    """Take parameters for what their annotations say, where the arguments are unknown."""
    parameters = func.node.args
    for parameter in (*parameters.posonly, *parameters.args, *parameters.kwonly):
        if parameter.annotation is None or _may_be_none(parameter):
            continue
        value = m.env(env).vars.get(parameter.name)
        if isinstance(value, Unknown):
            known = declared(m, value, _class_named(m, parameter.annotation, func.env))
            if known is not value:
                m.bind(env, parameter.name, known)


def annotated(m: Machine, value: Value, annotation: n.Expr) -> Value:
    """The value of `name: annotation = value`."""
    if not isinstance(value, Unknown):
        return value
    return declared(m, value, _class_named(m, annotation, m.frame.env))


def declared(m: Machine, value: Unknown, cls: Value | None) -> Value:
    """An unknown value that the program says is an instance of a class."""
    entry = DECLARED.get(cls.name) if isinstance(cls, Builtin) else None
    known = entry(m, value) if entry is not None else None
    return value if known is None else known


def _may_be_none(parameter: Arg) -> bool:
    """`x: Tensor = None` is the old way to write that it may be None."""
    return isinstance(parameter.default, n.Constant) and parameter.default.value is None


def _class_named(m: Machine, annotation: n.Expr, env: int | None) -> Value | None:
    match annotation:
        case n.Name(id=name):
            return _looked_up(m, name, env)
        case n.Constant(value=str(text)) if all(part.isidentifier() for part in text.split(".")):
            first, *rest = text.split(".")
            found = _looked_up(m, first, env)
            for attr in rest:
                found = None if found is None else get_attribute(m, found, attr)
            return found
        case n.Attribute(value=owner, attr=attr):
            found = _class_named(m, owner, env)
            return None if found is None else get_attribute(m, found, attr)
        case n.Subscript(value=generic, index=n.TupleExpr(elts=(marked, *_))) if _is_marked(m, generic, env):
            return _class_named(m, marked, env)
    return None


def _is_marked(m: Machine, generic: n.Expr, env: int | None) -> bool:
    """Whether what stands in the brackets first is the type, and what follows says more of it."""
    found = _class_named(m, generic, env)
    name = "" if found is None else outside_name(found) or ""
    return name in {"typing.Annotated", "typing_extensions.Annotated"} or name.startswith("jaxtyping.")


def _looked_up(m: Machine, name: str, env: int | None) -> Value | None:
    while env is not None:
        found = m.variables(env, name)
        if name in found.vars:
            return found.vars[name]
        env = found.parent
    return None
