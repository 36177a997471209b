"""Exception objects: their classes, names and messages."""

from __future__ import annotations

import builtins

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import ClassObj, Instance
from analyzers.domain.values import Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.maps import Map


def exception_name(m: Machine, value: Value) -> str:
    """The name of the exception class that a `raise` statement raises."""
    match value:
        case Builtin(name=name):
            return name.rsplit(".", 1)[-1]
        case Ref():
            found = m.obj(value)
            if isinstance(found, ClassObj):
                return found.name
            if isinstance(found, Instance):
                if isinstance(found.cls, str):
                    return found.cls.rsplit(".", 1)[-1]
                cls = m.st.get(found.cls)
                return cls.name if isinstance(cls, ClassObj) else "Exception"
    return "Exception"


def message_of(m: Machine, value: Value) -> str:
    """The message passed to an exception."""
    found = m.obj(value)
    args = found.attrs.get("args") if isinstance(found, Instance) else None
    if isinstance(args, Tup) and args.items and isinstance(args.items[0], Const):
        return str(args.items[0].value)
    return ""


def fault_of(m: Machine, value: Value) -> Lineage | None:
    """The trail of the tensor that the prelude passes along with the message: `raise ValueError("...", p)`."""
    found = m.obj(value)
    args = found.attrs.get("args") if isinstance(found, Instance) else None
    return m.lineage(args.items[1]) if isinstance(args, Tup) and len(args.items) > 1 else None


def exception_object(m: Machine, raised: PyRaise | None) -> Value:
    if raised is None:
        return Unknown()
    if raised.value is not None and not isinstance(raised.value, Builtin):
        return raised.value
    args = Tup((Const(raised.message),))
    return m.new(Instance("builtins." + raised.name, Map({"args": args}), open=True))


def catches(m: Machine, wanted: Value, raised: PyRaise) -> bool:
    name = exception_name(m, wanted) if not isinstance(wanted, Unknown) else None
    if name is None:
        return True
    if name == raised.name:
        return True
    mine = getattr(builtins, raised.name, None)
    theirs = getattr(builtins, name, None)
    if isinstance(mine, type) and isinstance(theirs, type):
        return issubclass(mine, theirs)
    if isinstance(theirs, type) and theirs in {Exception, BaseException}:
        return True
    found = m.obj(raised.value) if raised.value is not None else None
    if isinstance(found, Instance) and isinstance(found.cls, int):
        cls = m.st.get(found.cls)
        if isinstance(cls, ClassObj):
            return not cls.known or any(
                (isinstance(a, int) and getattr(m.st.get(a), "name", None) == name) or a == "builtins." + name
                for a in cls.ancestry
            )
    return False
