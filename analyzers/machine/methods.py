"""Methods of Python's own types: lists, dicts, sets, strings; and of what the library makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from immutables import Map

from analyzers.domain.join import one_of, reach_of, united
from analyzers.domain.objects import (
    Array,
    DictObj,
    Generator,
    Instance,
    Iterator,
    ListObj,
    SetObj,
    Tensor,
)
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Builtin,
    Const,
    Func,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.calls import Args, unknown_call
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.expressions import is_exact_key, is_key
from analyzers.machine.operators import concatenated, contains, equal


def call_bound(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    found = m.obj(receiver)
    if name.startswith("object."):
        return _object_method(m, receiver, name[7:], args)
    match found:
        case Tensor():
            from analyzers.machine.tensor_attributes import call_tensor_method

            assert isinstance(receiver, Ref)
            return call_tensor_method(m, receiver, name, args)
        case ListObj():
            return _list_method(m, receiver, found, name, args)
        case DictObj():
            return _dict_method(m, receiver, found, name, args)
        case SetObj():
            return _set_method(m, receiver, found, name, args)
        case Array():
            from analyzers.machine.numpy_calls import call_array_method

            assert isinstance(receiver, Ref)
            return call_array_method(m, receiver, found, name, args)
        case Iterator() | Generator():
            from analyzers.machine.generators import advance

            assert isinstance(receiver, Ref)
            return advance(m, receiver, None) if name in {"__next__", "send"} else NONE
        case Instance():
            from analyzers.machine.library import call_instance_method

            return call_instance_method(m, receiver, found, name, args)
    if name == "Function.apply":
        from analyzers.machine.custom import apply_function

        return apply_function(m, receiver, args)
    match receiver:
        case Const(value=value):
            return _constant_method(m, value, name, args)
        case Tup(items=items):
            return _tuple_method(m, receiver, items, name, args)
        case Unknown():
            return unknown_method(m, receiver, name, args)
        case Func():
            return Unknown()
    return unknown_call(m, receiver, args)


def _object_method(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    from analyzers.machine.attributes import store_attribute

    found = m.obj(receiver)
    if name == "__setattr__" and isinstance(found, Instance) and isinstance(receiver, Ref):
        key, value = args.get(0, "name"), args.get(1, "value")
        if isinstance(key, Const) and isinstance(key.value, str):
            store_attribute(m, receiver, found, key.value, value)
        return NONE
    if name == "__getattribute__":
        return Unknown()
    return NONE


STRING_PURE = frozenset(name for name in dir(str) if not name.startswith("_"))


def _constant_method(m: Machine, value: object, name: str, args: Args) -> Value:
    if isinstance(value, str | bytes | int | float | complex):
        if all(isinstance(a, Const) for a in args.all()) and not args.open:
            try:
                result = getattr(value, name)(*(a.value for a in args.pos), **{k: v.value for k, v in args.kw.items()})  # type: ignore[union-attr]
            except Exception:
                return Unknown()
            return lift(m, result)
        if isinstance(value, str):
            return _text_method(m, name)
    return Unknown()


_TEXT = {
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), "int"),
    **dict.fromkeys(("endswith", "startswith"), "bool"),
    **{name: "bool" for name in dir(str) if name.startswith("is")},
    **dict.fromkeys(
        ("capitalize", "casefold", "center", "expandtabs", "format", "format_map", "join", "ljust", "lower", "lstrip",
         "removeprefix", "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate",
         "upper", "zfill"),
        "str",
    ),
    "encode": "bytes",
}  # fmt: skip
"""The type of what the methods of a string give."""


def _text_method(m: Machine, name: str) -> Value:
    """What a method of some string gives, on arguments that are not all known."""
    if name in {"split", "rsplit", "splitlines"}:
        return m.new(ListObj((), Unknown("str")))
    if name in {"partition", "rpartition"}:
        return Tup((Unknown("str"),) * 3)
    return Unknown(_TEXT.get(name))


def lift(m: Machine, result: object) -> Value:
    """A Python value as one of ours."""
    if isinstance(result, list):
        return m.new(ListObj(tuple(lift(m, r) for r in result)))
    if isinstance(result, tuple):
        return Tup(tuple(lift(m, r) for r in result))
    if result is None or isinstance(result, bool | int | float | complex | str | bytes):
        return Const(result)
    return Unknown()


def _tuple_method(m: Machine, receiver: Tup, items: tuple[Value, ...], name: str, args: Args) -> Value:
    if name == "numel" and receiver.kind == "torch.Size":
        total = 1
        for item in items:
            if not isinstance(item, Const) or not isinstance(item.value, int):
                return Unknown("int")
            total *= item.value
        return Const(total)
    if name in {"index", "count"}:
        verdicts = [equal(m, item, args.get(0, "value")) for item in items]
        if None not in verdicts:
            return Const(
                verdicts.index(True) if name == "index" and True in verdicts else sum(bool(v) for v in verdicts)
            )
        return Unknown("int")
    if name == "_replace" and receiver.names:
        return Tup(
            tuple(args.kw.get(n, i) for n, i in zip(receiver.names, items, strict=True)),
            receiver.kind, receiver.names, receiver.cls,
        )  # fmt: skip
    if name == "_asdict":
        entries: dict[Value, Value] = {Const(n): i for n, i in zip(receiver.names, items, strict=True)}
        return m.new(DictObj(Map(entries), tuple(entries)))
    if receiver.cls is not None:
        from analyzers.machine.attributes import bind, find_in_class
        from analyzers.machine.calls import call

        method = find_in_class(m, receiver.cls, name)
        if method is not None:
            return call(m, bind(m, method, receiver, Ref(receiver.cls)), args)
    return Unknown()


def unknown_method(m: Machine, receiver: Unknown, name: str, args: Args) -> Value:
    """A method of something unknown; one that only tensors have says what it is."""
    from analyzers.machine.tensor_attributes import TENSOR_ONLY

    if receiver.type == "str":
        return _text_method(m, name)
    if receiver.type in {"int", "float", "bool", "complex", "bytes"}:
        return Unknown()
    if receiver.type == "torch.Size":
        return Unknown("int")
    if name in TENSOR_ONLY and receiver.type is None:
        return _unknown_tensor_method(m, receiver, name, args)
    return unknown_call(m, receiver, args)


def _unknown_tensor_method(m: Machine, receiver: Unknown, name: str, args: Args) -> Value:
    from analyzers.machine.havoc import havoc_value

    lineage = m.trail(name, m.parents([receiver, *args.pos]))
    if name == "backward":
        m.trains = True
        if m.presumes:
            from analyzers.machine.calls import call_method
            from analyzers.machine.presumed import presumed_loss

            loss = presumed_loss(m, receiver)
            if loss != receiver:
                return call_method(m, loss, name, args)
        from analyzers.machine.backward import blur_after_unknown
        from analyzers.machine.events import BackwardCall
        from analyzers.machine.tensors import subject_name

        blur_after_unknown(m)
        m.note(BackwardCall(m.site(), subject_name(m), receiver.lineage, False, (), None, True, m.st.assumed))
        return NONE
    if name == "item":
        return Unknown(None, None, lineage)
    if name in {"detach", "numpy"}:
        if name == "numpy":
            return Unknown(None, None, lineage)
        # Whatever it is, what `detach` gives has no graph; its memory may be anyone's.
        ref = m.new_tensor(None, None, lineage=lineage)
        from analyzers.machine.tensors import blur_tensor, tensor_at

        blur_tensor(m, ref.id)
        tensor_at(m, ref.id).inference = None
        return ref
    if name == "retain_grad" or (name.endswith("_") and not name.endswith("__")):
        havoc_value(m, receiver)
        return NONE if name == "retain_grad" else receiver
    operands = [receiver, *args.pos, *args.kw.values()]
    from analyzers.machine.torch_calls import opaque_result

    return opaque_result(m, name, operands)


# --- lists ------------------------------------------------------------------------------------------------------


def _list_method(m: Machine, receiver: Value, found: ListObj, name: str, args: Args) -> Value:
    assert isinstance(receiver, Ref)
    items, rest = found.items, found.rest

    def put(new_items: tuple[Value, ...], new_rest: Value | None) -> Value:
        limit = found.limit
        if limit is not None and len(new_items) > limit:
            new_items = new_items[-limit:]
        m.st.put(receiver.id, replace(found, items=new_items, rest=new_rest))
        return NONE

    match name:
        case "append":
            value = args.get(0, "object")
            _note_kept(m, found, (value,))
            if rest is None:
                return put((*items, value), None)
            return put(items, one_of(rest, value))
        case "appendleft":
            _note_kept(m, found, (args.get(0, "object"),))
            return put((args.get(0, "object"), *items), rest)
        case "extend" | "extendleft":
            from analyzers.machine.iteration import stream_of

            stream = stream_of(m, args.get(0, "iterable")).drained(m)
            _note_kept(m, found, stream.items)
            both = concatenated(found, ListObj(stream.items, stream.rest))
            return put(both.items, both.rest)
        case "insert":
            at = args.get(0, "index")
            if isinstance(at, Const) and isinstance(at.value, int) and rest is None:
                listed = list(items)
                listed.insert(at.value, args.get(1, "object"))
                return put(tuple(listed), None)
            return put((), one_of(*items, *_some(rest), args.get(1, "object")))
        case "pop" | "popleft":
            return _pop(m, items, rest, Const(0) if name == "popleft" else args.get(0, "index", Const(-1)), put)
        case "clear":
            return put((), None)
        case "copy" | "__copy__":
            return m.new(replace(found))
        case "reverse":
            return put(items[::-1], None) if rest is None else put((), one_of(*items, rest))
        case "sort":
            from analyzers.machine.ordering import in_order

            ordered = in_order(m, items, args) if rest is None else None
            return put((), _any(items, rest)) if ordered is None else put(ordered, None)
        case "remove":
            value = args.get(0, "value")
            verdicts = [equal(m, i, value) for i in items]
            if True in verdicts and None not in verdicts[: verdicts.index(True)]:
                at_ = verdicts.index(True)
                return put((*items[:at_], *items[at_ + 1 :]), rest)
            return put((), _any(items, rest))
        case "index" | "count":
            if rest is None:
                return _tuple_method(m, Tup(items), items, name, args)
            return Unknown("int")
        case "__len__":
            return Const(len(items)) if rest is None else Unknown("int")
        case "__iter__":
            return m.new(Iterator(receiver))
        case "__getitem__":
            from analyzers.machine.subscripts import get_item

            return get_item(m, receiver, args.get(0, "key"))
        case "__contains__":
            verdict = contains(m, receiver, args.get(0, "key"))
            return Unknown("bool") if verdict is None else Const(verdict)
        case "rotate":
            return put((), _any(items, rest))
    return Unknown()


def _any(items: tuple[Value, ...], rest: Value | None) -> Value | None:
    values = (*items, *_some(rest))
    return one_of(*values) if values else None


def _note_kept(m: Machine, found: ListObj, new: Iterable[Value]) -> None:
    from analyzers.machine.growth import note_kept

    if not m.frame.library:
        note_kept(m, _owner_name(m), (*found.items, *((found.rest,) if found.rest is not None else ())), new)


def _owner_name(m: Machine) -> str:
    from analyzers.machine.tensors import subject_name

    return subject_name(m)


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


# --- dicts and sets ---------------------------------------------------------------------------------------------


def _dict_method(m: Machine, receiver: Value, found: DictObj, name: str, args: Args) -> Value:
    from analyzers.machine.subscripts import dict_item, set_item

    assert isinstance(receiver, Ref)
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
            _update(m, receiver, args)
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
    from analyzers.machine.subscripts import set_item

    if not is_key(m, key):
        return Unknown(None, None, None, reach_of(*found.values, default))
    value = found.items.get(key)
    if value is not None:
        if name == "pop":
            order = tuple(k for k in found.order if k != key)
            m.st.put(receiver.id, replace(found, items=found.items.delete(key), order=order))
        return value
    if found.rest is not None or (not is_exact_key(key) and found.order):
        return Unknown(None, None, None, reach_of(*_some(found.rest), *found.values, default))
    if name == "setdefault":
        set_item(m, receiver, key, default)
    if name == "pop" and len(args.pos) < 2 and "default" not in args.kw:
        raise PyRaise("KeyError")
    return default


def _some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)


def _update(m: Machine, receiver: Ref, args: Args) -> None:
    from analyzers.machine.iteration import stream_of
    from analyzers.machine.subscripts import set_item

    for value in args.pos:
        other = m.obj(value)
        if isinstance(other, DictObj):
            for key in other.order:
                set_item(m, receiver, key, other.items[key])
            if other.rest is not None:
                mine = m.st.get(receiver.id)
                assert isinstance(mine, DictObj)
                rest = other.rest if mine.rest is None else one_of(mine.rest, other.rest)
                m.st.put(receiver.id, replace(mine, rest=rest, keys=united(mine.perhaps, other.perhaps) or None))
            continue
        stream = stream_of(m, value).drained(m)
        for item in stream.items:
            if isinstance(item, Tup) and len(item.items) == 2:
                set_item(m, receiver, item.items[0], item.items[1])
        if stream.rest is not None:
            mine = m.st.get(receiver.id)
            assert isinstance(mine, DictObj)
            m.st.put(receiver.id, replace(mine, rest=Unknown(), keys=None))
    for name, value in args.kw.items():
        set_item(m, receiver, Const(name), value)


def _set_method(m: Machine, receiver: Value, found: SetObj, name: str, args: Args) -> Value:
    assert isinstance(receiver, Ref)
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
            from analyzers.machine.iteration import stream_of

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


__all__ = ["FALSE", "TRUE", "Builtin", "call_bound", "lift"]
