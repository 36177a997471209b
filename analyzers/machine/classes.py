"""Function and class definitions: what `def` and `class` bind, and what decorators make of it."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from analyzers.domain.objects import ClassObj, Env, Instance
from analyzers.domain.values import (
    NONE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    GradMode,
    Partial,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.contexts import mode_of
from analyzers.machine.core import Machine
from analyzers.machine.expressions import evaluate
from analyzers.machine.targets import store_name
from analyzers.syntax import nodes as n

TRANSPARENT = frozenset(
    {
        "functools.wraps", "functools.cache", "functools.lru_cache", "functools.cached_property", "torch.jit.script",
        "torch.jit.export", "torch.jit.ignore", "torch.jit.unused", "torch.compile", "abc.abstractmethod",
        "typing.overload", "typing.no_type_check", "typing.final", "typing.override", "typing_extensions.override",
        "typing.runtime_checkable", "functools.singledispatch", "torch.amp.custom_fwd", "torch.amp.custom_bwd",
        "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd", "atexit.register", "pytest.fixture",
        "pytest.mark.parametrize", "functools.total_ordering", "enum.unique", "torch._dynamo.disable",
        "torch.compiler.disable", "torch.no_type_check", "torch.jit.script_if_tracing", "typing.dataclass_transform",
    }
)  # fmt: skip
"""Decorators that leave what the function does with tensors as it is."""

DECORATED_MODES = {
    "torch.no_grad": GradMode(grad=False),
    "torch.enable_grad": GradMode(grad=True),
    "torch.inference_mode": GradMode(grad=False, inference=True),
}


def closure(m: Machine, node: n.FunctionHead | n.Lambda, name: str) -> Func:
    frame = m.frame
    defaults = tuple(
        (arg.name, evaluate(m, arg.default))
        for arg in (*node.args.posonly, *node.args.args, *node.args.kwonly)
        if arg.default is not None
    )
    env = frame.env
    owner = None
    if "__qualname__" in m.env(env).vars and m.env(env).vars.get("__class_body__") is not None:
        # A method is closed over what surrounds the class, not over the class's own names.
        owner_value = m.env(env).vars["__class_body__"]
        owner = owner_value.value if isinstance(owner_value, Const) and isinstance(owner_value.value, int) else None
        env = m.env(env).parent or env
    prefix = frame.qualname
    if frame.func is not None and owner is None:
        prefix += ".<locals>"
    qualname = name if prefix in {"", "<module>"} else f"{prefix}.{name}"
    return Func(node, frame.module, frame.chunk, qualname, env, defaults, owner)


def define_function(m: Machine, s: n.FunctionHead) -> None:
    func: Value = closure(m, s, s.name)
    known = func
    for decorator in reversed(s.decorators):
        func = decorate(m, evaluate(m, decorator), func)
        if isinstance(func, Func) and func.node is s:
            known = func
    if m.frame.func is None and not m.frame.library and isinstance(known, Func):
        # The function itself, with what its known decorators make of it: others are looked through.
        m.functions.append(known)
    store_name(m, s.name, func)


def decorate(m: Machine, decorator: Value, func: Value) -> Value:
    """What `@decorator` makes of `func`."""
    name = decorator.name if isinstance(decorator, Builtin) else None
    found = m.obj(decorator)
    if isinstance(func, Func):
        if name is not None and name in DECORATED_MODES:
            return replace(func, modes=(DECORATED_MODES[name], *func.modes))
        mode = mode_of(m, decorator)
        if mode is not None:
            # `set_grad_enabled(False)` acts when it is made, and is undone once it decorates.
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
        if decorator.name in {"setter", "deleter", "getter"}:
            return decorator.receiver
    if name is not None and name in TRANSPARENT:
        return func
    if isinstance(found, Instance) and found.cls == "transparent":
        return func
    if isinstance(decorator, Unknown):
        return Unknown(None, None, None, decorator.reach)
    if isinstance(decorator, Partial) and isinstance(decorator.func, Builtin) and decorator.func.name in TRANSPARENT:
        return func
    from analyzers.machine.calls import Args, call

    return call(m, decorator, Args([func], {}))


# --- classes ----------------------------------------------------------------------------------------------------


def define_class(m: Machine, s: n.ClassDef) -> None:
    frame = m.frame
    bases = tuple(evaluate(m, b) for b in s.bases)
    keywords = {keyword.arg: evaluate(m, keyword.value) for keyword in s.keywords}
    ident = m.same_on_all_ways(id(s))
    prefix = frame.qualname
    if frame.func is not None and m.env(frame.env).vars.get("__class_body__") is None:
        prefix += ".<locals>"
    qualname = s.name if prefix in {"", "<module>"} else f"{prefix}.{s.name}"
    ancestry, known = linearize(m, ident, bases)
    cls = ClassObj(s.name, qualname, frame.module, bases, ancestry, Map(), known)
    m.st.put(ident, cls)
    body = m.new(
        Env(
            Map({"__qualname__": Const(qualname), "__class_body__": Const(ident)}),
            frame.env,
            frame.module,
        )
    )
    before = (frame.env, frame.qualname, frame.locals)
    frame.env, frame.qualname, frame.locals = body.id, qualname, None
    try:
        _class_body(m, s)
    finally:
        frame.env, frame.qualname, frame.locals = before
    attrs = m.env(body.id).vars
    annotated = attrs.get("__annotations__")
    fields = tuple(
        (str(f.value), attrs.get(str(f.value)), False)
        for f in (annotated.items if isinstance(annotated, Tup) else ())
        if isinstance(f, Const)
    )
    for hidden in ("__class_body__", "__annotations__"):
        if hidden in attrs:
            attrs = attrs.delete(hidden)
    m.st.put(ident, replace(cls, attrs=attrs, fields=fields, kind=_kind(ancestry)))
    value: Value = Ref(ident)
    _tell_base(m, ident, {name: given for name, given in keywords.items() if name is not None and name != "metaclass"})
    for decorator in reversed(s.decorators):
        value = decorate_class(m, evaluate(m, decorator), value)
    store_name(m, s.name, value)


def _tell_base(m: Machine, cls: int, keywords: dict[str, Value]) -> None:
    """A base may want to hear of each class that is made of it."""
    from analyzers.machine.attributes import find_in_class
    from analyzers.machine.calls import Args, call_function

    told = find_in_class(m, cls, "__init_subclass__", after=cls)
    if isinstance(told, Func) and not m.frame.library:
        call_function(m, told, Args([Ref(cls)], keywords))


def _kind(ancestry: tuple[int | str, ...]) -> str:
    if "typing.NamedTuple" in ancestry:
        return "namedtuple"
    if any(a in {"enum.Enum", "enum.IntEnum", "enum.Flag", "enum.StrEnum"} for a in ancestry):
        return "enum"
    return "class"


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
    if name is not None and (name in TRANSPARENT or name in DECORATED_MODES):
        return value
    if isinstance(made, Instance) and made.cls == "transparent":
        return value
    if isinstance(decorator, Unknown):
        return value
    from analyzers.machine.calls import Args, call

    return call(m, decorator, Args([value], {}))


def _class_body(m: Machine, s: n.ClassDef) -> None:
    """A class's body runs at once; where it forks (an `if` on something unknown) its states become one."""
    from analyzers.machine.calls import run_statements

    run_statements(m, s.body)


def linearize(m: Machine, ident: int, bases: tuple[Value, ...]) -> tuple[tuple[int | str, ...], bool]:
    """Python's method resolution order (C3); the second result is False when a base is not known."""
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


__all__ = ["NONE", "closure", "decorate", "define_class", "define_function", "linearize"]
