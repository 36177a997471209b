"""Creating an instance by calling a class."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, Instance
from analyzers.domain.values import Func, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.enums import ENUMS, by_value
from analyzers.maps import Map


def instantiate(m: Machine, ref: Ref, cls: ClassObj, args: Args) -> Value:
    if cls.kind == "namedtuple":
        names = tuple(f[0] for f in cls.fields)
        defaults = {f[0]: f[1] for f in cls.fields}
        items = tuple(args.get(i, name, defaults[name]) for i, name in enumerate(names))
        return Tup(items, cls.name, names, ref.id)
    if cls.kind == "enum":
        return by_value(m, ref, cls, args.get(0, "value"))
    outside = [a for a in cls.ancestry if isinstance(a, str)]
    for ancestor in outside:
        own = CLASSES[ancestor].make(m, ref, cls, args) if ancestor in CLASSES else None
        if own is not None:
            return own
    new = find_in_class(m, ref.id, "__new__")
    if isinstance(new, Func) and not new.module.startswith("<"):
        made = call(m, new, args.prepend(ref))
        if not isinstance(m.obj(made), Instance):
            return made
        result: Value = made
    else:
        result = bare(m, ref, cls)
    init = find_in_class(m, ref.id, "__init__")
    if cls.kind == "dataclass" and (init is None or not _own_init(m, cls)):
        _dataclass_init(m, result, cls, args)
        if find_in_class(m, ref.id, "__post_init__") is not None:
            call_method(m, result, "__post_init__", Args())
        return result
    if init is not None:
        call_method(m, result, "__init__", args)
    elif isinstance(result, Ref) and any(a.startswith("builtins.") for a in outside):
        found = m.st.get(result.id)
        if isinstance(found, Instance):
            m.st.put(result.id, Instance(found.cls, found.attrs.set("args", Tup(tuple(args.pos))), found.open))
    return result


def bare(m: Machine, ref: Ref, cls: ClassObj) -> Ref:
    """An instance before its `__init__`, as `object.__new__` makes it."""
    return m.new(Instance(ref.id, Map(), not _is_all_seen(cls)))


def _is_all_seen(cls: ClassObj) -> bool:
    """Whether no class from outside may have given its objects anything."""
    return cls.known and all(_is_stateless(a) for a in cls.ancestry if isinstance(a, str))


def made_new(m: Machine, args: Args) -> Value:
    """`object.__new__(cls)`, `super().__new__(cls)`."""
    cls = args.get(0, "cls")
    found = m.obj(cls)
    if isinstance(cls, Ref) and isinstance(found, ClassObj):
        if found.kind in {"class", "dataclass"} and _is_all_seen(found):
            return bare(m, cls, found)
    return Unknown(None, None, None, reach_of(*args.all()))


PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"}) | ENUMS
"""Outside classes that add no state of their own to instances."""


def _is_stateless(dotted: str) -> bool:
    return dotted in PLAIN_BASES or (dotted in CLASSES and CLASSES[dotted].stateless)


def _own_init(m: Machine, cls: ClassObj) -> bool:
    return "__init__" in cls.attrs


def _dataclass_init(m: Machine, result: Value, cls: ClassObj, args: Args) -> None:
    if not isinstance(result, Ref):
        return
    attrs: dict[str, Value] = {}
    for index, (name, default, _) in enumerate(cls.fields):
        value = default
        made = m.obj(default) if default is not None else None
        given = index < len(args.pos) or name in args.kw or args.open
        if given:
            value = args.get(index, name)
        elif isinstance(made, Instance) and made.cls == "dataclasses.field":
            factory = made.attrs.get("default_factory")
            value = call(m, factory, Args()) if factory is not None else made.attrs.get("default", Unknown())
        attrs[name] = value if value is not None else Unknown()
    found = m.st.get(result.id)
    if isinstance(found, Instance):
        m.st.put(result.id, Instance(found.cls, found.attrs.update(attrs), found.open))
