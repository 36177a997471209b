"""Places as a tool finds them that knows files alone: lines and columns of a notebook are those of its JSON.

What cannot be found there, as nobody wrote it or the file has changed since, is at the top of the file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from analyzers.report import Place
from autograd_lsp.files.sources import Source, UnreadableError, notebook_data
from autograd_lsp.notebooks.source import CellSource, find_cell
from autograd_lsp.reports.fingerprints import relative_path
from autograd_lsp.reports.report import Report, Spot, Texts
from autograd_lsp.text.positions import Position


@dataclass(frozen=True, slots=True)
class Region:
    """The end is exclusive."""

    begins: Position
    ends: Position

    @property
    def last_line(self) -> int:
        """The last line that has a part in it."""
        is_before = self.ends.column == 1 and self.ends.line > self.begins.line
        return self.ends.line - 1 if is_before else self.ends.line


TOP = Region(Position(1, 1), Position(1, 1))


class Regions:
    """Those of one report."""

    def __init__(self, report: Report, texts: Texts) -> None:
        self._report = report
        self._texts = texts
        self._cells: dict[tuple[str, int], CellSource | None] = {}
        self._data: dict[str, str | None] = {}

    def of(self, place: Place) -> Region:
        spot = self._texts.spot(place)
        if place.path not in self._report.notebooks:
            return Region(spot.begins, spot.ends)
        cell = self._cell(spot)
        if cell is None:
            return TOP
        start, end = (_characters(spot.index.text, offset) for offset in (spot.start, spot.end))
        return Region(*cell.range(start, min(end, len(spot.index.text))))

    def _cell(self, spot: Spot) -> CellSource | None:
        if spot.cell is None:
            return None
        key = (spot.path, spot.cell)
        if key not in self._cells:
            data = self._data_of(spot.path)
            self._cells[key] = None if data is None else find_cell(data, spot.cell, spot.index.text)
        return self._cells[key]

    def _data_of(self, path: str) -> str | None:
        if path not in self._data:
            own = self._report.source
            try:
                self._data[path] = notebook_data(own if path == own.path else Source(path, path))
            except UnreadableError:
                self._data[path] = None
        return self._data[path]


def project_folder(variable: str) -> str:
    """The top of the repository, as a CI tells it in an environment variable; the working directory outside of that."""
    here, told = os.getcwd(), os.environ.get(variable, "")
    top = os.path.realpath(told) if told else here
    return top if here == top or here.startswith(os.path.join(top, "")) else here


def path_from(folder: str, path: str) -> str:
    """With slashes, and without a climb: what lies outside of the folder keeps its whole path."""
    relative = relative_path(path, folder)
    return path.replace(os.sep, "/") if relative.startswith("../") else relative


def _characters(text: str, offset: int) -> int:
    """How many characters are in the first bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "surrogatepass"))
