"""`sorted`, `list.sort`, `min` and `max`, with and without a key."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.join import reach_of
from analyzers.domain.objects import ListObj
from analyzers.domain.values import FALSE, NONE, Const, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.truth import truth_of

_MOST = 64
"""The most items for which a key function is called individually."""


def sort_value(m: Machine, args: Args) -> Value:
    """`sorted(iterable, key=None, reverse=False)`."""
    source = stream_of(m, args.get(0, "iterable")).drained(m)
    if source.rest is None:
        ordered = in_order(m, source.items, args)
        if ordered is not None:
            return m.new(ListObj(ordered))
    values = (*source.items, *((source.rest,) if source.rest is not None else ()))
    if not values:
        return m.new(ListObj(()))
    same = all(v == values[0] for v in values)
    element = values[0] if same else Unknown(None, None, None, reach_of(*values))
    count = len(source.items) if source.rest is None else 0
    return m.new(ListObj((element,) * count, None if source.rest is None else element))


def in_order(m: Machine, items: Sequence[Value], args: Args) -> tuple[Value, ...] | None:
    """The items in the order given by `key` and `reverse`; None if that is unknown."""
    flip = truth_of(m, args.kw.get("reverse", FALSE))[0]
    keys = _keys(m, items, args)
    if keys is None or flip is None:
        return None
    try:
        places = sorted(range(len(items)), key=lambda i: keys[i], reverse=flip)  # type: ignore[arg-type, return-value]
    except TypeError:
        return None
    return tuple(items[i] for i in places)


def extreme_item(m: Machine, items: Sequence[Value], args: Args, *, largest: bool) -> Value | None:
    """The first smallest, or first largest, of the items; None if unknown."""
    keys = _keys(m, items, args)
    if not keys:
        return None
    try:
        return items[(max if largest else min)(range(len(items)), key=lambda i: keys[i])]  # type: ignore[arg-type, return-value]
    except TypeError:
        return None


def _keys(m: Machine, items: Sequence[Value], args: Args) -> list[object] | None:
    """The sort keys of the items, as Python values."""
    key = args.kw.get("key", NONE)
    if key != NONE:
        items = [call(m, key, Args([item])) for item in items[:_MOST]] + list(items[_MOST:])
    plain = [_plain(item) for item in items]
    return None if None in plain else plain


def _plain(value: Value) -> object | None:
    if isinstance(value, Const) and isinstance(value.value, int | float | str | bytes):
        return (value.value,)
    if isinstance(value, Tup):
        parts = [_plain(item) for item in value.items]
        return None if None in parts else tuple(parts)
    return None
