"""Which inputs, or other kinds of cells, a query's value came from, through all the queries in between."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.queries.engine import Database
from analyzers.queries.families import Cell


class Origins:
    """Answers for many queries share what they have in common, until one of these reads something else.

    The cells found are the bits of a number, so that a union is one step. Queries that need each other have the same
    origins: they are the strongly connected components of the graph of reads, found as by Tarjan (SIAM Journal on
    Computing 1, 1972).
    """

    def __init__(self, db: Database, kinds: Iterable[object]) -> None:
        """`kinds` are the inputs and queries whose cells are looked for; what these came of is left out."""
        self._db = db
        self._kinds = frozenset(kinds)
        self._links = -1
        self._found: list[Cell] = []
        self._known: dict[Cell, int] = {}
        """By cell, the bits of the cells that it came of."""

    def of(self, cell: Cell) -> list[Cell]:
        """KeyError where a query in between has failed."""
        if self._links != self._db.links:
            self._links = self._db.links
            self._found.clear()
            self._known.clear()
        if cell not in self._known:
            self._search(cell)
        bits = self._known[cell]
        return [found for place, found in enumerate(self._found) if bits >> place & 1]

    def _search(self, root: Cell) -> None:
        order: dict[Cell, int] = {}
        """When a cell was met first."""
        lowest: dict[Cell, int] = {}
        """The earliest cell that a component's cell leads back to."""
        component: list[Cell] = []
        under_way = [(root, iter(self._reads(root, order, lowest, component)))]
        while under_way:
            cell, reads = under_way[-1]
            for read in reads:
                if read in self._known:
                    continue
                if read not in order:
                    under_way.append((read, iter(self._reads(read, order, lowest, component))))
                    break
                lowest[cell] = min(lowest[cell], order[read])
            else:
                under_way.pop()
                if under_way:
                    above = under_way[-1][0]
                    lowest[above] = min(lowest[above], lowest[cell])
                if lowest[cell] == order[cell]:
                    self._close(cell, component)

    def _reads(
        self, cell: Cell, order: dict[Cell, int], lowest: dict[Cell, int], component: list[Cell]
    ) -> tuple[Cell, ...]:
        order[cell] = lowest[cell] = len(order)
        component.append(cell)
        return () if cell[0] in self._kinds else self._db.reads_of(cell)

    def _close(self, first: Cell, component: list[Cell]) -> None:
        """A component is complete: all its cells have the origins of all."""
        members: list[Cell] = []
        while not members or members[-1] != first:
            members.append(component.pop())
        bits = 0
        for cell in members:
            if cell[0] in self._kinds:
                bits |= 1 << len(self._found)
                self._found.append(cell)
            else:
                for read in self._db.reads_of(cell):
                    bits |= self._known.get(read, 0)
        self._known.update(dict.fromkeys(members, bits))
