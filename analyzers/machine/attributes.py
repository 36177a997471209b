"""Attributes: of objects by their classes, of modules by registration, of tensors by torch."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from analyzers.domain.objects import (
    Array,
    ClassObj,
    DictObj,
    HeapObject,
    Instance,
    ListObj,
    ModuleObj,
    Tensor,
    by_name,
)
from analyzers.domain.values import (
    NONE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Native,
    Partial,
    Ref,
    SuperValue,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.events import Plain

PRELUDE = "<prelude>/"


def class_name(m: Machine, cls: int | str) -> str:
    """A class's dotted name; that of a prelude class is the one it models."""
    if isinstance(cls, str):
        return cls
    found = m.st.get(cls)
    if not isinstance(found, ClassObj):
        return "?"
    if found.module.startswith(PRELUDE):
        return found.module[len(PRELUDE) :].rsplit("/", 1)[0] + "." + found.qualname
    return f"{found.module}:{found.qualname}"


def is_a(m: Machine, cls: int | str, dotted: str) -> bool:
    """Whether a class is, or inherits from, the outside class `dotted`."""
    if isinstance(cls, str):
        return cls == dotted
    found = m.st.get(cls)
    return isinstance(found, ClassObj) and any(class_name(m, a) == dotted for a in found.ancestry)


def is_module(m: Machine, value: Value) -> bool:
    found = m.obj(value)
    return isinstance(found, Instance) and isinstance(found.cls, int) and "_modules" in found.attrs


def find_in_class(m: Machine, cls: int | str, name: str, after: int | None = None) -> Value | None:
    """A class attribute by the method resolution order, behind the class `after` where that is given."""
    if isinstance(cls, str):
        return None
    found = m.st.get(cls)
    if not isinstance(found, ClassObj):
        return None
    order = found.ancestry
    if after is not None and after in order:
        order = order[order.index(after) + 1 :]
    for ancestor in order:
        if isinstance(ancestor, int):
            base = m.st.get(ancestor)
            if isinstance(base, ClassObj):
                value = base.attrs.get(name)
                if value is not None:
                    return value
    return None


def bind(m: Machine, value: Value, receiver: Value, cls: Ref | None) -> Value:
    """What looking a class attribute up on an instance gives."""
    if isinstance(value, Func):
        if value.kind == "static":
            return value
        if value.kind == "classmethod":
            return Method(cls if cls is not None else receiver, value)
        if value.kind in {"property", "cached_property"}:
            from analyzers.machine.calls import Args, call_function

            return call_function(m, value, Args([receiver]))
        return Method(receiver, value)
    return value


def get_attribute(m: Machine, owner: Value, name: str) -> Value:
    match owner:
        case Ref():
            return _object_attribute(m, owner, m.st.get(owner.id), name)
        case Builtin(name=dotted):
            return _builtin_attribute(m, dotted, name)
        case Unknown():
            return unknown_attribute(m, owner, name)
        case Tup(items=items, names=names) if name in names:
            return items[names.index(name)]
        case Tup(kind=kind) if kind == "saved_tensors" and not hasattr((), name):
            from analyzers.machine.custom import misused

            misused(m, owner, "AttributeError", f"'tuple' object has no attribute '{name}'")
        case Const(value=value):
            return _constant_attribute(m, owner, value, name)
        case SuperValue(owner=cls, receiver=receiver):
            return _super_attribute(m, cls, receiver, name)
        case Func():
            if name in {"__name__", "__qualname__"}:
                return Const(owner.node_name)
            if name == "__wrapped__":
                return owner
            return BoundBuiltin(owner, name)
        case Method():
            if name == "__self__":
                return owner.receiver
            if name == "__func__":
                return owner.func
            if name in {"__name__", "__qualname__"}:
                return Const(owner.func.node_name)
        case Partial(func=func, args=args) if name in {"func", "args"}:
            return func if name == "func" else Tup(args)
        case BoundBuiltin() | Native():
            return Unknown()
    return BoundBuiltin(owner, name)


