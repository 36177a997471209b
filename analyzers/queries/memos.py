"""Memos of queries' values, which query read what, and which memos may be out of date.

A change of a cell makes the memos *stale* that read it, and those that read these. An eager query's readers wait: it is
*unsettled*, and marks them when it has run and its value is another one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from analyzers.queries.families import ENTRY, Cell, Query, query_of

MISSING = object()
ABSENT = object()


@dataclass(slots=True)
class Slot:
    value: object | None
    changed_at: int


@dataclass(slots=True)
class Memo:
    """`value` is `MISSING` once evicted; what was read still tells whether it changed. Unless `stale`, it holds.
    `made_at` is when the value was made, also of a former one that counts again since `changed_at`."""

    value: object | None
    reads: tuple[Cell, ...]
    verified_at: int
    changed_at: int
    made_at: int
    on_cycle: bool
    stale: bool = False


class Memos:
    """The memos `held`, by cell; `revision` is that of the inputs."""

    def __init__(self, stale_for: int) -> None:
        self.stale_for = stale_for
        self.revision = 0
        self.links = 0
        """How often a query came to read other cells than before, or to have no value any more."""
        self.held: dict[Cell, Memo] = {}
        self.readers: dict[Cell, set[Cell]] = {}
        self.entries: dict[Cell, dict[object, Slot]] = {}
        self.unsettled: dict[int, dict[Cell, None]] = {}
        self.stale: OrderedDict[Cell, int] = OrderedDict()
        """The revisions in which memos became stale, the latest at the end."""
        self.recent: dict[object, OrderedDict[Cell, None]] = {}

    def clear(self) -> None:
        self.links += 1
        self.held.clear()
        self.readers.clear()
        self.entries.clear()
        self.unsettled.clear()
        self.recent.clear()
        self.stale.clear()

    def drop_oldest(self) -> None:
        """Let go of that half of the bounded values which was used longest ago."""
        for recent in self.recent.values():
            for _ in range(len(recent) // 2):
                self.evict(recent)

    def mark_readers(self, cell: Cell) -> None:
        """What read a cell is stale, and what read that, up to eager queries: these are then unsettled."""
        marking = [cell]
        while marking:
            for reader in self.readers.get(marking.pop(), ()):
                memo = self.held.get(reader)
                if memo is not None and not memo.stale:
                    memo.stale = True
                    if level := query_of(reader).eager:
                        self.unsettled.setdefault(level, {})[reader] = None
                    else:
                        self.note_stale(reader)
                        marking.append(reader)

    def note_stale(self, cell: Cell) -> None:
        self.stale[cell] = self.revision
        self.stale.move_to_end(cell)

    def drop_stale(self) -> None:
        """Drop what has been stale for long; whoever asks for it, or has read it, runs again."""
        while self.stale:
            cell, since = next(iter(self.stale.items()))
            if self.revision - since < self.stale_for:
                break
            del self.stale[cell]
            memo = self.held.get(cell)
            if memo is not None and memo.stale and not self._is_relied_on(cell):
                self.drop(cell)

    def _is_relied_on(self, cell: Cell) -> bool:
        """Whether a memo that holds has read a cell: it would not be told of what that cell hears of."""
        readers = (self.held.get(reader) for reader in self.readers.get(cell, ()))
        return any(memo is not None and not memo.stale for memo in readers)

    def drop(self, cell: Cell) -> None:
        memo = self.held.pop(cell, None)
        self.links += 1
        if memo is not None:
            self.unlink(cell, memo.reads)
            self.recent.get(cell[0], OrderedDict()).pop(cell, None)

    def unlink(self, cell: Cell, reads: Iterable[Cell]) -> None:
        """Forget that a query has read cells, and the entries that nobody reads now."""
        for read in reads:
            readers = self.readers.get(read, set())
            readers.discard(cell)
            if not readers:
                self.readers.pop(read, None)
                if read[0] is ENTRY:
                    table, entry = read[1]
                    self.entries.get(cast(Cell, table), {}).pop(entry, None)

    def store(self, cells: Sequence[Cell], memos: Sequence[Memo]) -> None:
        """Keep memos: that of a query, or those of a cycle together."""
        olds = [self.held.get(cell) for cell in cells]
        self.held.update(zip(cells, memos, strict=True))
        for cell, memo, old in zip(cells, memos, olds, strict=True):
            self._link(cell, memo, old)
        # A memo that read what failed is stale from the start, and so are those on its cycle.
        if any(self._is_unsettled(read) for memo in memos for read in memo.reads):
            for cell, memo in zip(cells, memos, strict=True):
                memo.stale = True
                self.note_stale(cell)
        for cell, memo, old in zip(cells, memos, olds, strict=True):
            self.touch(query_of(cell), cell)
            if old is not None and not self._backdate(memo, old) and query_of(cell).eager:
                self.mark_readers(cell)
                self._compare_entries(cell, memo)

    def _link(self, cell: Cell, memo: Memo, old: Memo | None) -> None:
        """Note who reads what."""
        before = () if old is None else old.reads
        if before != memo.reads:
            self.links += 1
            for read in memo.reads:
                self.readers.setdefault(read, set()).add(cell)
            self.unlink(cell, set(before).difference(memo.reads))

    def _is_unsettled(self, cell: Cell) -> bool:
        if not isinstance(cell[0], Query):
            return False
        memo = self.held.get(cell)
        return memo is None or memo.stale

    def _backdate(self, memo: Memo, old: Memo) -> bool:
        """Whether a memo's value is the old one; it is then no news. On a cycle it may be the same fallback for the
        sake of another cycle, which is news to those who were on the first."""
        if memo.changed_at == old.changed_at:
            memo.made_at = old.made_at
            return True
        if not (old.on_cycle or memo.on_cycle or old.value is MISSING) and old.value == memo.value:
            memo.changed_at, memo.made_at = old.changed_at, old.made_at
            return True
        return False

    def _compare_entries(self, cell: Cell, memo: Memo) -> None:
        value = cast("Mapping[object, object]", memo.value)
        for key, slot in self.entries.get(cell, {}).items():
            new = value.get(key, MISSING)
            if new is not slot.value and new != slot.value:
                slot.value, slot.changed_at = new, memo.changed_at
                self.mark_readers((ENTRY, (cell, key)))

    def touch(self, wanted: Query[..., object], cell: Cell) -> None:
        if wanted.capacity is None:
            return
        recent = self.recent.setdefault(wanted, OrderedDict())
        recent[cell] = None
        recent.move_to_end(cell)
        if len(recent) > wanted.capacity:
            self.evict(recent)

    def evict(self, recent: OrderedDict[Cell, None]) -> None:
        oldest, _ = recent.popitem(last=False)
        if oldest in self.held:
            self.held[oldest].value = MISSING
