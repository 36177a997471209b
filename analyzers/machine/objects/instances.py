"""Instances and classes: attributes, methods, and calls."""

from __future__ import annotations

from collections.abc import Iterator as PyIterator

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, DictObj, HeapObject, Instance, by_name
from analyzers.domain.values import ABSENT, BoundBuiltin, Builtin, Const, Func, Method, Ref, SuperValue, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.havoc import havoc_value, lend, put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, MODELS, VALUES, ClassModel, ObjectModel, ValueModel, class_model
from analyzers.machine.core.streams import Stream
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.absent import surely_lacks
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import PRELUDE, bind, class_name, find_in_class
from analyzers.machine.objects.construction import instantiate
from analyzers.machine.objects.enums import by_key, is_complete, members
from analyzers.machine.objects.havoc import havoc_instance, some
from analyzers.maps import Map


def super_attribute(m: Machine, cls: int, receiver: Value, name: str) -> Value:
    found = m.obj(receiver)
    own = receiver if isinstance(found, ClassObj) and isinstance(receiver, Ref) else None
    start: int | str | None = own.id if own is not None else found.cls if isinstance(found, Instance) else None
    value = find_in_class(m, start, name, after=cls) if start is not None else None
    if value is not None:
        holder = own or (Ref(found.cls) if isinstance(found, Instance) and isinstance(found.cls, int) else None)
        if own is not None and isinstance(value, Func) and value.kind == "function":
            return value
        return bind(m, value, receiver, holder)
    if name == "__new__":
        return Builtin("builtins.object.__new__")
    if name in {"__init__", "__init_subclass__", "__post_init__", "__setattr__", "__enter__", "__exit__", "__del__"}:
        return BoundBuiltin(receiver, "object." + name)
    base = m.st.get(cls)
    if isinstance(base, ClassObj) and base.known and name.startswith("__"):
        return BoundBuiltin(receiver, "object." + name)
    return Unknown(None, None, None, (receiver.id,) if isinstance(receiver, Ref) else ())


def class_attribute(m: Machine, owner: Ref, found: ClassObj, name: str) -> Value:
    if name in {"__name__", "__qualname__"}:
        return Const(found.name)
    if name in {"__mro__", "__bases__"}:
        return Unknown()
    value = find_in_class(m, owner.id, name)
    if value is not None:
        if isinstance(value, Func) and value.kind == "classmethod":
            return Method(owner, value)
        return value
    for ancestor in found.ancestry:
        model = CLASSES.get(ancestor) if isinstance(ancestor, str) else None
        own = model.class_attribute(m, owner, found, name) if model is not None else None
        if own is not None:
            return own
    if name == "__init__":
        return BoundBuiltin(owner, "object.__init__")
    if name == "__new__":
        return Builtin("builtins.object.__new__")
    return Unknown(None, (owner.id, name))


def instance_attribute(m: Machine, owner: Ref, found: Instance, name: str) -> Value:
    in_class = find_in_class(m, found.cls, name)
    if isinstance(in_class, Func) and in_class.kind == "property":
        return bind(m, in_class, owner, None)
    own = found.attrs.get(name)
    if own is not None:
        return own
    model = class_model(found)
    held = model.get_attribute(m, owner, found, name) if model is not None and isinstance(found.cls, int) else None
    if held is not None:
        return held
    if in_class is not None:
        value = bind(m, in_class, owner, Ref(found.cls) if isinstance(found.cls, int) else None)
        now = m.st.get(owner.id)
        if isinstance(in_class, Func) and in_class.kind == "cached_property" and isinstance(now, Instance):
            m.st.put(owner.id, replace(now, attrs=now.attrs.set(name, value)))
        return value
    if name == "__class__":
        return Ref(found.cls) if isinstance(found.cls, int) else Builtin(found.cls)
    if name == "__dict__":
        return attributes_handed_out(m, owner, found)
    if name == "__new__" and isinstance(found.cls, int):
        return Builtin("builtins.object.__new__")
    getter = find_in_class(m, found.cls, "__getattr__")
    if isinstance(getter, Func):
        return call(m, getter, Args([owner, Const(name)]))
    if isinstance(found.cls, str):
        told = model.get_attribute(m, owner, found, name) if model is not None else None
        return told if told is not None else BoundBuiltin(owner, name)
    m.record.imprecisions += 1
    if surely_lacks(m, owner, found, name):
        return Unknown(None, (ABSENT, owner.id, name))
    return Unknown(None, (owner.id, name), None, (owner.id,))


