"""Truth: whether a value is truthy."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.objects import DictObj, Instance, ListObj, SetObj
from analyzers.domain.values import BoundBuiltin, Const, RangeValue, Ref, Tup, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ranges import range_items
from analyzers.machine.core.registries import model_of
from analyzers.machine.objects.classes import find_in_class


def truth_of(m: Machine, value: Value) -> tuple[truth.Truth, object]:
    """Whether a value is truthy and, if unknown, the symbol under which to remember the answer."""
    match value:
        case Const(value=v):
            return bool(v), None
        case Unknown(symbol=symbol):
            return None, symbol
        case Tup(items=items):
            return bool(items), None
        case RangeValue():
            items_ = range_items(value)
            return (None if items_ is None else bool(items_)), None
        case Ref():
            found = m.obj(value)
            match found:
                case ListObj(items=items, rest=rest) | SetObj(items=items, rest=rest):
                    return (True if items else False if rest is None else None), None
                case DictObj(order=order, rest=rest):
                    return (True if order else False if rest is None else None), None
                case Instance():
                    for name in ("__bool__", "__len__"):
                        if find_in_class(m, found.cls, name) is not None:
                            return None, None
                    return (None if found.open else True), None
            return (True if found is None else model_of(found).is_true(m, value, found)), None
        case BoundBuiltin(receiver=Unknown(type=None, symbol=symbol), name=name):
            # A method where the owner is what it is taken for; it may as well be a setting: `if args.half`.
            return None, None if symbol is None else (symbol, name)
    return True, None
