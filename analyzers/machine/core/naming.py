"""The program's names for what the machine is working on: the subject of a message, the caller of a library."""

from __future__ import annotations

from analyzers.domain.objects import Instance
from analyzers.domain.values import Func, Value
from analyzers.machine.core.machine import Machine
from analyzers.syntax import nodes as n


def subject_name(m: Machine, of: Value | None = None) -> str:
    """How the user refers to what is being operated on: the target of a write, the owner of a method.

    Where a library does it to the tensor `of`, the user may have named that in the call; or else there is the place
    where it was made."""
    node = m.user_frame().node
    if m.frame.library and of is not None and isinstance(node, n.Call):
        for arg in node.args:
            if isinstance(arg, n.Name) and m.named_here(arg.id) == of:
                return m.source(arg)
    match node:
        case n.AugAssign(target=target):
            return m.source(target)
        case n.Call(func=n.Attribute(attr="backward" | "manual_backward"), args=(loss, *_)) if m.frame.library:
            return m.source(loss)
        case n.Call() if m.frame.library and of is not None and (found := m.tensor(of)) is not None and found.lineage:
            return m.source(node) if found.lineage.loc is None else m.text_at(found.lineage.loc)
        case n.Call(func=n.Attribute(value=value)):
            return m.source(value)
        case n.Call(args=(first, *_)):
            return m.source(first)
        case n.Subscript(value=value):
            return m.source(value)
        case n.Attribute(value=value):
            return m.source(value)
        case n.Assign(targets=(target, *_)):
            return m.source(target)
    return m.source(node)


def argument_name(m: Machine, of: Value | None = None) -> str:
    """How the user refers to the argument `of`, if that has a name, or the first one of the call to a library; or to
    the whole where it has none."""
    node = m.user_frame().node
    for arg in node.args if isinstance(node, n.Call) and of is not None else ():
        if _held_by(m, arg) == of:
            return m.source(arg)
    return m.source(node.args[0] if isinstance(node, n.Call) and node.args else node)


def _held_by(m: Machine, path: n.Expr) -> Value | None:
    """What a name or an attribute of an object holds."""
    match path:
        case n.Name(id=name):
            return m.named_here(name)
        case n.Attribute(value=value, attr=attr):
            owner = _held_by(m, value)
            found = None if owner is None else m.obj(owner)
            return found.attrs.get(attr) if isinstance(found, Instance) else None
    return None


def library_caller(m: Machine) -> str:
    """The library function that the user's own code called."""
    inner = None
    for frame in reversed(m.extent.frames):
        if not frame.library:
            break
        inner = frame
    return inner.func.node_name if inner is not None and inner.func is not None else "write"


def is_augmented(m: Machine) -> bool:
    """Whether the current statement is `x op= y`."""
    return isinstance(m.user_frame().node, n.AugAssign)


def set_to_constants(m: Machine, func: Func) -> set[str]:
    """The attributes that a function's body sets to constants."""
    plain = [
        node
        for node in n.walk([m.whole(func).body])
        if isinstance(node, n.Assign) and isinstance(node.value, n.Constant)
    ]
    return {target.attr for node in plain for target in node.targets if isinstance(target, n.Attribute)}
