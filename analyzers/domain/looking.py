"""What can differ between two heaps that lie side by side, found once for each object (see `renaming`).

Both matching and renaming are done many times with one object, which is looked through once: `matcher` and `renamer`
give a function of the parts in which anything can differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, TypeAlias

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Counter, Node, Saved, Storage, Tensor
from analyzers.domain.renaming import SMALLEST_ID, Mismatch, Number, Renaming, Rounds, Version
from analyzers.domain.state import BLOCK_BITS
from analyzers.domain.values import Const, Native
from analyzers.maps import Map

Matcher: TypeAlias = Callable[[Renaming, Any], None]
"""Raises `Mismatch` where another object is not like the one it was made for."""

Renamer: TypeAlias = Callable[[Renaming], Any]

Mentioned: TypeAlias = tuple[int, ...]


def _nothing(renaming: Renaming, other: Any) -> None:
    raise Mismatch


class Looking:
    """Looks through objects of a run. Ids of other runs stand for themselves wherever they are."""

    def __init__(self, block: int, loosely: Matchers | None = None) -> None:
        """`loosely`: how some kinds of things are matched, if not as for a replay."""
        self._block = block >> BLOCK_BITS
        self._special = MATCHERS if loosely is None else MATCHERS | loosely
        self._matchers: dict[int, tuple[Any, Matcher | None]] = {}
        self._renamers: dict[int, tuple[Any, Renamer | None, Mentioned]] = {}
        self.mentioned: list[int] = []
        """The ids of this run that the renamer being made has come by."""

    def matcher_of(self, one: Any) -> Matcher | None:
        """The same for one object each time, which calls within calls share."""
        known = self._matchers.get(id(one))
        if known is None:
            known = self._matchers[id(one)] = (one, self.matcher(one))
        return known[1]

    def renamer_of(self, value: Any) -> tuple[Renamer | None, Mentioned]:
        """The same, and the ids in it."""
        known = self._renamers.get(id(value))
        if known is None:
            known = self._renamers[id(value)] = (value, *self.said_of(value))
        return known[1], known[2]

    def said_of(self, value: Any) -> tuple[Renamer | None, Mentioned]:
        """A renamer, and the ids in the value."""
        self.mentioned = []
        made = self.renamer(value)
        return made, tuple(self.mentioned)

    def matcher(self, one: Any) -> Matcher | None:
        """None where it has to be equal."""
        kind = type(one)
        special = self._special.get(kind)
        if special is not None:
            return special(self, one)
        names = _names(kind)
        if names is None:
            return None
        return self.fields(one, names)

    def fields(self, one: Any, names: Sequence[str]) -> Matcher | None:
        equal: list[str] = []
        different: list[tuple[str, Matcher]] = []
        for name in names:
            value = getattr(one, name)
            part = None if type(value) in SIMPLE else self.matcher(value)
            if part is None:
                equal.append(name)
            else:
                different.append((name, part))
        return _fields_matcher(type(one), one, equal, different) if different else None

    def renamer(self, value: Any) -> Renamer | None:
        """None where it stays as it is."""
        kind = type(value)
        special = RENAMERS.get(kind)
        if special is not None:
            return special(self, value)
        names = _names(kind)
        if names is None:
            return None
        return self.made_of(value, names, {})

    def made_of(self, value: Any, names: Sequence[str], special: dict[str, Renamer | None]) -> Renamer | None:
        """`special` fields are renamed in a way of their own."""
        values = [getattr(value, name) for name in names]
        parts: list[tuple[int, Renamer]] = []
        for index, held in enumerate(values):
            if special and names[index] in special:
                part = special[names[index]]
            else:
                part = None if type(held) in SIMPLE else self.renamer(held)
            if part is not None:
                parts.append((index, part))
        return _maker(type(value), values, parts) if parts else None

    def is_own(self, ident: int) -> bool:
        return ident >> BLOCK_BITS == self._block


def _fields_matcher(kind: type, one: Any, equal: Sequence[str], different: list[tuple[str, Matcher]]) -> Matcher:
    get: Any = attrgetter(*equal) if equal else None
    has = get(one) if get is not None else None

    def match(renaming: Renaming, other: Any) -> None:
        if type(other) is not kind or (get is not None and get(other) != has):
            raise Mismatch
        for name, part in different:
            part(renaming, getattr(other, name))

    return match


def _maker(kind: type, values: list[Any], parts: list[tuple[int, Renamer]]) -> Renamer:
    def make(renaming: Renaming) -> Any:
        given = values[:]
        for index, part in parts:
            given[index] = part(renaming)
        return kind(*given)

    return make


_FIELDS: dict[type, tuple[str, ...] | None] = {}


def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of what may hold an id; None of what never does: numbers, words, places in the program, its syntax."""
    if kind not in _FIELDS:
        is_plain = kind.__name__ in PLAIN or not hasattr(kind, "__dataclass_fields__")
        is_plain = is_plain or kind.__module__.startswith("analyzers.syntax")
        _FIELDS[kind] = None if is_plain else tuple(each.name for each in fields(kind))
    return _FIELDS[kind]


