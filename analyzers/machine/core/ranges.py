"""Ranges, slices and lengths."""

from __future__ import annotations

from analyzers.domain.objects import Array, DictObj, ListObj, SetObj, Tensor
from analyzers.domain.values import NONE, Const, RangeValue, Ref, SliceValue, Tup, Value
from analyzers.machine.core.machine import Machine


def whole(value: Value) -> int | None:
    if isinstance(value, Const) and isinstance(value.value, int):
        return int(value.value)
    return None


def python_slice(value: SliceValue) -> slice | None:
    parts: list[int | None] = []
    for part in (value.lower, value.upper, value.step):
        if part == NONE:
            parts.append(None)
        else:
            number = whole(part)
            if number is None:
                return None
            parts.append(number)
    return slice(*parts)


SHOWN = 64
"""How many elements of a long known sequence are kept apart; the rest become one unknown."""


def range_items(value: RangeValue, most: int = SHOWN) -> tuple[Value, ...] | None:
    """The numbers of a known range; for a long one, only the first `most` + 1."""
    parts = (value.start, value.stop, value.step)
    numbers = [p.value for p in parts if isinstance(p, Const) and isinstance(p.value, int)]
    if len(numbers) != 3 or numbers[2] == 0:
        return None
    return tuple(Const(i) for i in range(*numbers)[: most + 1])


def length_of(m: Machine, value: Value) -> int | None:
    """`len(value)`, if known."""
    match value:
        case Tup(items=items):
            return len(items)
        case Const(value=str() as text):
            return len(text)
        case Const(value=bytes() as data):
            return len(data)
        case RangeValue():
            parts = (value.start, value.stop, value.step)
            numbers = [p.value for p in parts if isinstance(p, Const) and isinstance(p.value, int)]
            if len(numbers) != 3 or not numbers[2]:
                return None
            start, stop, step = numbers  # `len` of a range takes no more than a machine word
            return max(-((start - stop) // step), 0)
        case Ref():
            found = m.obj(value)
            match found:
                case ListObj(items=items, rest=None) | SetObj(items=items, rest=None):
                    return len(items)
                case DictObj(order=order, rest=None):
                    return len(order)
                case Tensor(shape=shape) | Array(shape=shape) if shape:
                    return shape[0]
    return None
