"""`x[i]`, `x[i] = v` and `del x[i]`."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.join import one_of, reach_of
from analyzers.domain.objects import ClassObj, DictObj, Instance, ListObj
from analyzers.domain.values import Builtin, Const, Func, RangeValue, Ref, SliceValue, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, note_part, used_unseen
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_written
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.missing import none_used
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.ranges import SHOWN, python_slice, range_items, whole
from analyzers.machine.core.registries import BUILTIN_ITEMS, TUPLES, model_of
from analyzers.machine.core.signals import Emptied, tell
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.cells import cell, note_cell
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.iteration import another


def get_item(m: Machine, owner: Value, index: Value) -> Value:
    match owner:
        case Tup(items=items):
            return _from_items(m, owner, items, None, index)
        case RangeValue():
            numbers = range_items(owner)
            at = whole(index)
            if numbers is not None and at is not None and 0 <= at < len(numbers):
                return numbers[at]
            return Unknown("int")
        case Const(value=str() as text):
            at = whole(index)
            if at is not None and -len(text) <= at < len(text):
                return Const(text[at])
            cut = python_slice(index) if isinstance(index, SliceValue) else None
            return Const(text[cut]) if cut is not None else Unknown("str")
        case Const(value=None):
            raise none_used(m, owner, "TypeError", "'NoneType' object is not subscriptable")
        case Builtin(name=name):
            return BUILTIN_ITEMS[name](m, index) if name in BUILTIN_ITEMS else owner
        case Unknown(type=t):
            if t in TUPLES:
                return Unknown(t if isinstance(index, SliceValue) else "int")
            known = PORTS.likely.part_of_gradient(m) if t == "grad" else PORTS.likely.stand_in(m, owner)
            if known is not None:
                return known if t == "grad" else get_item(m, known, index)
            m.record.imprecisions += 1
            used_unseen(m, owner, "__getitem__")
            return _unknown_item(m, owner, index)
        case Ref():
            return _object_item(m, owner, index)
    return Unknown()


def _unknown_item(m: Machine, owner: Unknown, index: Value) -> Unknown:
    """An item of something unknown: by the same index the same one."""
    at = (index,) if _is_fixed(index) else (m.fresh(), index)
    return Unknown(None, None if owner.symbol is None else (owner.symbol, "[]", *at), owner.lineage, owner.reach)


def _is_fixed(index: Value) -> bool:
    """Whether an index is made of constants."""
    match index:
        case Tup(items=parts):
            return all(map(_is_fixed, parts))
        case SliceValue(lower, upper, step):
            return all(map(_is_fixed, (lower, upper, step)))
    return isinstance(index, Const)


def _object_item(m: Machine, owner: Ref, index: Value) -> Value:
    found = m.obj(owner)
    match found:
        case ListObj(items=items, rest=rest):
            return _from_items(m, owner, items, rest, index)
        case DictObj():
            return dict_item(m, owner, found, index)
        case Instance():
            if find_in_class(m, found.cls, "__getitem__") is not None:
                return call_method(m, owner, "__getitem__", Args([index]))
            return Unknown(None, None, None, (owner.id,))
    return Unknown() if found is None else model_of(found).get_item(m, owner, found, index)


def _from_items(m: Machine, owner: Value, items: tuple[Value, ...], rest: Value | None, index: Value) -> Value:
    if isinstance(index, SliceValue):
        cut = python_slice(index)
        if cut is None or (rest is not None and (cut.start or 0) < 0):
            return _some_of(m, owner, items, rest)
        if isinstance(owner, Tup):
            return Tup(items[cut], owner.kind if owner.kind in TUPLES and TUPLES[owner.kind].sliced else "tuple")
        if rest is not None and (cut.stop is None or cut.stop < 0 or cut.stop > len(items)):
            return m.new(ListObj(items[cut.start :], rest))
        return m.new(ListObj(PORTS.likely.picked(m, items[cut])))
    at = whole(index)
    if at is None:
        stored = cell(m, owner, index)
        return _element(m, items, rest) if stored is None else stored
    if rest is None:
        if -len(items) <= at < len(items):
            return items[at] if isinstance(owner, Tup) else PORTS.likely.picked(m, (items[at],))[0]
        if items and m.record.supposes_counts:
            return _element(m, items, None)
        raise PyRaise("IndexError")
    if 0 <= at < len(items):
        return items[at]
    found = m.obj(owner)
    if isinstance(found, ListObj) and found.distinct and isinstance(owner, Ref) and isinstance(rest, Ref):
        if 0 <= at < SHOWN:
            items += tuple(another(m, rest) for _ in range(at + 1 - len(items)))
            m.st.put(owner.id, replace(found, items=items))
            return items[at]
    stored = cell(m, owner, index)
    if stored is not None:
        return stored
    return rest if not items or at >= 0 else _element(m, (items[-1],), rest)


def _some_of(m: Machine, owner: Value, items: tuple[Value, ...], rest: Value | None) -> Value:
    if isinstance(owner, Tup) and owner.kind in TUPLES and TUPLES[owner.kind].sliced:
        return Unknown(owner.kind)
    return m.new(ListObj((), _element(m, items, rest)))


def _element(m: Machine, items: tuple[Value, ...], rest: Value | None) -> Value:
    """One of the elements, unknown which."""
    m.record.imprecisions += 1
    values: tuple[Value, ...] = (*items, *((rest,) if rest is not None else ()))
    is_one = all(v == values[0] for v in values)
    if not is_one and len(values) <= 3 and all(isinstance(v, Ref | Const) for v in values):
        return values[m.choose(len(values))]
    return one_of(*values)


def dict_item(m: Machine, owner: Ref, found: DictObj, index: Value) -> Value:
    value = found.items.get(index) if is_key(m, index) else None
    if value is not None:
        return value
    if found.factory is not None and is_key(m, index) and found.rest is None:
        made = call(m, found.factory, Args())
        if not all(is_exact_key(key) for key in (index, *found.order)):
            made = one_of(made, *found.values)  # the key may be one that is there
        _store(m, owner, index, made)
        return made
    if found.factory is not None:
        # It has such a key, or keeps what its factory makes under one that nobody knows.
        made = call(m, found.factory, Args())
        kept = made if found.rest is None else one_of(found.rest, made)
        m.st.put(owner.id, replace(found, rest=kept, keys=None))
        return one_of(*found.values, kept)
    is_stand_in = m.config.presumes and m.tensor(index) is not None  # what stands for something unknown may be any key
    surely_absent = found.rest is None and not is_stand_in and is_key(m, index)
    if surely_absent and all(is_exact_key(key) for key in (index, *found.order)):
        raise PyRaise("KeyError")
    part = part_under(m, found, index)
    if part is not None:
        return part
    item = _element(m, tuple(found.values), found.rest)
    if m.config.presumes and isinstance(item, Unknown) and item.symbol is None and item.reach:
        return replace(item, symbol=m.fresh())  # so that it is known of what a method is that is called
    return item


def _is_loaded(m: Machine, symbol: object) -> bool:
    return symbol in m.indexes.loaded


def part_under(m: Machine, found: DictObj, key: Value) -> Unknown | None:
    """What a dict of data under unknown keys holds under a key: data, for each key others."""
    rest = found.rest
    if found.order or not isinstance(rest, Unknown) or not isinstance(key, Const):
        return None
    return replace(rest, symbol=(rest.symbol, key.value)) if m.test(_is_loaded, rest.symbol) else None


def _store(m: Machine, owner: Ref, index: Value, value: Value) -> None:
    found = m.st.get(owner.id)
    assert isinstance(found, DictObj)
    order = found.order if index in found.items else (*found.order, index)
    items = found.items.set(index, value)
    alike = [key for key in found.order if key != index and not (is_exact_key(key) and is_exact_key(index))]
    for key in alike:
        # Two keys of which one is known by a symbol alone may be one.
        items = items.set(key, one_of(items[key], value))
    m.st.put(owner.id, replace(found, items=items, order=order))


def set_item(m: Machine, owner: Value, index: Value, value: Value) -> None:
    owner = PORTS.likely.stand_in(m, owner) or owner
    found = m.obj(owner)
    if not isinstance(owner, Ref):
        if isinstance(owner, Unknown) and owner.type is None:
            m.record.unresolved.data = True
            havoc_written(m, owner)
            note_part(m, owner, value)
            for ident in owner.reach:
                if isinstance(m.st.find(ident), ListObj | DictObj):
                    set_item(m, Ref(ident), Unknown(), value)
        return
    match found:
        case ListObj(items=items, rest=rest):
            _set_list_item(m, owner, found, items, rest, index, value)
        case DictObj():
            if is_key(m, index):
                _store(m, owner, index, value)
            else:
                rest_ = value if found.rest is None else one_of(found.rest, value)
                blurred = {k: one_of(v, value) for k, v in found.entries}
                m.st.put(owner.id, replace(found, items=found.items.update(blurred), rest=rest_, keys=None))
        case Instance():
            if find_in_class(m, found.cls, "__setitem__") is not None:
                call_method(m, owner, "__setitem__", Args([index, value]))
        case other if other is not None:
            model_of(other).set_item(m, owner, other, index, value)


def _set_list_item(
    m: Machine, owner: Ref, found: ListObj, items: tuple[Value, ...], rest: Value | None, index: Value, value: Value
) -> None:
    at = whole(index)
    if at is not None and at < 0 and rest is None:
        at += len(items)
    if at is not None and 0 <= at < len(items):
        m.st.put(owner.id, replace(found, items=(*items[:at], value, *items[at + 1 :])))
        return
    values = reach_of(*items, value, *((rest,) if rest is not None else ()))
    m.st.put(owner.id, replace(found, items=(), rest=Unknown(None, None, None, values)))
    note_cell(m, owner, index, value)


def delete_item(m: Machine, owner: Value, index: Value) -> None:
    found = m.obj(owner)
    if not isinstance(owner, Ref):
        return
    match found:
        case ListObj() if isinstance(index, SliceValue) and python_slice(index) == slice(None, None, None):
            tell(m, Emptied(owner.id))
            m.st.put(owner.id, replace(found, items=(), rest=None))
        case ListObj(items=items, rest=None):
            at = whole(index)
            if at is not None and -len(items) <= at < len(items):
                at %= len(items)
                m.st.put(owner.id, replace(found, items=(*items[:at], *items[at + 1 :])))
                return
            cut = python_slice(index) if isinstance(index, SliceValue) else None
            left = list(items)
            if cut is not None:
                del left[cut]
                m.st.put(owner.id, replace(found, items=tuple(left)))
                return
            m.st.put(owner.id, replace(found, items=(), rest=_element(m, items, None)))
        case DictObj():
            if index in found.items:
                order = tuple(k for k in found.order if k != index)
                m.st.put(owner.id, replace(found, items=found.items.delete(index), order=order))
            elif not is_key(m, index):
                rest_ = one_of(*found.values, *((found.rest,) if found.rest is not None else ()))
                m.st.put(owner.id, replace(found, rest=rest_, keys=None))
        case Instance():
            if find_in_class(m, found.cls, "__delitem__") is not None:
                call_method(m, owner, "__delitem__", Args([index]))


def is_key(m: Machine, key: Value) -> bool:
    """Whether a dict key is known well enough to be told apart from others."""
    match key:
        case Const() | Builtin() | Func():
            return True
        case Unknown(symbol=symbol):
            return symbol is not None
        case Tup(items=items):
            return all(is_key(m, item) for item in items)
        case Ref():
            found = m.obj(key)
            return isinstance(found, Instance | ClassObj) or model_of(found).is_key
    return False


def is_exact_key(key: Value) -> bool:
    """Whether a key that is not found is definitely absent: one known only by a symbol may equal any other."""
    match key:
        case Unknown():
            return False
        case Tup(items=items):
            return all(is_exact_key(item) for item in items)
    return True
