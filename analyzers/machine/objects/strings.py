"""Attributes and methods of immutable values: strings, numbers, tuples."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, ListObj
from analyzers.domain.values import BoundBuiltin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.missing import none_used
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import TUPLES, VALUES, ValueModel, misused
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.classes import bind, find_in_class
from analyzers.machine.objects.comparisons import equal
from analyzers.machine.objects.folding import TooExpensiveError, fold
from analyzers.maps import Map


def constant_attribute(m: Machine, owner: Const, value: object, name: str) -> Value:
    if value is None and name not in {"__class__", "__doc__", "__bool__", "__eq__", "__ne__", "__hash__", "__str__"}:
        return none_attribute(m, owner, name)
    if not hasattr(value, name):
        kind = type(value).__name__
        raise m.throw("AttributeError", f"'{kind}' object has no attribute '{name}'", lost(m, owner, name))
    if isinstance(value, int | float | complex) and name in {"real", "imag", "numerator", "denominator"}:
        return Const(getattr(value, name))
    return BoundBuiltin(owner, name)


def lost(m: Machine, owner: Const, name: str) -> Plain:
    """The cause if a number has no such attribute: it was a tensor before, if tensors have one."""
    return Plain("number", m.lineage(owner)) if PORTS.tensors.have(name) else Plain()


def none_attribute(m: Machine, owner: Const, name: str) -> Value:
    """`None.name`: an AttributeError, which is often due to a missing gradient."""
    raise none_used(m, owner, "AttributeError", f"'NoneType' object has no attribute '{name}'")


STRING_PURE = frozenset(name for name in dir(str) if not name.startswith("_"))


def constant_method(m: Machine, value: object, name: str, args: Args) -> Value:
    if isinstance(value, str | bytes | int | float | complex):
        if all(isinstance(a, Const) for a in args.all()) and not args.open:
            given = [a.value for a in args.pos if isinstance(a, Const)]
            named = {name: a.value for name, a in args.kw.items() if isinstance(a, Const)}
            try:
                return lift(m, fold(f"{type(value).__name__}.{name}", value, *given, **named))
            except TooExpensiveError:
                return text_method(m, name) if isinstance(value, str) else Unknown()
            except Exception:
                return Unknown()
        if isinstance(value, str):
            return text_method(m, name)
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
"""The result types of string methods."""


def text_method(m: Machine, name: str) -> Value:
    """The result of a string method when the string or an argument is unknown."""
    if name in {"split", "rsplit", "splitlines"}:
        return m.new(ListObj((), Unknown("str")))
    if name in {"partition", "rpartition"}:
        return Tup((Unknown("str"),) * 3)
    return Unknown(_TEXT.get(name))


def lift(m: Machine, result: object) -> Value:
    """Convert a Python value to one of ours."""
    if isinstance(result, list):
        return m.new(ListObj(tuple(lift(m, r) for r in result)))
    if isinstance(result, tuple):
        return Tup(tuple(lift(m, r) for r in result))
    if result is None or isinstance(result, bool | int | float | complex | str | bytes):
        return Const(result)
    return Unknown()


def tuple_method(m: Machine, receiver: Tup, items: tuple[Value, ...], name: str, args: Args) -> Value:
    if receiver.kind in TUPLES and (own := TUPLES[receiver.kind].call_method(m, receiver, name, args)) is not None:
        return own
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
        method = find_in_class(m, receiver.cls, name)
        if method is not None:
            return call(m, bind(m, method, receiver, Ref(receiver.cls)), args)
    return Unknown()


class ConstModel(ValueModel):
    def get_attribute(self, m: Machine, owner: Value, name: str) -> Value:
        assert isinstance(owner, Const)
        return constant_attribute(m, owner, owner.value, name)

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value:
        assert isinstance(owner, Const)
        return constant_method(m, owner.value, name, args)


class TupModel(ValueModel):
    def get_attribute(self, m: Machine, owner: Value, name: str) -> Value:
        assert isinstance(owner, Tup)
        if name in owner.names:
            return owner.items[owner.names.index(name)]
        if not hasattr((), name):
            misused(m, owner, "AttributeError", f"'tuple' object has no attribute '{name}'")
        return BoundBuiltin(owner, name)

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value:
        assert isinstance(owner, Tup)
        return tuple_method(m, owner, owner.items, name, args)


enter(VALUES, Const, ConstModel())
enter(VALUES, Tup, TupModel())
