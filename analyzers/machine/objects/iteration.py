"""Iteration: the elements that a `for` loop, unpacking or `list()` gets from a value."""

from __future__ import annotations

from analyzers.domain.join import one_of, reach_of
from analyzers.domain.objects import DictObj, Generator, Instance, Iterator, ListObj, SetObj
from analyzers.domain.values import ABSENT, Const, RangeValue, Ref, Tup, Unknown, Value, is_absent
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import used_unseen
from analyzers.machine.core.machine import Machine, lose_modes
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.ranges import SHOWN, range_items, whole
from analyzers.machine.core.registries import model_of
from analyzers.machine.core.streams import Stream
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import find_in_class

LETTERS = 1024
"""The limit for the characters of a string."""


def stream_of(m: Machine, value: Value, unpack: int | None = None, most: int = SHOWN) -> Stream:
    """How to iterate over `value`; `unpack` is the number of targets when it is unpacked.

    A range of more than `most` elements keeps only its first few, and a string its first `LETTERS`; the rest is
    unknown.
    """
    match value:
        case Tup(items=items):
            return Stream(items)
        case RangeValue():
            numbers = range_items(value, most)
            if numbers is None:
                begun = (whole(value.start), whole(value.step))
                known = None if begun[0] is None or not begun[1] else (begun[0], begun[1])
                return Stream((), Unknown("int"), lambda: Unknown("int", m.fresh()), numbers=known)
            if len(numbers) > most:
                return Stream(numbers[:4], Unknown("int"), lambda: Unknown("int", m.fresh()))
            return Stream(numbers)
        case Const(value=str() as text):
            return Stream(tuple(Const(c) for c in text[:LETTERS]), Unknown("str") if len(text) > LETTERS else None)
        case Ref():
            return _object_stream(m, value, unpack)
        case Unknown(reach=reach, lineage=lineage) as source:
            used_unseen(m, value, "__iter__", "__next__", "__getitem__")
            runs = m.st.switches_out and any(isinstance(m.st.find(ident), Generator) for ident in reach)

            def item() -> Value:
                if runs:
                    lose_modes(m)  # a generator may stop inside `with no_grad()`
                made = Unknown(None, (ABSENT, m.fresh()) if is_absent(source) else m.fresh(), lineage, reach)
                if unpack is None:
                    PORTS.likely.iterated(m, source, made)
                return made

            return Stream((), value, item)
    return Stream((), Unknown())


def _object_stream(m: Machine, value: Ref, unpack: int | None) -> Stream:
    found = m.obj(value)
    match found:
        case ListObj(items=items, rest=Ref() as kind, distinct=True):
            return Stream(items, kind, lambda: another(m, kind))
        case ListObj(items=items, rest=rest) | SetObj(items=items, rest=rest):
            return Stream(items, rest)
        case DictObj(order=order, rest=rest):
            return Stream(order, None if rest is None else Unknown())
        case Iterator():
            return _rest_of_iterator(m, value, found)
        case Instance():
            if find_in_class(m, found.cls, "__iter__") is not None:
                result = call_method(m, value, "__iter__", Args([], {}))
                if isinstance(result, Ref) and result != value:
                    return stream_of(m, result)
                if result == value:
                    return Stream((), Unknown(), lambda: call_method(m, value, "__next__", Args([], {})))
                return stream_of(m, result)
            if find_in_class(m, found.cls, "__getitem__") is not None:
                return Stream((), Unknown(), lambda: call_method(m, value, "__getitem__", Args([Unknown("int")], {})))
            return Stream((), Unknown(None, None, None, reach_of(value)))
    return model_of(found).stream(m, value, found, unpack) if found is not None else Stream((), Unknown())


def _rest_of_iterator(m: Machine, ref: Ref, found: Iterator) -> Stream:
    """The remaining elements of an iterator, which this exhausts."""
    items, rest = found.items, found.rest
    if items is None:
        source = stream_of(m, found.source).drained(m)
        items, rest = source.items, source.rest
    if found.position is None:
        return Stream((), any_of(items, rest))
    left = items[found.position :]
    m.st.put(ref.id, Iterator(found.source, len(items), items, rest))
    return Stream(left, rest, counted=None if found.counted is None else found.counted + found.position)


def another(m: Machine, kind: Ref) -> Value:
    """A new object like this one, which stands for all of its kind."""
    found = m.obj(kind)
    return kind if found is None else model_of(found).another(m, kind, found)


def any_of(items: tuple[Value, ...], rest: Value | None) -> Value:
    """The next element of an iterator at an unknown position."""
    return one_of(*items, *(() if rest is None else (rest,)))