SIMPLE = frozenset({bool, float, str, type(None)})
"""What holds no id; asked first, as most fields hold such."""

PLAIN = frozenset({"Loc", "GradMode", "Builtin", "Operand"})


def _match_int(look: Looking, one: int) -> Matcher | None:
    if one < SMALLEST_ID or not look.is_own(one):
        return None

    def match(renaming: Renaming, other: Any) -> None:
        if type(other) is not int or other >> BLOCK_BITS != renaming.block:
            raise Mismatch
        renaming.bind(one, other)

    return match


def _rename_int(look: Looking, value: int) -> Renamer | None:
    if value < SMALLEST_ID or not look.is_own(value):
        return None
    look.mentioned.append(value)
    return lambda renaming: renaming.ident(value)


def _match_tuple(look: Looking, one: tuple[Any, ...]) -> Matcher | None:
    parts = [None if type(item) in SIMPLE else look.matcher(item) for item in one]
    if not any(parts):
        return None
    size = len(one)

    def match(renaming: Renaming, other: Any) -> None:
        if type(other) is not tuple or len(other) != size:
            raise Mismatch
        for part, mine, item in zip(parts, one, other, strict=True):
            if part is not None:
                part(renaming, item)
            elif mine != item:
                raise Mismatch

    return match


def _rename_tuple(look: Looking, value: tuple[Any, ...]) -> Renamer | None:
    parts = [
        (index, part)
        for index, item in enumerate(value)
        if type(item) not in SIMPLE and (part := look.renamer(item)) is not None
    ]
    if not parts:
        return None
    items = list(value)

    def make(renaming: Renaming) -> tuple[Any, ...]:
        given = items[:]
        for index, part in parts:
            given[index] = part(renaming)
        return tuple(given)

    return make


def _match_set(look: Looking, one: frozenset[Any]) -> Matcher | None:
    return _nothing if any(look.matcher(item) for item in one) else None


def _rename_set(look: Looking, value: frozenset[Any]) -> Renamer | None:
    make = _rename_tuple(look, tuple(value))
    return None if make is None else lambda renaming: frozenset(make(renaming))


def _match_map(look: Looking, one: Map[Any, Any]) -> Matcher | None:
    if any(look.renamer(key) for key in one):
        return _nothing
    parts = [(key, value, look.matcher(value)) for key, value in one.items()]
    if not any(part for _, _, part in parts):
        return None
    size = len(one)

    def match(renaming: Renaming, other: Any) -> None:
        if type(other) is not Map or len(other) != size:
            raise Mismatch
        for key, mine, part in parts:
            item = other.get(key, other)
            if part is not None:
                part(renaming, item)
            elif mine is not item and mine != item:
                raise Mismatch

    return match


def _rename_map(look: Looking, value: Map[Any, Any]) -> Renamer | None:
    keys = [(key, look.renamer(key)) for key in value]
    parts = [(key, part) for key, item in value.items() if (part := look.renamer(item)) is not None]
    if any(part for _, part in keys):
        named = {key: part for key, part in keys if part is not None}
        items = dict(parts)
        return lambda renaming: Map(
            {
                named[key](renaming) if key in named else key: items[key](renaming) if key in items else item
                for key, item in value.items()
            }
        )
    if not parts:
        return None

    def make(renaming: Renaming) -> Map[Any, Any]:
        changed = value.mutate()
        for key, part in parts:
            changed[key] = part(renaming)
        return changed.finish()

    return make


def _match_const(look: Looking, one: Const) -> Matcher | None:
    del look
    lineage, kind, value = one.lineage, type(one.value), one.value

    def match(renaming: Renaming, other: Any) -> None:
        if type(other) is not Const or type(other.value) is not kind:
            raise Mismatch
        if other.value is not value and other.value != value:
            raise Mismatch
        renaming.match_trail(lineage, other.lineage)

    return match


def _rename_const(look: Looking, value: Const) -> Renamer | None:
    del look
    lineage, known = value.lineage, value.value
    return None if lineage is None else lambda renaming: Const(known, renaming.trail(lineage))


def _match_lineage(look: Looking, one: Lineage) -> Matcher | None:
    del look
    return lambda renaming, other: renaming.match_trail(one, other)


