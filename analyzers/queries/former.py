"""Former values of queries, with the values they were computed from, for when a change is undone.

Values that have *rested*, which is to hold for longer than one revision, are kept rather than those that each key
pressed replaces: while a word is typed, the value from before it rests and those of its beginnings do not.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)


class Former(Generic[C]):
    """A value of a cell, and what it read of which cells; `since` is the revision in which it last came up.

    Not a dataclass: mypyc compiles none that is generic.
    """

    __slots__ = ("cell", "has_rested", "made_at", "read", "reads", "since", "value")

    def __init__(
        self, cell: C, value: object, made_at: int, reads: tuple[C, ...], read: tuple[object | None, ...]
    ) -> None:
        self.cell = cell
        self.value = value
        self.made_at = made_at
        self.reads = reads
        self.read = read
        self.since = 0
        self.has_rested = False


class Formers(Generic[C]):
    """Lists of former values, one for each query; the last of a list is the one that came up last."""

    def __init__(self) -> None:
        self._kept: dict[object, list[Former[C]]] = {}

    def of(self, owner: object, cell: C) -> list[Former[C]]:
        return [former for former in self._kept.get(owner, ()) if former.cell == cell]

    def keep(self, owner: object, newest: Former[C], revision: int, most: int) -> None:
        """Keep a value that holds now, and no more than `most` of its owner."""
        kept = self._kept.setdefault(owner, [])
        before = [former for former in kept if former.cell == newest.cell and former is not newest]
        if not before:
            newest.has_rested = True
        elif revision - before[-1].since > 1:
            before[-1].has_rested = True
        newest.since = revision
        if newest in kept:
            kept.remove(newest)
        kept.append(newest)
        if len(kept) > most:
            kept.remove(next((former for former in kept[:-1] if not former.has_rested), kept[0]))

    def clear(self) -> None:
        self._kept.clear()
