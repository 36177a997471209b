"""Methods of lists, dicts and sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from analyzers.domain.copies import replace
from analyzers.domain.join import one_of, reach_of, united
from analyzers.domain.objects import DictObj, HeapObject, Iterator, ListObj, SetObj
from analyzers.domain.values import NONE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_value, put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.registries import MODELS, ObjectModel
from analyzers.machine.core.signals import Emptied, Kept, tell
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.comparisons import contains, equal
from analyzers.machine.objects.havoc import replaceable
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.operators import concatenated
from analyzers.machine.objects.ordering import in_order
from analyzers.machine.objects.strings import tuple_method
from analyzers.machine.objects.subscripts import dict_item, get_item, is_exact_key, is_key, part_under, set_item
from analyzers.maps import Map


def _put_items(m: Machine, receiver: Ref, found: ListObj, items: tuple[Value, ...], rest: Value | None) -> Value:
    """No function within `list_method`: compiled, that and what it holds would lead to each other, and stay."""
    kept = items if found.limit is None else items[-found.limit :]
    distinct = found.distinct and rest == found.rest
    m.st.put(receiver.id, replace(found, items=kept, rest=rest, distinct=distinct))
    return NONE


def list_method(m: Machine, receiver: Ref, found: ListObj, name: str, args: Args) -> Value:
    items, rest = found.items, found.rest
    put = partial(_put_items, m, receiver, found)
    match name:
        case "append":
            value = args.get(0, "object")
            _note_kept(m, receiver, found, (value,))
            if rest is None:
                return put((*items, value), None)
            return put(items, one_of(rest, value))
        case "appendleft":
            _note_kept(m, receiver, found, (args.get(0, "object"),))
            return put((args.get(0, "object"), *items), rest)
        case "extend" | "extendleft":
            stream = stream_of(m, args.get(0, "iterable")).drained(m)
            _note_kept(m, receiver, found, stream.items)
            both = concatenated(found, ListObj(stream.items, stream.rest))
            return put(both.items, both.rest)
        case "insert":
            at, new = args.get(0, "index"), args.get(1, "object")
            if isinstance(at, Const) and isinstance(at.value, int) and rest is None:
                return put((*items[: at.value], new, *items[at.value :]), None)
            return put((), one_of(*items, *_some(rest), new))
        case "pop" | "popleft":
            return _pop(m, items, rest, Const(0) if name == "popleft" else args.get(0, "index", Const(-1)), put)
        case "clear":
            tell(m, Emptied(receiver.id))
            return put((), None)
        case "copy" | "__copy__":
            return m.new(replace(found))
        case "reverse":
            return put(items[::-1], None) if rest is None else put((), one_of(*items, rest))
        case "sort":
            ordered = in_order(m, items, args) if rest is None else None
            return put((), _any(items, rest)) if ordered is None else put(ordered, None)
        case "remove":
            at_ = _place_of(m, items, args.get(0, "value"))
            return put((), _any(items, rest)) if at_ is None else put((*items[:at_], *items[at_ + 1 :]), rest)
        case "index" | "count":
            if rest is None:
                return tuple_method(m, Tup(items), items, name, args)
            return Unknown("int")
        case "__len__":
            return Const(len(items)) if rest is None else Unknown("int")
        case "__iter__":
            return m.new(Iterator(receiver))
        case "__getitem__":
            return get_item(m, receiver, args.get(0, "key"))
        case "__contains__":
            verdict = contains(m, receiver, args.get(0, "key"))
            return Unknown("bool") if verdict is None else Const(verdict)
        case "rotate":
            return put((), _any(items, rest))
    return Unknown()


def _place_of(m: Machine, items: tuple[Value, ...], value: Value) -> int | None:
    """The first index at which a value definitely is."""
    verdicts = [equal(m, item, value) for item in items]
    first = verdicts.index(True) if True in verdicts else None
    return None if first is None or None in verdicts[:first] else first


def _any(items: tuple[Value, ...], rest: Value | None) -> Value | None:
    values = (*items, *_some(rest))
    return one_of(*values) if values else None


def _note_kept(m: Machine, holder: Ref, found: ListObj, new: Sequence[Value]) -> None:
    if not m.frame.library:
        tell(m, Kept(subject_name(m), (*found.items, *_some(found.rest)), new, holder.id))


def _pop(m: Machine, items: tuple[Value, ...], rest: Value | None, index: Value, put: Callable[..., Value]) -> Value:
    if rest is None and isinstance(index, Const) and isinstance(index.value, int):
        if not -len(items) <= index.value < len(items):
            raise PyRaise("IndexError")
        at = index.value % len(items)
        put((*items[:at], *items[at + 1 :]), None)
        return items[at]
    value = _any(items, rest)
    put((), value)
    return value if value is not None else Unknown()


def dict_method(m: Machine, receiver: Ref, found: DictObj, name: str, args: Args) -> Value:
    key = args.get(0, "key")
    match name:
        case "get" | "pop" | "setdefault":
            default = args.get(1, "default")
            return _lookup(m, receiver, found, name, key, default, args)
        case "keys":
            rest = None if found.rest is None else Unknown()
            return m.new(ListObj(found.order, rest))
        case "values":
            return m.new(ListObj(tuple(found.items[k] for k in found.order), found.rest))
        case "items":
            pairs = tuple(Tup((k, found.items[k])) for k in found.order)
            return m.new(ListObj(pairs, None if found.rest is None else Tup((Unknown(), found.rest))))
        case "update":
            update(m, receiver, args)
            return NONE
        case "copy" | "__copy__":
            return m.new(replace(found))
        case "clear":
            m.st.put(receiver.id, replace(found, items=Map(), order=(), rest=None, keys=None))
            return NONE
        case "popitem":
            if found.rest is None and found.order:
                last = found.order[-1]
                value = found.items[last]
                m.st.put(receiver.id, replace(found, items=found.items.delete(last), order=found.order[:-1]))
                return Tup((last, value))
            return Unknown()
        case "__getitem__":
            return dict_item(m, receiver, found, key)
        case "__setitem__":
            set_item(m, receiver, key, args.get(1, "value"))
            return NONE
        case "__contains__":
            verdict = contains(m, receiver, key)
            return Unknown("bool") if verdict is None else Const(verdict)
        case "__len__":
            return Const(len(found.order)) if found.rest is None else Unknown("int")
        case "move_to_end" | "subtract":
            return NONE
        case "most_common" | "elements":
            return Unknown()
        case "__iter__":
            return m.new(Iterator(receiver))
    return Unknown()


def _lookup(m: Machine, receiver: Ref, found: DictObj, name: str, key: Value, default: Value, args: Args) -> Value:
    if not is_key(m, key):
        return _perhaps_kept(m, receiver, found, name, default)
    value = found.items.get(key)
    if value is not None:
        if name == "pop":
            order = tuple(k for k in found.order if k != key)
            m.st.put(receiver.id, replace(found, items=found.items.delete(key), order=order))
        return value
    part = part_under(m, found, key)
    if part is not None and name == "pop":
        return part
    if found.rest is not None or (not is_exact_key(key) and found.order):
        return _perhaps_kept(m, receiver, found, name, default)
    if name == "setdefault":
        set_item(m, receiver, key, default)
    if name == "pop" and len(args.pos) < 2 and "default" not in args.kw:
        raise PyRaise("KeyError")
    return default


def _perhaps_kept(m: Machine, receiver: Ref, found: DictObj, name: str, default: Value) -> Value:
    """What a dict holds under a key that it may have or not: `setdefault` may keep the default there."""
    if name == "setdefault":
        kept = default if found.rest is None else one_of(found.rest, default)
        m.st.put(receiver.id, replace(found, rest=kept, keys=None))
        if found.rest is None and not found.order:
            return default
    return Unknown(None, None, None, reach_of(*_some(found.rest), *found.values, default))


def _some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)


def update(m: Machine, receiver: Ref, args: Args) -> None:
    for value in args.pos:
        other = m.obj(value)
        if isinstance(other, DictObj):
            for key in other.order:
                set_item(m, receiver, key, other.items[key])
            if other.rest is not None:
                _set_some(m, receiver, other.rest, other.perhaps)
            continue
        stream = stream_of(m, value).drained(m)
        for item in stream.items:
            if isinstance(item, Tup) and len(item.items) == 2:
                set_item(m, receiver, item.items[0], item.items[1])
        if stream.rest is not None:
            _set_some(m, receiver, Unknown(None, None, None, reach_of(stream.rest)), None)
    for name, value in args.kw.items():
        set_item(m, receiver, Const(name), value)


def _set_some(m: Machine, receiver: Ref, value: Value, keys: frozenset[Value] | None) -> None:
    """Some of `keys`, or of all keys there are, now have a value."""
    mine = m.st.get(receiver.id)
    assert isinstance(mine, DictObj)
    rest = value if mine.rest is None else one_of(mine.rest, value)
    blurred = {key: one_of(held, value) for key, held in mine.entries if keys is None or key in keys}
    united_keys = united(mine.perhaps, keys) or None
    m.st.put(receiver.id, replace(mine, items=mine.items.update(blurred), rest=rest, keys=united_keys))


def set_method(m: Machine, receiver: Ref, found: SetObj, name: str, args: Args) -> Value:
    match name:
        case "add":
            value = args.get(0, "elem")
            if value not in found.items:
                m.st.put(receiver.id, replace(found, items=(*found.items, value)))
            return NONE
        case "discard" | "remove":
            value = args.get(0, "elem")
            m.st.put(receiver.id, replace(found, items=tuple(i for i in found.items if i != value)))
            return NONE
        case "update":
            stream = stream_of(m, args.get(0, "others")).drained(m)
            items = tuple(dict.fromkeys((*found.items, *stream.items)))
            m.st.put(receiver.id, SetObj(items, found.rest or stream.rest))
            return NONE
        case "clear":
            m.st.put(receiver.id, SetObj(()))
            return NONE
        case "copy":
            return m.new(replace(found))
        case "issubset" | "issuperset" | "isdisjoint":
            return Unknown("bool")
        case "pop":
            return _any(found.items, found.rest) or Unknown()
    return m.new(SetObj((), Unknown()))


class ListModel(ObjectModel):
    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value:
        assert isinstance(found, ListObj)
        return list_method(m, owner, found, name, args)

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, ListObj)
        for item in (*found.items, *_some(found.rest)):
            havoc_value(m, item, seen)
        if found.kind != "fixed":
            anything = Unknown(None, None, None, reach_of(*found.items, *_some(found.rest)))
            put(m, ident, found, ListObj((), anything, found.kind))


class DictModel(ObjectModel):
    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value:
        assert isinstance(found, DictObj)
        return dict_method(m, owner, found, name, args)

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, DictObj)
        values = (*found.values, *_some(found.rest))
        for item in values:
            havoc_value(m, item, seen)
        everything = Unknown(None, None, None, reach_of(*values))
        kept = found.items.update(replaceable(m, found.items))
        put(m, ident, found, replace(found, items=kept, rest=everything, keys=None))


class SetModel(ObjectModel):
    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value:
        assert isinstance(found, SetObj)
        return set_method(m, owner, found, name, args)

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, SetObj)
        values = (*found.items, *_some(found.rest))
        for item in values:
            havoc_value(m, item, seen)
        if found.items:
            put(m, ident, found, SetObj((), Unknown(None, None, None, reach_of(*values))))


enter(MODELS, ListObj, ListModel())
enter(MODELS, DictObj, DictModel())
enter(MODELS, SetObj, SetModel())
