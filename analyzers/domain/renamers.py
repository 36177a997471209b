"""How each kind of thing is said of other objects (see `looking`)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from analyzers.domain.lineage import Lineage, Loc, Round
from analyzers.domain.looking import SIMPLE, Looking, Renamer, Renamers
from analyzers.domain.objects import Node, Saved, Tensor
from analyzers.domain.renaming import SMALLEST_ID, Number, Renaming, Rounds, Version
from analyzers.domain.values import Const
from analyzers.maps import Map

TENSOR = tuple([each.name for each in fields(Tensor)])
SAVED = tuple([each.name for each in fields(Saved)])
NODE = tuple([each.name for each in fields(Node)])


class _IdRenamer(Renamer):
    __slots__ = ("_ident",)

    def __init__(self, ident: int) -> None:
        self._ident = ident

    def rename(self, renaming: Renaming) -> Any:
        return renaming.ident(self._ident)


def _rename_int(look: Looking, value: int) -> Renamer | None:
    if value < SMALLEST_ID or not look.is_own(value):
        return None
    look.mentioned.append(value)
    return _IdRenamer(value)


class _TupleRenamer(Renamer):
    __slots__ = ("_items", "_parts")

    def __init__(self, items: list[Any], parts: list[tuple[int, Renamer]]) -> None:
        self._items = items
        self._parts = parts

    def rename(self, renaming: Renaming) -> Any:
        given = self._items[:]
        for index, part in self._parts:
            given[index] = part.rename(renaming)
        return tuple(given)


def _rename_tuple(look: Looking, value: tuple[Any, ...]) -> Renamer | None:
    parts = [
        (index, part)
        for index, item in enumerate(value)
        if type(item) not in SIMPLE and (part := look.renamer(item)) is not None
    ]
    return _TupleRenamer(list(value), parts) if parts else None


class _SetRenamer(Renamer):
    __slots__ = ("_items",)

    def __init__(self, items: Renamer) -> None:
        self._items = items

    def rename(self, renaming: Renaming) -> Any:
        return frozenset(self._items.rename(renaming))


def _rename_set(look: Looking, value: frozenset[Any]) -> Renamer | None:
    items = _rename_tuple(look, tuple(value))
    return None if items is None else _SetRenamer(items)


class _MapRenamer(Renamer):
    """A map whose keys stay as they are."""

    __slots__ = ("_parts", "_value")

    def __init__(self, value: Map[Any, Any], parts: list[tuple[Any, Renamer]]) -> None:
        self._value = value
        self._parts = parts

    def rename(self, renaming: Renaming) -> Any:
        changed = self._value.mutate()
        for key, part in self._parts:
            changed[key] = part.rename(renaming)
        return changed.finish()


class _KeysRenamer(Renamer):
    __slots__ = ("_entries",)

    def __init__(self, entries: list[tuple[Any, Renamer | None, Any, Renamer | None]]) -> None:
        self._entries = entries

    def rename(self, renaming: Renaming) -> Any:
        return Map(
            {
                key if named is None else named.rename(renaming): item if part is None else part.rename(renaming)
                for key, named, item, part in self._entries
            }
        )


def _rename_map(look: Looking, value: Map[Any, Any]) -> Renamer | None:
    entries = [(key, look.renamer(key), item, look.renamer(item)) for key, item in value.items()]
    if any(named is not None for _, named, _, _ in entries):
        return _KeysRenamer(entries)
    parts = [(key, part) for key, _, _, part in entries if part is not None]
    return _MapRenamer(value, parts) if parts else None


class _ConstRenamer(Renamer):
    __slots__ = ("_lineage", "_value")

    def __init__(self, value: Any, lineage: Lineage) -> None:
        self._value: Any = value
        self._lineage = lineage

    def rename(self, renaming: Renaming) -> Any:
        return Const(self._value, renaming.trail(self._lineage))


def _rename_const(look: Looking, value: Const) -> Renamer | None:
    del look
    return None if value.lineage is None else _ConstRenamer(value.value, value.lineage)


class _TrailRenamer(Renamer):
    __slots__ = ("_lineage",)

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage

    def rename(self, renaming: Renaming) -> Any:
        return renaming.trail(self._lineage)


def _rename_lineage(look: Looking, value: Lineage) -> Renamer | None:
    del look
    return _TrailRenamer(value)


class _VersionRenamer(Renamer):
    """How often `holder`, a counter, has counted."""

    __slots__ = ("_holder", "_version")

    def __init__(self, holder: int, version: int) -> None:
        self._holder = holder
        self._version = version

    def rename(self, renaming: Renaming) -> Any:
        return renaming.version(self._holder, self._version)


def _rename_tensor(look: Looking, value: Tensor) -> Renamer | None:
    at = None if value.base is None else _VersionRenamer(value.counter, value.attr_version)
    return look.made_of(value, TENSOR, {"attr_version": at})


class _WritesRenamer(Renamer):
    """How often a storage has been written."""

    __slots__ = ("_storage", "_writes")

    def __init__(self, storage: int, writes: int) -> None:
        self._storage = storage
        self._writes = writes

    def rename(self, renaming: Renaming) -> Any:
        return self._writes + renaming.writes.get(self._storage, 0)


class _CountedRenamer(Renamer):
    """Counters, and at which version each."""

    __slots__ = ("_among",)

    def __init__(self, among: tuple[tuple[int, int | None], ...]) -> None:
        self._among = among

    def rename(self, renaming: Renaming) -> Any:
        return tuple([(renaming.ident(ident), renaming.version(ident, at)) for ident, at in self._among])


def _rename_saved(look: Looking, value: Saved) -> Renamer | None:
    special: dict[str, Renamer | None] = {}
    if value.counter is not None and value.version is not None:
        special["version"] = _VersionRenamer(value.counter, value.version)
    if value.storage is not None:
        special["writes"] = _WritesRenamer(value.storage, value.writes)
    if value.among:
        look.mentioned += [ident for ident, _ in value.among]
        special["among"] = _CountedRenamer(value.among)
    return look.made_of(value, SAVED, special)


class _NumberRenamer(Renamer):
    """The number of a node, in the order of all; with `counted` as a `Number`."""

    __slots__ = ("_counted", "_number")

    def __init__(self, number: int, *, counted: bool) -> None:
        self._number = number
        self._counted = counted

    def rename(self, renaming: Renaming) -> Any:
        number = renaming.sequence(self._number)
        return Number(number) if self._counted else number


class _RoundsRenamer(Renamer):
    """The rounds of loops; with `counted` as `Rounds`."""

    __slots__ = ("_counted", "_rounds")

    def __init__(self, rounds: tuple[Round, ...], *, counted: bool) -> None:
        self._rounds = rounds
        self._counted = counted

    def rename(self, renaming: Renaming) -> Any:
        rounds = renaming.epoch(self._rounds)
        return Rounds(rounds) if self._counted else rounds


class _ViaRenamer(Renamer):
    """The calls that led to a node, if the call has made it."""

    __slots__ = ("_number", "_via")

    def __init__(self, number: int, via: tuple[Loc, ...]) -> None:
        self._number = number
        self._via = via

    def rename(self, renaming: Renaming) -> Any:
        return renaming.through(self._via) if renaming.is_new(self._number) else self._via


def _rename_node(look: Looking, value: Node) -> Renamer | None:
    special: dict[str, Renamer | None] = {
        "seq": _NumberRenamer(value.seq, counted=False),
        "epoch": _RoundsRenamer(value.epoch, counted=False),
        "via": _ViaRenamer(value.seq, value.via),
    }
    return look.made_of(value, NODE, special)


class _CounterRenamer(Renamer):
    __slots__ = ("_value",)

    def __init__(self, value: Version) -> None:
        self._value = value

    def rename(self, renaming: Renaming) -> Any:
        counter = self._value.counter
        return Version(renaming.ident(counter), renaming.version(counter, self._value.version))


def _rename_version(look: Looking, value: Version) -> Renamer | None:
    look.mentioned.append(value.counter)
    return _CounterRenamer(value)


def _rename_rounds(look: Looking, value: Rounds) -> Renamer | None:
    del look
    return _RoundsRenamer(value.of, counted=True)


def _rename_number(look: Looking, value: Number) -> Renamer | None:
    del look
    return _NumberRenamer(value.of, counted=True)


RENAMERS: Final[Renamers] = {
    int: _rename_int, tuple: _rename_tuple, frozenset: _rename_set, Map: _rename_map, Const: _rename_const,
    Tensor: _rename_tensor, Node: _rename_node, Saved: _rename_saved, Lineage: _rename_lineage,
    Version: _rename_version, Rounds: _rename_rounds, Number: _rename_number,
}  # fmt: skip