def _constant_attribute(m: Machine, owner: Const, value: object, name: str) -> Value:
    if value is None and name not in {"__class__", "__doc__", "__bool__", "__eq__", "__ne__", "__hash__", "__str__"}:
        return none_attribute(m, owner, name)
    if not hasattr(value, name):
        kind = type(value).__name__
        raise m.throw("AttributeError", f"'{kind}' object has no attribute '{name}'", _lost(m, owner))
    if isinstance(value, int | float | complex) and name in {"real", "imag", "numerator", "denominator"}:
        return Const(getattr(value, name))
    return BoundBuiltin(owner, name)


def _lost(m: Machine, owner: Const) -> Plain:
    return Plain("number", m.lineage(owner))


def none_attribute(m: Machine, owner: Const, name: str) -> Value:
    """`None.name`: an AttributeError, which often tells of a gradient that is not there."""
    from analyzers.machine.grads import none_used

    raise none_used(m, owner, "AttributeError", f"'NoneType' object has no attribute '{name}'")


def unknown_attribute(m: Machine, owner: Unknown, name: str) -> Value:
    if owner.type in {"int", "float", "bool", "complex"} and not hasattr(0.0, name) and not hasattr(1, name):
        raise m.throw(
            "AttributeError", f"'{owner.type}' object has no attribute '{name}'", _lost(m, Const(0, owner.lineage))
        )
    if owner.type is None:
        from analyzers.machine.tensor_attributes import TENSOR_ONLY

        if name in TENSOR_ONLY:
            return BoundBuiltin(owner, name)
        if name == "training":
            return Unknown("bool", None if owner.symbol is None else (owner.symbol, name))
    m.doubts += 1
    symbol = (owner.symbol, name) if owner.symbol is not None else None
    if owner.type in {"grad", "tensor"}:
        from analyzers.machine.tensor_attributes import FLAGS, PROPERTIES

        if name in PROPERTIES:
            return Unknown("bool" if name in FLAGS else None, symbol, owner.lineage, owner.reach)
    if owner.type is not None:
        return BoundBuiltin(owner, name)
    return Unknown(None, symbol, owner.lineage, owner.reach)


def _super_attribute(m: Machine, cls: int, receiver: Value, name: str) -> Value:
    found = m.obj(receiver)
    own = receiver if isinstance(found, ClassObj) and isinstance(receiver, Ref) else None
    start: int | str | None = own.id if own is not None else found.cls if isinstance(found, Instance) else None
    value = find_in_class(m, start, name, after=cls) if start is not None else None
    if value is not None:
        holder = own or (Ref(found.cls) if isinstance(found, Instance) and isinstance(found.cls, int) else None)
        if own is not None and isinstance(value, Func) and value.kind == "function":
            return value
        return bind(m, value, receiver, holder)
    if name in {"__init__", "__init_subclass__", "__post_init__", "__setattr__", "__enter__", "__exit__", "__del__"}:
        return BoundBuiltin(receiver, "object." + name)
    base = m.st.get(cls)
    if isinstance(base, ClassObj) and base.known and name.startswith("__"):
        return BoundBuiltin(receiver, "object." + name)
    return Unknown(None, None, None, (receiver.id,) if isinstance(receiver, Ref) else ())


def _builtin_attribute(m: Machine, dotted: str, name: str) -> Value:
    from analyzers.machine.imports import outside

    if name == "__name__":
        return Const(dotted.rsplit(".", 1)[-1])
    return outside(m, f"{dotted}.{name}")


