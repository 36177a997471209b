"""How each kind of thing is put beside another one (see `looking`)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from analyzers.domain.lineage import Lineage
from analyzers.domain.looking import SIMPLE, Fields, Looking, Matcher, Matchers
from analyzers.domain.objects import Counter, Node, Saved, Storage, Tensor
from analyzers.domain.renaming import SMALLEST_ID, Mismatch, Renaming
from analyzers.domain.state import BLOCK_BITS
from analyzers.domain.values import Const, Native
from analyzers.maps import Map

TENSOR_PARTS = tuple([each.name for each in fields(Tensor) if each.name not in {"attr_version", "grad", "lineage"}])


class _IdMatcher(Matcher):
    __slots__ = ("_one",)

    def __init__(self, one: int) -> None:
        self._one = one

    def match(self, renaming: Renaming, other: Any) -> None:
        if type(other) is not int or other >> BLOCK_BITS != renaming.block:
            raise Mismatch
        renaming.bind(self._one, other)


def _match_int(look: Looking, one: int) -> Matcher | None:
    return _IdMatcher(one) if one >= SMALLEST_ID and look.is_own(one) else None


class _TupleMatcher(Matcher):
    __slots__ = ("_one", "_parts")

    def __init__(self, one: tuple[Any, ...], parts: list[Matcher | None]) -> None:
        self._one = one
        self._parts = parts

    def match(self, renaming: Renaming, other: Any) -> None:
        one = self._one
        if type(other) is not tuple or len(other) != len(one):
            raise Mismatch
        for index, part in enumerate(self._parts):
            if part is not None:
                part.match(renaming, other[index])
            elif one[index] != other[index]:
                raise Mismatch


def _match_tuple(look: Looking, one: tuple[Any, ...]) -> Matcher | None:
    parts = [None if type(item) in SIMPLE else look.matcher(item) for item in one]
    return _TupleMatcher(one, parts) if any(part is not None for part in parts) else None


def _match_set(look: Looking, one: frozenset[Any]) -> Matcher | None:
    return Matcher() if any(look.matcher(item) is not None for item in one) else None


class _MapMatcher(Matcher):
    __slots__ = ("_parts",)

    def __init__(self, parts: list[tuple[Any, Any, Matcher | None]]) -> None:
        self._parts = parts

    def match(self, renaming: Renaming, other: Any) -> None:
        if type(other) is not Map or len(other) != len(self._parts):
            raise Mismatch
        for key, mine, part in self._parts:
            item = other.get(key, other)
            if part is not None:
                part.match(renaming, item)
            elif mine is not item and mine != item:
                raise Mismatch


def _match_map(look: Looking, one: Map[Any, Any]) -> Matcher | None:
    if any(look.renamer(key) is not None for key in one):
        return Matcher()
    parts = [(key, value, look.matcher(value)) for key, value in one.items()]
    return _MapMatcher(parts) if any(part is not None for _, _, part in parts) else None


class _ConstMatcher(Matcher):
    __slots__ = ("_kind", "_lineage", "_value")

    def __init__(self, one: Const) -> None:
        self._kind = type(one.value)
        self._value: Any = one.value
        self._lineage = one.lineage

    def match(self, renaming: Renaming, other: Any) -> None:
        if type(other) is not Const or type(other.value) is not self._kind:
            raise Mismatch
        if other.value is not self._value and other.value != self._value:
            raise Mismatch
        renaming.match_trail(self._lineage, other.lineage)


def _match_const(look: Looking, one: Const) -> Matcher | None:
    del look
    return _ConstMatcher(one)


class _TrailMatcher(Matcher):
    __slots__ = ("_one",)

    def __init__(self, one: Lineage) -> None:
        self._one = one

    def match(self, renaming: Renaming, other: Any) -> None:
        renaming.match_trail(self._one, other)


def _match_lineage(look: Looking, one: Lineage) -> Matcher | None:
    del look
    return _TrailMatcher(one)


def _match_hidden(look: Looking, one: object) -> Matcher | None:
    """What something native holds nobody sees; counters and storages are matched by whoever knows their ids."""
    del look, one
    return Matcher()


class _TensorMatcher(Matcher):
    """All but its gradient, which most of those who look at a tensor do not look at."""

    __slots__ = ("_counter", "_is_view", "_lineage", "_rest", "_version")

    def __init__(self, one: Tensor, rest: Matcher) -> None:
        self._rest = rest
        self._lineage = one.lineage
        self._counter = one.counter
        self._version = one.attr_version
        self._is_view = one.base is not None

    def match(self, renaming: Renaming, other: Any) -> None:
        self._rest.match(renaming, other)
        renaming.match_trail(self._lineage, other.lineage)
        if self._is_view:
            renaming.match_writes(self._counter, self._version, other.attr_version)
        elif self._version != other.attr_version:
            raise Mismatch


def _match_tensor(look: Looking, one: Tensor) -> Matcher | None:
    return _TensorMatcher(one, look.fields(one, TENSOR_PARTS) or Fields(one, TENSOR_PARTS, []))


class _NodeMatcher(Matcher):
    """A node is matched with itself alone, and with what it mentions."""

    __slots__ = ("_inner", "_one")

    def __init__(self, one: Node, inner: Matcher | None) -> None:
        self._one = one
        self._inner = inner

    def match(self, renaming: Renaming, other: Any) -> None:
        if other is not self._one:
            raise Mismatch
        if self._inner is not None:
            self._inner.match(renaming, other)


def _match_node(look: Looking, one: Node) -> Matcher | None:
    return _NodeMatcher(one, look.fields(one, ("edges", "saved", "payload", "scalars", "hooks")))


def _match_saved(look: Looking, one: Saved) -> Matcher | None:
    """It is matched with itself alone, as a part of its node."""
    return look.fields(one, ("counter", "tensor", "storage", "lineage", "packed", "unpack"))


MATCHERS: Final[Matchers] = {
    int: _match_int, tuple: _match_tuple, frozenset: _match_set, Map: _match_map, Const: _match_const,
    Native: _match_hidden, Tensor: _match_tensor, Counter: _match_hidden, Storage: _match_hidden, Node: _match_node,
    Saved: _match_saved, Lineage: _match_lineage,
}  # fmt: skip