def attributes_handed_out(m: Machine, owner: Ref, found: Instance) -> Ref:
    """`vars(x)`, `x.__dict__`: whoever has it may give the object attributes that it shows nowhere."""
    m.st.put(owner.id, Instance(found.cls, found.attrs, open=True))
    items: dict[Value, Value] = {Const(name): value for name, value in by_name(found.attrs)}
    return m.new(DictObj(Map(items), tuple(items), Unknown()))


def delete_attribute(m: Machine, owner: Value, name: str) -> None:
    found = m.obj(owner)
    if not isinstance(found, Instance) or not isinstance(owner, Ref):
        return
    if name in found.attrs:
        m.st.put(owner.id, Instance(found.cls, found.attrs.delete(name), found.open))
        return
    model = class_model(found)
    if model is not None:
        model.delete(m, owner, found, name)


def inherited_models(m: Machine, cls: int | str) -> PyIterator[ClassModel]:
    """The models of the library classes that a class inherits from, nearest first."""
    found = m.st.get(cls) if isinstance(cls, int) else None
    for ancestor in found.ancestry if isinstance(found, ClassObj) else ():
        model = CLASSES.get(class_name(m, ancestor))
        if model is not None:
            yield model


def call_instance(m: Machine, func: Ref, found: Instance, args: Args) -> Value:
    model = class_model(found)
    if isinstance(found.cls, str):
        made = model.call(m, func, found, args) if model is not None else None
        return made if made is not None else unknown_call(m, func, args)
    if find_in_class(m, found.cls, "__call__") is None:
        for inherited in inherited_models(m, found.cls):
            made = inherited.call(m, func, found, args)
            if made is not None:
                return made
        return unknown_call(m, func, args)
    made = model.call(m, func, found, args) if model is not None else None
    return made if made is not None else call_method(m, func, "__call__", args)


def _perhaps_set_by(m: Machine, owner: Ref, in_class: Value | None) -> None:
    """What a class has from unknown code may be a property (`@hidden(scale.setter)`), whose setter does anything."""
    if isinstance(in_class, Unknown) and in_class.type is None and not m.config.presumes:
        havoc_value(m, owner)


_REMAKES = frozenset({"__bases__", "__class__", "__dict__"})
"""What an object is made of: whoever sets one of these gives it attributes that its class does not show."""


def _named(found: HeapObject | None) -> Map[str, Value] | None:
    """What a dict holds by names."""
    if not isinstance(found, DictObj):
        return None
    return Map({key.value: value for key, value in found.entries if isinstance(key, Const) and type(key.value) is str})


