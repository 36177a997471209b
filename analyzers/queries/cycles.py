"""The queries under way, one above the other, and the cycles on which they need each other.

    a reads b, b reads c, c reads b      `b` needs itself: its *head* is on the stack when `c` asks for it

What ends on a cycle while the head is under way waits for it: only then is known what all of them are worth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.queries.families import Cell, P, Query, V, fallback, query_of


class CycleError(Exception):
    """A query needs its own value, and nothing on the cycle says what to take for it."""


@dataclass(slots=True)
class Frame:
    """A query that runs or is being verified. `heads` are the queries below it on the stack that it leads back to;
    `members` are finished queries on a cycle through it, whose memos wait for it to end."""

    cell: Cell
    reads: dict[Cell, None] = field(default_factory=dict)
    heads: set[Cell] = field(default_factory=set)
    members: dict[Cell, tuple[object, tuple[Cell, ...]]] = field(default_factory=dict)
    on_cycle: bool = False


@dataclass(slots=True)
class Open:
    """A query that has ended on a cycle while that is open. As long as the `heads`, to which it leads back, are under
    way, to run it again would lead there again. `members` are what waits for them, the query among it."""

    heads: set[Cell]
    members: dict[Cell, tuple[object, tuple[Cell, ...]]]


class Stack:
    """The `frames` of the queries under way, and those `open`: ended on a cycle whose head has not."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.open: dict[Cell, Open] = {}

    def is_under_way(self, cell: Cell) -> bool:
        return any(frame.cell == cell for frame in self.frames)

    def record(self, cell: Cell) -> None:
        """The query that runs has read a cell."""
        if self.frames:
            self.frames[-1].reads[cell] = None

    def check_level(self, wanted: Query[P, V]) -> None:
        """An eager query that read another of its level might read it before it has settled."""
        if wanted.eager:
            for frame in self.frames:
                above = query_of(frame.cell)
                if 0 < above.eager <= wanted.eager:
                    raise TypeError(f"{above.name} is eager and reads {wanted.name}, which is not of a lower level")

    def close_cycle(self, cell: Cell, depth: int) -> object:
        """The query `cell` at `depth` of the stack leads back to itself: every query from there on is on the cycle."""
        for frame in self.frames[depth:]:
            if query_of(frame.cell).on_cycle is None:
                names = [query_of(one.cell).name for one in self.frames[depth:]]
                raise CycleError(" -> ".join([*names, names[0]]))
            frame.on_cycle = True
            frame.heads.add(cell)
        return fallback(cell)

    def _heads_of(self, cell: Cell) -> list[int]:
        """Where on the stack the heads of a query are that has ended on an open cycle; none of any other."""
        ended = self.open.get(cell)
        if ended is None:
            return []
        under_way = {frame.cell: depth for depth, frame in enumerate(self.frames)}
        # A head that has ended on a cycle itself leads on to its own heads.
        seen = {cell}
        while over := [head for head in ended.heads if head not in under_way]:
            for head in over:
                leading_on = self.open.get(head)
                if leading_on is None:
                    return []
                seen.add(head)
                ended.heads = (ended.heads | leading_on.heads) - seen
                ended.members |= leading_on.members
        return [under_way[head] for head in ended.heads]

    def leads_back(self, cell: Cell) -> bool:
        """Whether a query has ended on an open cycle; then those who ask are on that cycle too."""
        depths = self._heads_of(cell)
        for depth in depths:
            self.close_cycle(self.frames[depth].cell, depth)
        if depths:
            self.frames[-1].members |= self.open[cell].members
        return bool(depths)
