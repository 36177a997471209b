"""The results for one file, and their places in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from analyzers.report import Backward, Fact, Finding, Lost, Place
from autograd_lsp.files.sources import Source
from autograd_lsp.notebooks.program import Notebook, position_in
from autograd_lsp.text.positions import LineIndex, Position


@dataclass(frozen=True, slots=True)
class Report:
    source: Source
    findings: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    lost: tuple[Lost, ...] = ()
    """The names of which nothing is known."""
    backwards: tuple[Backward, ...] = ()
    """How far the backwards that runs of this file came to are understood."""
    texts: dict[str, str] = field(default_factory=dict)
    """By absolute path, for every file that a finding points into."""
    notebooks: dict[str, Notebook] = field(default_factory=dict)
    """By absolute path: what texts were made of."""
    rests_on: frozenset[str] = frozenset()
    """The files that were read or looked for on the way, where somebody asks for them."""
    failure: Literal["unreadable", "internal"] | None = None
    traceback: str = ""
    entry: bytes = b""
    """What the cache is to keep of it, where it was made on another machine."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place as a person finds it: bytes `start` to `end` of the text of a file, or of one cell of a notebook."""

    path: str
    cell: int | None
    index: LineIndex
    start: int
    end: int

    @property
    def begins(self) -> Position:
        return self.index.position(self.start)

    @property
    def ends(self) -> Position:
        return self.index.position(self.end)


class Texts:
    """Line indexes of the texts of one report, made when asked for."""

    def __init__(self, report: Report) -> None:
        self._texts = report.texts
        self._notebooks = report.notebooks
        self._indexes: dict[tuple[str, int], LineIndex] = {}

    def __getitem__(self, path: str) -> LineIndex:
        """Of the whole file; of a notebook, of the program that it makes."""
        return self._index(path, 0, self._texts.get(path, ""))

    def spot(self, place: Place) -> Spot:
        whole = self[place.path]
        begin, end = whole.position(place.start), whole.position(place.end)
        notebook = self._notebooks.get(place.path)
        cell = notebook.cell_at(begin.line - 1) if notebook is not None else None
        if cell is None:
            return Spot(place.path, None, whole, place.start, place.end)
        index = self._index(place.path, cell.number, cell.source)
        return Spot(place.path, cell.number, index, position_in(cell, index, begin), position_in(cell, index, end))

    def _index(self, path: str, cell: int, text: str) -> LineIndex:
        """`cell` 0 for the whole file."""
        if (path, cell) not in self._indexes:
            self._indexes[path, cell] = LineIndex(text)
        return self._indexes[path, cell]


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """As a report has them."""
    return tuple(sorted(findings, key=lambda finding: (finding.place, finding.code, finding.message)))