def _rename_lineage(look: Looking, value: Lineage) -> Renamer | None:
    del look
    return lambda renaming: renaming.trail(value)


def _match_hidden(look: Looking, one: object) -> Matcher | None:
    """What something native holds nobody sees; counters and storages are matched by whoever knows their ids."""
    del look, one
    return _nothing


TENSOR = tuple(each.name for each in fields(Tensor))
TENSOR_PARTS = tuple(name for name in TENSOR if name not in {"attr_version", "grad", "lineage"})


def _match_tensor(look: Looking, one: Tensor) -> Matcher | None:
    """All but its gradient, which most of those who look at a tensor do not look at."""
    rest = look.fields(one, TENSOR_PARTS) or _fields_matcher(Tensor, one, TENSOR_PARTS, [])
    lineage, counter, version, is_view = one.lineage, one.counter, one.attr_version, one.base is not None

    def match(renaming: Renaming, other: Any) -> None:
        rest(renaming, other)
        renaming.match_trail(lineage, other.lineage)
        if is_view:
            renaming.match_writes(counter, version, other.attr_version)
        elif version != other.attr_version:
            raise Mismatch

    return match


def _rename_tensor(look: Looking, value: Tensor) -> Renamer | None:
    counter, version = value.counter, value.attr_version
    at = None if value.base is None else lambda renaming: renaming.version(counter, version)
    return look.made_of(value, TENSOR, {"attr_version": at})


def _match_node(look: Looking, one: Node) -> Matcher | None:
    inner = look.fields(one, ("edges", "saved", "payload", "scalars", "hooks"))

    def match(renaming: Renaming, other: Any) -> None:
        if other is not one:
            raise Mismatch
        if inner is not None:
            inner(renaming, other)

    return match


SAVED = tuple(each.name for each in fields(Saved))


def _match_saved(look: Looking, one: Saved) -> Matcher | None:
    """It is matched with itself alone, as a part of its node."""
    return look.fields(one, ("counter", "tensor", "storage", "lineage", "packed", "unpack"))


def _rename_saved(look: Looking, value: Saved) -> Renamer | None:
    counter, storage, version, writes, among = value.counter, value.storage, value.version, value.writes, value.among
    special: dict[str, Renamer | None] = {}
    if counter is not None and version is not None:
        special["version"] = lambda renaming: renaming.version(counter, version)
    if storage is not None:
        special["writes"] = lambda renaming: writes + renaming.writes.get(storage, 0)
    if among:
        look.mentioned += [ident for ident, _ in among]
        special["among"] = lambda renaming: tuple(
            [(renaming.ident(ident), renaming.version(ident, at)) for ident, at in among]
        )
    return look.made_of(value, SAVED, special)


NODE = tuple(each.name for each in fields(Node))


def _rename_node(look: Looking, value: Node) -> Renamer | None:
    number, epoch, via = value.seq, value.epoch, value.via
    return look.made_of(
        value,
        NODE,
        {
            "seq": lambda renaming: renaming.sequence(number),
            "epoch": lambda renaming: renaming.epoch(epoch),
            "via": lambda renaming: renaming.through(via) if renaming.is_new(number) else via,
        },
    )


def _rename_version(look: Looking, value: Version) -> Renamer | None:
    look.mentioned.append(value.counter)
    counter, version = value.counter, value.version
    return lambda renaming: Version(renaming.ident(counter), renaming.version(counter, version))


def _rename_rounds(look: Looking, value: Rounds) -> Renamer | None:
    del look
    return lambda renaming: Rounds(renaming.epoch(value.of))


def _rename_number(look: Looking, value: Number) -> Renamer | None:
    del look
    return lambda renaming: Number(renaming.sequence(value.of))


Matchers: TypeAlias = dict[type, Callable[[Looking, Any], Matcher | None]]

MATCHERS: Final[Matchers] = {
    int: _match_int, tuple: _match_tuple, frozenset: _match_set, Map: _match_map, Const: _match_const,
    Native: _match_hidden, Tensor: _match_tensor, Counter: _match_hidden, Storage: _match_hidden, Node: _match_node,
    Saved: _match_saved, Lineage: _match_lineage,
}  # fmt: skip
RENAMERS: Final[dict[type, Callable[[Looking, Any], Renamer | None]]] = {
    int: _rename_int, tuple: _rename_tuple, frozenset: _rename_set, Map: _rename_map, Const: _rename_const,
    Tensor: _rename_tensor, Node: _rename_node, Saved: _rename_saved, Lineage: _rename_lineage,
    Version: _rename_version, Rounds: _rename_rounds, Number: _rename_number,
}  # fmt: skip