class InstanceModel(ObjectModel):
    rank = 2

    def get_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
        assert isinstance(found, Instance)
        return instance_attribute(m, owner, found, name)

    def set_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        assert isinstance(found, Instance)
        setter = find_in_class(m, found.cls, "__setattr__")
        if isinstance(setter, Func) and not setter.module.startswith(PRELUDE):
            if not any(f.func is not None and f.func.node is setter.node for f in m.extent.frames):
                call(m, setter, Args([owner, Const(name), value]))
                return
        self.store(m, owner, found, name, value)

    def store(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        assert isinstance(found, Instance)
        if name == "__dict__" and (attrs := _named(m.obj(value))) is not None:
            m.st.put(owner.id, Instance(found.cls, attrs, open=True))
            return
        if name in _REMAKES:
            havoc_value(m, owner)
            found = m.st.get(owner.id)
            assert isinstance(found, Instance)
        model = class_model(found)
        if model is not None and model.store(m, owner, found, name, value):
            return
        in_class = find_in_class(m, found.cls, name)
        if isinstance(in_class, Func) and in_class.kind == "property":
            if in_class.setter is not None:
                call(m, in_class.setter, Args([owner, value]))
                cls = m.st.get(found.cls) if isinstance(found.cls, int) else None
                if isinstance(cls, ClassObj) and not cls.known:
                    havoc_value(m, owner)  # an unknown base may set attributes in its own way
                return
            if name not in found.attrs:
                return
        if model is None and not found.open:
            for inherited in inherited_models(m, found.cls):
                inherited.check_store(m, owner, found, name, value)
        m.st.put(owner.id, Instance(found.cls, found.attrs.set(name, value), found.open))
        _perhaps_set_by(m, owner, in_class)

    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value | None:
        """A method defined by the instance's outside class."""
        assert isinstance(found, Instance)
        model = class_model(found) if isinstance(found.cls, str) else None
        if model is not None:
            return model.call_method(m, owner, found, name, args)
        if isinstance(found.cls, str) and found.cls.startswith("builtins."):
            return owner if name == "with_traceback" else Unknown()
        return None

    def call(self, m: Machine, owner: Ref, found: HeapObject, args: Args) -> Value:
        assert isinstance(found, Instance)
        return call_instance(m, owner, found, args)

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, Instance)
        model = class_model(found)
        alone = m.config.presumes and model is not None and model.left_alone
        spared = alone or (bool(m.extent.forgets) and m.st.is_library(found))
        takes = not m.st.is_library(found)
        for name, attr in by_name(found.attrs):
            table = m.obj(attr) if model is not None and model.holds(name) else None
            if model is not None and isinstance(table, DictObj) and isinstance(attr, Ref):
                for value in (*table.values, *some(table.rest)):
                    havoc_value(m, value, seen)
                fills = model.may_fill(m, found, name)
                takes = takes or fills
                if fills and not alone and not table.order:
                    anything = Unknown(None, None, None, reach_of(*table.values, *some(table.rest)))
                    put(m, attr.id, table, replace(table, rest=anything))
            elif not spared:
                havoc_value(m, attr, seen)
        if not spared:
            havoc_instance(m, ident, found)
        elif takes and not found.open:
            lend(m, ident)


class ClassObjModel(ObjectModel):
    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, ClassObj)
        if found.plain:
            put(m, ident, found, replace(found, plain=False))

    def get_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
        assert isinstance(found, ClassObj)
        return class_attribute(m, owner, found, name)

    def set_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        assert isinstance(found, ClassObj)
        plain = found.plain and name not in _REMAKES
        m.st.put(owner.id, replace(found, attrs=found.attrs.set(name, value), plain=plain))

    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value | None:
        assert isinstance(found, ClassObj)
        for ancestor in found.ancestry:
            model = CLASSES.get(ancestor) if isinstance(ancestor, str) else None
            result = model.call_class_method(m, owner, name, args) if model is not None else None
            if result is not None:
                return result
        return None

    def call(self, m: Machine, owner: Ref, found: HeapObject, args: Args) -> Value:
        assert isinstance(found, ClassObj)
        return instantiate(m, owner, found, args)

    def get_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value) -> Value:
        assert isinstance(found, ClassObj)
        return owner if found.kind != "enum" else by_key(owner, found, index)

    def stream(self, m: Machine, owner: Ref, found: HeapObject, unpack: int | None) -> Stream:
        assert isinstance(found, ClassObj)
        known = members(found)
        return Stream(known, None if known and is_complete(found) else Unknown())


class SuperModel(ValueModel):
    def get_attribute(self, m: Machine, owner: Value, name: str) -> Value:
        assert isinstance(owner, SuperValue)
        return super_attribute(m, owner.owner, owner.receiver, name)


enter(MODELS, Instance, InstanceModel())
enter(MODELS, ClassObj, ClassObjModel())
enter(VALUES, SuperValue, SuperModel())
