"""Code that is not known may change whatever it can reach: the walk over all that is."""

from __future__ import annotations

from dataclasses import replace

from analyzers.domain.join import reach_of
from analyzers.domain.objects import Array, DictObj, HeapObject, Instance, Iterator, ListObj, SetObj, Tensor, by_name
from analyzers.domain.values import BoundBuiltin, Func, Method, Partial, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import Escaped, tell


def havoc_value(m: Machine, value: Value, seen: set[int] | None = None) -> None:
    from analyzers.machine.interpreter.closures import havoc_captured

    seen = set() if seen is None else seen
    match value:
        case Func():
            havoc_captured(m, value)
        case Method(func=func, receiver=receiver):
            havoc_captured(m, func)
            havoc_value(m, receiver, seen)
        case BoundBuiltin(receiver=receiver):
            havoc_value(m, receiver, seen)
        case Partial(func=func, args=args, kwargs=kwargs):
            for part in (func, *args, *(v for _, v in kwargs)):
                havoc_value(m, part, seen)
        case _:
            for ident in reach_of(value):
                if ident not in seen:
                    havoc_object(m, ident, seen)


def havoc_object(m: Machine, ident: int, seen: set[int]) -> None:
    from analyzers.machine.autograd.havoc import havoc_tensor
    from analyzers.machine.autograd.versions import write_hidden
    from analyzers.machine.objects.havoc import TABLES, havoc_instance, replaceable, some

    if ident in seen or len(seen) > 4000:
        return
    seen.add(ident)
    found = m.st.find(ident)
    match found:
        case Tensor():
            if m.forgets == "state" if found.parameter else m.presumes:
                tell(m, Escaped([found]))
            else:
                havoc_tensor(m, ident, found, seen)
        case ListObj(items=items, rest=rest):
            for item in (*items, *some(rest)):
                havoc_value(m, item, seen)
            if found.kind != "fixed":
                anything = Unknown(None, None, None, reach_of(*items, *some(rest)))
                put(m, ident, found, ListObj((), anything, found.kind))
        case DictObj(values=values, rest=rest):
            for item in values:
                havoc_value(m, item, seen)
            everything = reach_of(*values, *some(rest))
            kept = found.items.update(replaceable(m, found.items))
            put(m, ident, found, replace(found, items=kept, rest=Unknown(None, None, None, everything), keys=None))
        case SetObj(items=items):
            if items:
                put(m, ident, found, SetObj((), Unknown(None, None, None, reach_of(*items))))
        case Instance(attrs=attrs):
            spared = bool(m.forgets) and m.st.is_library(found)
            for name, attr in by_name(attrs):
                table = m.obj(attr) if name in TABLES else None
                if isinstance(table, DictObj):
                    for value in table.values:
                        havoc_value(m, value, seen)
                elif not spared:
                    havoc_value(m, attr, seen)
            if not spared:
                havoc_instance(m, ident, found)
        case Iterator():
            put(m, ident, found, Iterator(found.source, None, found.items, found.rest))
        case Array():
            write_hidden(m, found.storage, "?")


def put(m: Machine, ident: int, found: HeapObject, doubted: HeapObject) -> None:
    """Write what is doubted now, and was not before: whatever two states have written, their join compares."""
    if doubted != found:
        m.st.put(ident, doubted)
