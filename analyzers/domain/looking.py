"""What can differ between two heaps that lie side by side, found once for each object (see `renaming`).

Both matching and renaming are done many times with one object, which is looked through once: a `Matcher` and a
`Renamer` hold the parts in which anything can differ. They are objects and not functions within functions, so that the
compiled form runs them without the interpreter, and that they are gone with their last reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeAlias

from analyzers.domain.renaming import Mismatch, Renaming
from analyzers.domain.state import BLOCK_BITS


class Matcher:
    """Compares what it was made for with another object. This one, the base of all, is like nothing."""

    __slots__ = ()

    def match(self, renaming: Renaming, other: Any) -> None:
        """Raises `Mismatch` where the other one differs in more than names, which it tells `renaming`."""
        raise Mismatch


class Renamer(ABC):
    """Says again what it was made for, of other objects."""

    __slots__ = ()

    @abstractmethod
    def rename(self, renaming: Renaming) -> Any:
        """What it was made for, by the names that `renaming` gives."""


Mentioned: TypeAlias = tuple[int, ...]

Matchers: TypeAlias = "dict[type, Callable[[Looking, Any], Matcher | None]]"

Renamers: TypeAlias = "dict[type, Callable[[Looking, Any], Renamer | None]]"


class Looking:
    """Looks through objects of a run. Ids of other runs stand for themselves wherever they are."""

    def __init__(self, block: int, matchers: Matchers, renamers: Renamers) -> None:
        """What makes the matchers and renamers of the kinds that are no plain records, by kind."""
        self._block = block >> BLOCK_BITS
        self._special = matchers
        self._renaming = renamers
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
            made, mentioned = self.said_of(value)
            known = self._renamers[id(value)] = (value, made, mentioned)
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
        return Fields(one, equal, different) if different else None

    def renamer(self, value: Any) -> Renamer | None:
        """None where it stays as it is."""
        kind = type(value)
        special = self._renaming.get(kind)
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
        return _Made(type(value), values, parts) if parts else None

    def is_own(self, ident: int) -> bool:
        return ident >> BLOCK_BITS == self._block


class Fields(Matcher):
    """An object by its fields: those that have to be equal, and those in which names may differ."""

    __slots__ = ("_different", "_get", "_has", "_kind")

    def __init__(self, one: Any, equal: Sequence[str], different: list[tuple[str, Matcher]]) -> None:
        self._kind = type(one)
        get: Any = attrgetter(*equal) if equal else None
        self._get: Any = get
        self._has: Any = None if get is None else get(one)
        self._different = different

    def match(self, renaming: Renaming, other: Any) -> None:
        if type(other) is not self._kind or (self._get is not None and self._get(other) != self._has):
            raise Mismatch
        for name, part in self._different:
            part.match(renaming, getattr(other, name))


class _Made(Renamer):
    __slots__ = ("_kind", "_parts", "_values")

    def __init__(self, kind: Any, values: list[Any], parts: list[tuple[int, Renamer]]) -> None:
        self._kind: Any = kind
        self._values = values
        self._parts = parts

    def rename(self, renaming: Renaming) -> Any:
        given = self._values[:]
        for index, part in self._parts:
            given[index] = part.rename(renaming)
        return self._kind(*given)


_FIELDS: dict[type, tuple[str, ...] | None] = {}


def _names(kind: type) -> tuple[str, ...] | None:
    """The fields of what may hold an id; None of what never does: numbers, words, places in the program, its syntax."""
    if kind not in _FIELDS:
        is_plain = kind.__name__ in PLAIN or not hasattr(kind, "__dataclass_fields__")
        is_plain = is_plain or kind.__module__.startswith("analyzers.syntax")
        _FIELDS[kind] = None if is_plain else tuple([each.name for each in fields(kind)])
    return _FIELDS[kind]


SIMPLE = frozenset({bool, float, str, type(None)})
"""What holds no id; asked first, as most fields hold such."""

PLAIN = frozenset({"Loc", "GradMode", "Builtin", "Operand"})