def _object_attribute(m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
    match found:
        case Tensor():
            from analyzers.machine.tensor_attributes import tensor_attribute

            return tensor_attribute(m, owner, found, name)
        case Instance():
            return instance_attribute(m, owner, found, name)
        case ModuleObj():
            from analyzers.machine.linking import member, namespace

            if name == "__dict__":
                return namespace(m, found.env)
            if name in {"__name__", "__file__"}:
                return Const(found.name if name == "__name__" else found.path)
            return member(m, owner, name) or Unknown()
        case ClassObj():
            return _class_attribute(m, owner, found, name)
        case Array():
            from analyzers.machine.numpy_calls import array_attribute

            return array_attribute(m, owner, found, name)
    return BoundBuiltin(owner, name)


def _class_attribute(m: Machine, owner: Ref, found: ClassObj, name: str) -> Value:
    if name in {"__name__", "__qualname__"}:
        return Const(found.name)
    if name == "__mro__" or name == "__bases__":
        return Unknown()
    value = find_in_class(m, owner.id, name)
    if value is not None:
        if isinstance(value, Func) and value.kind == "classmethod":
            return Method(owner, value)
        if found.kind == "enum" and not isinstance(value, Func):
            return m.new(Instance(owner.id, Map({"value": value, "name": Const(name)})))
        return value
    if "torch.autograd.Function" in found.ancestry and name == "apply":
        return BoundBuiltin(owner, "Function.apply")
    if name == "__init__":
        return BoundBuiltin(owner, "object.__init__")
    return Unknown()


def instance_attribute(m: Machine, owner: Ref, found: Instance, name: str) -> Value:
    in_class = find_in_class(m, found.cls, name)
    if isinstance(in_class, Func) and in_class.kind == "property":
        return bind(m, in_class, owner, None)
    own = found.attrs.get(name)
    if own is not None:
        return own
    parametrized = _parametrization(m, found, name)
    if parametrized is not None:
        from analyzers.machine.calls import Args, call

        return call(m, parametrized, Args())
    for table in ("_parameters", "_buffers", "_modules"):
        holder = found.attrs.get(table)
        if holder is not None:
            registered = m.obj(holder)
            if isinstance(registered, DictObj):
                value = registered.items.get(Const(name))
                if value is not None:
                    return value
    if in_class is not None:
        value = bind(m, in_class, owner, Ref(found.cls) if isinstance(found.cls, int) else None)
        now = m.st.get(owner.id)
        if isinstance(in_class, Func) and in_class.kind == "cached_property" and isinstance(now, Instance):
            m.st.put(owner.id, replace(now, attrs=now.attrs.set(name, value)))
        return value
    if name == "__class__":
        return Ref(found.cls) if isinstance(found.cls, int) else Builtin(found.cls)
    if name == "__dict__":
        items = {Const(k): v for k, v in by_name(found.attrs)}
        return m.new(DictObj(Map(items), tuple(items), Unknown() if found.open else None))
    getter = find_in_class(m, found.cls, "__getattr__")
    if isinstance(getter, Func):
        from analyzers.machine.calls import Args, call_function

        return call_function(m, getter, Args([owner, Const(name)]))
    if isinstance(found.cls, str):
        if found.cls == "torch.autograd.FunctionCtx":
            from analyzers.machine.custom import context_attribute

            return context_attribute(m, owner, found, name)
        return BoundBuiltin(owner, name)
    m.doubts += 1
    return Unknown(None, (owner.id, name), None, (owner.id,))


def _parametrization(m: Machine, found: Instance, name: str) -> Value | None:
    """What computes a parametrized attribute of a module at each access."""
    children = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
    if not isinstance(children, DictObj):
        return None
    holder = m.obj(children.items.get(Const("parametrizations"), NONE))
    if not isinstance(holder, Instance) or "_modules" not in holder.attrs:
        return None
    table = m.obj(holder.attrs["_modules"])
    return table.items.get(Const(name)) if isinstance(table, DictObj) else None


def set_attribute(m: Machine, owner: Value, name: str, value: Value) -> None:
    found = m.obj(owner)
    if not isinstance(owner, Ref):
        if isinstance(owner, Unknown) and owner.type is None:
            from analyzers.machine.havoc import havoc_value

            havoc_value(m, owner)
        if owner == NONE:
            from analyzers.machine.grads import none_used

            raise none_used(m, NONE, "AttributeError", f"'NoneType' object has no attribute '{name}'")
        return
    match found:
        case Tensor():
            from analyzers.machine.tensor_attributes import set_tensor_attribute

            set_tensor_attribute(m, owner, found, name, value)
        case Instance():
            setter = find_in_class(m, found.cls, "__setattr__")
            if isinstance(setter, Func) and not setter.module.startswith(PRELUDE):
                if not any(f.func is not None and f.func.node is setter.node for f in m.frames):
                    from analyzers.machine.calls import Args, call_function

                    call_function(m, setter, Args([owner, Const(name), value]))
                    return
            store_attribute(m, owner, found, name, value)
        case ClassObj():
            m.st.put(owner.id, replace(found, attrs=found.attrs.set(name, value)))
        case ModuleObj(env=env):
            m.bind(env, name, value)
        case Array():
            pass


def store_attribute(m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> None:
    """`object.__setattr__`, and what `nn.Module` adds to it."""
    parametrized = _parametrization(m, found, name)
    if isinstance(parametrized, Ref):
        from analyzers.machine.calls import Args, call_method

        call_method(m, parametrized, "right_inverse", Args([value]))
        return
    in_class = find_in_class(m, found.cls, name)
    if isinstance(in_class, Func) and in_class.kind == "property" and name not in found.attrs:
        return
    if "_modules" not in found.attrs and not found.open and is_a(m, found.cls, "torch.nn.Module"):
        _check_begun(m, value)
    if "_modules" in found.attrs and "_parameters" in found.attrs and not name.startswith("_modules"):
        tensor = m.tensor(value)
        if tensor is not None and tensor.parameter:
            if tensor.is_leaf is False:
                raise m.throw("ValueError", "Cannot assign non-leaf Tensor to parameter")
            register(m, owner, "_parameters", name, value)
            return
        if is_module(m, value):
            register(m, owner, "_modules", name, value)
            return
        parameters = m.obj(found.attrs["_parameters"])
        if isinstance(parameters, DictObj) and Const(name) in parameters.items:
            if value == NONE:
                register(m, owner, "_parameters", name, value)
                return
            if not isinstance(value, Unknown):
                raise m.throw("TypeError", "cannot assign")
            return
        modules = m.obj(found.attrs.get("_modules", NONE))
        if isinstance(modules, DictObj) and Const(name) in modules.items:
            register(m, owner, "_modules", name, value)
            return
        buffers = m.obj(found.attrs.get("_buffers", NONE))
        if isinstance(buffers, DictObj) and Const(name) in buffers.items:
            register(m, owner, "_buffers", name, value)
            return
        from analyzers.machine.flags import note_misspelt

        note_misspelt(m, name, module=True)
        if tensor is not None and isinstance(value, Ref):
            from analyzers.machine.registration import look_at_attribute

            look_at_attribute(m, found, name, value)
    if found.cls == "torch.autograd.FunctionCtx" and not m.frame.library:
        m.kept_on_context[owner.id, name] = m.site()
    m.st.put(owner.id, Instance(found.cls, found.attrs.set(name, value), found.open))


def _check_begun(m: Machine, value: Value) -> None:
    """A module whose `__init__` has not been called has no tables to file things in."""
    tensor = m.tensor(value)
    what = "module" if is_module(m, value) else "parameters" if tensor is not None and tensor.parameter else None
    if what is not None:
        raise m.throw("AttributeError", f"cannot assign {what} before Module.__init__() call")


def delete_attribute(m: Machine, owner: Value, name: str) -> None:
    found = m.obj(owner)
    if not isinstance(found, Instance) or not isinstance(owner, Ref):
        return
    if name in found.attrs:
        m.st.put(owner.id, Instance(found.cls, found.attrs.delete(name), found.open))
        return
    for table in ("_parameters", "_buffers", "_modules"):
        holder = found.attrs.get(table)
        registered = m.obj(holder) if holder is not None else None
        if isinstance(registered, DictObj) and isinstance(holder, Ref) and Const(name) in registered.items:
            order = tuple(k for k in registered.order if k != Const(name))
            m.st.put(holder.id, replace(registered, items=registered.items.delete(Const(name)), order=order))


def register(m: Machine, owner: Ref, table: str, name: str, value: Value) -> None:
    """Put `value` into one of a module's tables, and out of wherever the name was before."""
    found = m.st.get(owner.id)
    assert isinstance(found, Instance)
    if name in found.attrs:
        m.st.put(owner.id, Instance(found.cls, found.attrs.delete(name), found.open))
    for other in ("_parameters", "_buffers", "_modules"):
        holder = found.attrs.get(other)
        registered = m.obj(holder) if holder is not None else None
        if not isinstance(registered, DictObj) or not isinstance(holder, Ref):
            continue
        key = Const(name)
        if other == table:
            order = registered.order if key in registered.items else (*registered.order, key)
            m.st.put(holder.id, replace(registered, items=registered.items.set(key, value), order=order))
        elif key in registered.items:
            left = tuple(k for k in registered.order if k != key)
            m.st.put(holder.id, replace(registered, items=registered.items.delete(key), order=left))


__all__ = ["ListObj", "PyRaise", "class_name", "find_in_class", "get_attribute", "is_a", "is_module", "set_attribute"]
