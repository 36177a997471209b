"""Builtins that inspect objects: `isinstance`, `getattr`, `super`, `type`."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import (
    ClassObj,
    DictObj,
    Generator,
    Instance,
    Iterator,
    ListObj,
    ModuleObj,
    SetObj,
    Tensor,
)
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Native,
    Partial,
    Ref,
    SliceValue,
    SuperValue,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import note_part
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import ANSWERS
from analyzers.machine.interpreter.decorators import decorate
from analyzers.machine.interpreter.generators import advance
from analyzers.machine.interpreter.linking import member
from analyzers.machine.libraries.python.builtin_functions import builtin, stream
from analyzers.machine.libraries.torch.function_context import has
from analyzers.machine.libraries.torch.tensor_attributes import surely_has
from analyzers.machine.objects.attributes import call_method, get_attribute, set_attribute
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.construction import made_new
from analyzers.machine.objects.havoc import store_perhaps
from analyzers.machine.objects.instances import delete_attribute
from analyzers.machine.objects.type_tests import is_instance
from analyzers.maps import Map
from analyzers.ops.resolve import python_names
from analyzers.ops.table import RELEASE


@builtin("delattr")
def _delattr(m: Machine, args: Args) -> Value:
    name = args.get(1, "name")
    if isinstance(name, Const) and isinstance(name.value, str):
        delete_attribute(m, args.get(0, "obj"), name.value)
    return NONE


@builtin("iter")
def _iter(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    found = m.obj(value)
    if isinstance(found, Iterator | Generator):
        return value
    source = stream(m, value)
    return m.new(Iterator(value if source.fresh else NONE, 0, source.items if not source.fresh else None, source.rest))


@builtin("next", "anext")
def _next(m: Machine, args: Args) -> Value:
    value = args.get(0, "iterator")
    default = args.pos[1] if len(args.pos) > 1 else None
    if isinstance(value, Ref):
        found = m.obj(value)
        if isinstance(found, Instance):
            return call_method(m, value, "__next__", Args())
        return advance(m, value, default)
    return Unknown(None, None, None, reach_of(value))


@builtin("type")
def _type(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    found = m.obj(value)
    if isinstance(found, Instance):
        return Ref(found.cls) if isinstance(found.cls, int) else Builtin(found.cls)
    if isinstance(found, Tensor) and not found.presumed:
        return Builtin("torch.nn.Parameter" if found.parameter else "torch.Tensor")
    if isinstance(value, Const):
        return Builtin("builtins." + type(value.value).__name__)
    if isinstance(found, ListObj):
        return Builtin("builtins.list")
    if isinstance(found, DictObj):
        return Builtin("builtins.dict")
    if isinstance(value, Tup):
        return Builtin("builtins.tuple")
    return Unknown()


@builtin("super")
def _super(m: Machine, args: Args) -> Value:
    if len(args.pos) >= 2 and isinstance(args.pos[0], Ref):
        return SuperValue(args.pos[0].id, args.pos[1])
    for frame in reversed(m.extent.frames):
        func = frame.func
        if func is not None and func.owner is not None:
            parameters = (*func.node.args.posonly, *func.node.args.args)
            if parameters:
                receiver = m.env(frame.env).vars.get(parameters[0].name)
                if receiver is not None:
                    return SuperValue(func.owner, receiver)
    return Unknown()


@builtin("isinstance")
def _isinstance(m: Machine, args: Args) -> Value:
    value, cls = args.get(0, "obj"), args.get(1, "cls")
    verdict = is_instance(m, value, cls)
    if verdict is None:
        symbol = None
        if isinstance(value, Unknown) and value.symbol is not None and isinstance(cls, Builtin | Ref):
            symbol = ("isinstance", value.symbol, cls)
        return Unknown("bool", symbol)
    return Const(verdict)


@builtin("issubclass")
def _issubclass(m: Machine, args: Args) -> Value:
    a, b = args.get(0, "cls"), args.get(1, "of")
    found = m.obj(a)
    if isinstance(found, ClassObj) and isinstance(b, Ref):
        return Const(b.id in found.ancestry) if found.known else Unknown("bool")
    return Unknown("bool")


_PLAIN: dict[str | None, type] = {kind.__name__: kind for kind in (bool, int, float, complex, str, bytes)}


@builtin("hasattr")
def _hasattr(m: Machine, args: Args) -> Value:
    value, name = args.get(0, "obj"), args.get(1, "name")
    found = m.obj(value)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown("bool")
    if isinstance(found, Instance) and found.cls == "torch.autograd.FunctionCtx":
        known = has(found, name.value)
        return Unknown("bool") if known is None else Const(known)
    if isinstance(found, Instance):
        if name.value in found.attrs or find_in_class(m, found.cls, name.value) is not None:
            return TRUE
        for table in ("_parameters", "_buffers", "_modules"):
            registered = m.obj(found.attrs[table]) if table in found.attrs else None
            if isinstance(registered, DictObj) and name in registered.items:
                return TRUE
        own = m.st.get(found.cls) if isinstance(found.cls, int) else None
        if found.open or not isinstance(own, ClassObj) or not own.known:
            return Unknown("bool")
        getter = find_in_class(m, found.cls, "__getattr__")
        return FALSE if getter is None else Unknown("bool")
    if isinstance(found, ListObj | DictObj | SetObj):
        kind = {ListObj: list, DictObj: dict, SetObj: set}[type(found)]
        return Const(hasattr(kind, name.value))
    if isinstance(found, ModuleObj) and isinstance(value, Ref):
        known = member(m, value, name.value) is not None
        return TRUE if known else Unknown("bool") if m.env(found.env).open else FALSE
    if isinstance(value, Builtin):
        return TRUE if _surely_exists(m, f"{value.name}.{name.value}") else Unknown("bool")
    if isinstance(value, Const):
        return Const(hasattr(value.value, name.value))
    if isinstance(value, Unknown) and value.type in _PLAIN:
        return Const(hasattr(_PLAIN[value.type], name.value))
    if isinstance(found, Tensor):
        return TRUE if surely_has(found, name.value) else Unknown("bool")
    return Unknown("bool")


def _surely_exists(m: Machine, dotted: str) -> bool:
    """Whether this is a name of the torch that the tables are of, and no older one runs the program."""
    release = m.config.program.torch_release()
    if not dotted.startswith("torch.") or (release is not None and release < RELEASE):
        return False
    return dotted in ANSWERS or dotted in python_names() or m.config.program.library(dotted) is not None


@builtin("getattr")
def _getattr(m: Machine, args: Args) -> Value:
    value, name = args.get(0, "obj"), args.get(1, "name")
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown(None, None, None, reach_of(value, *args.pos[2:]))
    if len(args.pos) > 2:
        known = _hasattr(m, Args([value, name]))
        if known == FALSE:
            return args.pos[2]
        if known != TRUE:
            return Unknown(
                None,
                (value.symbol, name.value) if isinstance(value, Unknown) else None,
                None,
                reach_of(value, args.pos[2]),
            )
    return get_attribute(m, value, name.value)


@builtin("setattr")
def _setattr(m: Machine, args: Args) -> Value:
    value, name = args.get(0, "obj"), args.get(1, "name")
    if isinstance(name, Const) and isinstance(name.value, str):
        set_attribute(m, value, name.value, args.get(2, "value"))
    else:
        havoc_value(m, value)
        store_perhaps(m, value, None, args.get(2, "value"))
        if isinstance(value, Unknown):
            note_part(m, value, args.get(2, "value"))
    return NONE


@builtin("object.__setattr__", "type.__setattr__")
def _set_beneath(m: Machine, args: Args) -> Value:
    """Sets an attribute and asks nobody: neither the class' own `__setattr__` nor the tables of a module."""
    value, name = args.get(0, "obj"), args.get(1, "name")
    found = m.obj(value)
    if isinstance(found, Instance) and isinstance(value, Ref) and isinstance(name, Const):
        attrs = found.attrs.set(str(name.value), args.get(2, "value"))
        m.st.put(value.id, Instance(found.cls, attrs, found.open))
    else:
        havoc_value(m, value)
    return NONE


@builtin("object.__new__")
def _new(m: Machine, args: Args) -> Value:
    return made_new(m, args)


@builtin("callable")
def _callable(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    if isinstance(value, Func | Method | Builtin | BoundBuiltin | Partial | Native):
        return TRUE
    if isinstance(value, Const | Tup):
        return FALSE
    return Unknown("bool")


@builtin("slice")
def _slice(m: Machine, args: Args) -> Value:
    parts = list(args.pos)
    if len(parts) == 1:
        return SliceValue(NONE, parts[0], NONE)
    return SliceValue(args.get(0, "a"), args.get(1, "b"), args.get(2, "c"))


@builtin("property", "staticmethod", "classmethod")
def _descriptors(m: Machine, args: Args) -> Value:
    value = args.get(0, "fget")
    if not isinstance(value, Func):
        return value
    made, setter = decorate(m, Builtin(args.called), value), args.get(1, "fset")
    return replace(made, setter=setter) if isinstance(made, Func) and isinstance(setter, Func) else made


@builtin("object")
def _object(m: Machine, args: Args) -> Value:
    return m.new(Instance("builtins.object", Map()))
