"""Two heaps side by side: which id, trail and version of one stands for which of the other.

A call that was run once is put beside another way of entering it. What the first one read is *matched* with what is
there now: equal but for the names of heap objects, for the trails of values, and for how often something was written.
What the first one left can then be *renamed*: said of the objects of the second.

    one   x = Tensor(storage=7)    y = relu(x) = Tensor(storage=9, edge -> node 10)
    other x = Tensor(storage=31)   7 -> 31; what the call made moves as a block: 9 -> 33, 10 -> 34

`analyzers.domain.looking` finds what can differ.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from analyzers.domain.lineage import Lineage, Loc, Round
from analyzers.domain.objects import VERSION_BASE, Write, short_of
from analyzers.domain.state import BLOCK_BITS

SMALLEST_ID = 1 << BLOCK_BITS
"""Ids carry the number of their run above these bits, and runs count from one."""


class Mismatch(Exception):  # noqa: N818
    """The two differ in more than names."""


@dataclass(slots=True, frozen=True)
class Version:
    """How often `counter`, or a storage, has counted by now."""

    counter: int
    version: int | None


@dataclass(slots=True, frozen=True)
class Rounds:
    """The rounds of loops that are running."""

    of: tuple[Round, ...]


@dataclass(slots=True, frozen=True)
class Number:
    """The number of a node, in the order of all."""

    of: int


class Renaming:
    """`first` to `last` are the ids that the call itself made, which move by `shift`; its nodes, those after `after`,
    move by `later` in the order of all. `block` is the run that both are in: ids of others stand for themselves."""

    def __init__(self, block: int, first: int, last: int, shift: int, after: int, later: int) -> None:
        self.ids: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.trails: dict[Lineage, Lineage] = {}
        self.writes: dict[int, int] = {}
        """By counter or storage of the first way of entering, how many more writes it has seen on the second."""
        self.via: tuple[tuple[Loc, ...], tuple[Loc, ...]] = ((), ())
        """The calls that lead to the one and to the other."""
        self.rounds: tuple[tuple[Round, ...], tuple[Round, ...]] = ((), ())
        self.visits: dict[int, int] = {}
        self.block = block >> BLOCK_BITS
        self.first, self.last, self.shift = first, last, shift
        self._after, self._later = after, later
        self._histories: dict[int, tuple[Write, Write]] = {}

    # --- matching -------------------------------------------------------------------------------------------

    def bind(self, one: int, other: int) -> None:
        """`other` stands for `one`, and for nothing else."""
        if self.ids.setdefault(one, other) != other or self.back.setdefault(other, one) != one:
            raise Mismatch

    def match_trail(self, one: Lineage | None, other: Lineage | None) -> None:
        if one is None or other is None:
            if one is not other:
                raise Mismatch
        elif self.trails.setdefault(one, other) is not other:
            raise Mismatch

    def match_writes(self, holder: int, one: int | None, other: int | None) -> None:
        """How often something was written: one may count on from where the other is."""
        if one is None or other is None or (one < VERSION_BASE) is not (other < VERSION_BASE):
            if one != other:
                raise Mismatch
        elif self.writes.setdefault(holder, other - one) != other - one:
            raise Mismatch

    def match_history(self, one: Write | None, other: Write | None) -> None:
        if one is None or other is None:
            if one is not other:
                raise Mismatch
        else:
            self._histories.setdefault(id(one), (one, other))

    # --- renaming -------------------------------------------------------------------------------------------

    def ident(self, ident: int) -> int:
        if self.first < ident <= self.last:
            return ident + self.shift
        return self.ids.get(ident, ident)

    def version(self, holder: int, version: int | None) -> int | None:
        """A version that nobody knows exactly carries an id; one that the call itself has blurred carries its own."""
        if version is None:
            return None
        if version >= VERSION_BASE << BLOCK_BITS:
            base, count = divmod(version, VERSION_BASE)
            if self.first < base <= self.last:
                return (base + self.shift) * VERSION_BASE + count
        return version + self.writes.get(holder, 0)

    def trail(self, lineage: Lineage) -> Lineage:
        """What is not known to stand for another trail is made anew if anything does that it came from."""
        known = self.trails.get(lineage)
        if known is not None:
            return known
        parents = tuple([self.trail(parent) for parent in lineage.parents])
        via = self.through(lineage.via)
        made = lineage
        if via is not lineage.via or not all(map(operator.is_, parents, lineage.parents)):
            made = Lineage(
                lineage.what, lineage.loc, parents, lineage.cut, via, lineage.attached, lineage.doubted,
                lineage.perhaps_cut,
            )  # fmt: skip
        self.trails[lineage] = made
        return made

    def history(self, holder: int, write: Write | None) -> Write | None:
        if write is None:
            return None
        known = self._histories.get(id(write))
        if known is not None:
            return known[1]
        previous = short_of(self.history(holder, write.previous))
        version, via = self.version(holder, write.version), self.through(write.via)
        made = write
        if previous is not write.previous or version != write.version or via is not write.via:
            made = Write(version or 0, write.loc, write.what, write.hidden, previous, via)
        self._histories[id(write)] = (write, made)
        return made

    def through(self, via: tuple[Loc, ...]) -> tuple[Loc, ...]:
        """The calls that led to something that the call has made."""
        before, now = self.via
        return (*now, *via[len(before) :]) if before != now and via[: len(before)] == before else via

    def is_new(self, number: int) -> bool:
        """Whether the call has made the node of this number."""
        return number > self._after

    def epoch(self, rounds: tuple[Round, ...]) -> tuple[Round, ...]:
        before, now = self.rounds
        return (*now, *rounds[len(before) :]) if rounds[: len(before)] == before else rounds

    def visit(self, visit: int) -> int:
        return self.visits.get(visit, visit)

    def sequence(self, number: int) -> int:
        return number + self._later if number > self._after else number
