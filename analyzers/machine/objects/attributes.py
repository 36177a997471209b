"""Attributes: of objects by their classes, of modules by registration, of tensors by torch."""

from __future__ import annotations

from dataclasses import replace

from analyzers.domain.objects import (
    Array,
    ClassObj,
    DictObj,
    Generator,
    HeapObject,
    Instance,
    Iterator,
    ListObj,
    ModuleObj,
    SetObj,
    Tensor,
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
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.library_names import outside
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.record import none_used
from analyzers.machine.objects.classes import PRELUDE, find_in_class


def get_attribute(m: Machine, owner: Value, name: str) -> Value:
    from analyzers.machine.libraries.torch.function_context import misused
    from analyzers.machine.objects.instances import super_attribute
    from analyzers.machine.objects.strings import constant_attribute
    from analyzers.machine.objects.unknown_values import unknown_attribute

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
            misused(m, owner, "AttributeError", f"'tuple' object has no attribute '{name}'")
        case Const(value=value):
            return constant_attribute(m, owner, value, name)
        case SuperValue(owner=cls, receiver=receiver):
            return super_attribute(m, cls, receiver, name)
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


def _builtin_attribute(m: Machine, dotted: str, name: str) -> Value:
    if name == "__name__":
        return Const(dotted.rsplit(".", 1)[-1])
    return outside(m, f"{dotted}.{name}")


def _object_attribute(m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
    from analyzers.machine.interpreter.linking import member, namespace
    from analyzers.machine.libraries.numpy.arrays import array_attribute
    from analyzers.machine.libraries.torch.tensor_attributes import tensor_attribute
    from analyzers.machine.objects.instances import class_attribute, instance_attribute

    match found:
        case Tensor():
            return tensor_attribute(m, owner, found, name)
        case Instance():
            return instance_attribute(m, owner, found, name)
        case ModuleObj():
            if name == "__dict__":
                return namespace(m, found.env)
            if name in {"__name__", "__file__"}:
                return Const(found.name if name == "__name__" else found.path)
            return member(m, owner, name) or Unknown()
        case ClassObj():
            return class_attribute(m, owner, found, name)
        case Array():
            return array_attribute(m, owner, found, name)
    return BoundBuiltin(owner, name)


def set_attribute(m: Machine, owner: Value, name: str, value: Value) -> None:
    from analyzers.machine.interpreter.calls import call_function
    from analyzers.machine.libraries.torch.modules import store_attribute
    from analyzers.machine.libraries.torch.tensor_attributes import set_tensor_attribute

    found = m.obj(owner)
    if not isinstance(owner, Ref):
        if isinstance(owner, Unknown) and owner.type is None:
            havoc_value(m, owner)
        if owner == NONE:
            raise none_used(m, NONE, "AttributeError", f"'NoneType' object has no attribute '{name}'")
        return
    match found:
        case Tensor():
            set_tensor_attribute(m, owner, found, name, value)
        case Instance():
            setter = find_in_class(m, found.cls, "__setattr__")
            if isinstance(setter, Func) and not setter.module.startswith(PRELUDE):
                if not any(f.func is not None and f.func.node is setter.node for f in m.frames):
                    call_function(m, setter, Args([owner, Const(name), value]))
                    return
            store_attribute(m, owner, found, name, value)
        case ClassObj():
            m.st.put(owner.id, replace(found, attrs=found.attrs.set(name, value)))
        case ModuleObj(env=env):
            m.bind(env, name, value)
        case Array():
            pass


def call_bound(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    from analyzers.machine.interpreter.generators import advance
    from analyzers.machine.libraries.known_names import call_instance_method
    from analyzers.machine.libraries.numpy.arrays import call_array_method
    from analyzers.machine.libraries.torch.custom_functions import apply_function
    from analyzers.machine.libraries.torch.tensor_attributes import call_tensor_method
    from analyzers.machine.objects.containers import dict_method, list_method, set_method
    from analyzers.machine.objects.instances import object_method
    from analyzers.machine.objects.strings import constant_method, tuple_method
    from analyzers.machine.objects.unknown_values import unknown_method

    found = m.obj(receiver)
    if name.startswith("object."):
        return object_method(m, receiver, name[7:], args)
    match found:
        case Tensor():
            assert isinstance(receiver, Ref)
            return call_tensor_method(m, receiver, name, args)
        case ListObj():
            return list_method(m, receiver, found, name, args)
        case DictObj():
            return dict_method(m, receiver, found, name, args)
        case SetObj():
            return set_method(m, receiver, found, name, args)
        case Array():
            assert isinstance(receiver, Ref)
            return call_array_method(m, receiver, found, name, args)
        case Iterator() | Generator():
            assert isinstance(receiver, Ref)
            return advance(m, receiver, None) if name in {"__next__", "send"} else NONE
        case Instance():
            return call_instance_method(m, receiver, found, name, args)
    if name == "Function.apply":
        return apply_function(m, receiver, args)
    match receiver:
        case Const(value=value):
            return constant_method(m, value, name, args)
        case Tup(items=items):
            return tuple_method(m, receiver, items, name, args)
        case Unknown():
            return unknown_method(m, receiver, name, args)
        case Func():
            return Unknown()
    return unknown_call(m, receiver, args)


def call_method(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    return call(m, get_attribute(m, receiver, name), args)
