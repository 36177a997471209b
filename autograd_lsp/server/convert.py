"""The analyzer's places and findings in the words of LSP, for one snapshot and one client's encoding."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

from analyzers.report import Place, Raises, Sighting
from autograd_lsp.notebooks.program import Cell
from autograd_lsp.server.documents import path_of, uri_of
from autograd_lsp.server.open_notebooks import OpenNotebook
from autograd_lsp.text.positions import Encoding, LineIndex
from autograd_lsp.text.urls import rule_page

if TYPE_CHECKING:
    from analyzers.host import Snapshot

SOURCE = "autograd-lsp"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Hint,
}


class Converter:
    """`uris`: the open documents as their client spells them, by path; `notebooks`: the open ones, by path.

    The cells of a notebook are documents to the client, and stretches of one program to the analyzer.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        encoding: Encoding,
        uris: Mapping[str, str],
        notebooks: Mapping[str, OpenNotebook] | None = None,
    ) -> None:
        self._snapshot = snapshot
        self.encoding = encoding
        self._uris = uris
        self._notebooks = notebooks or {}
        self._paths = {unquote(uri): path for path, notebook in self._notebooks.items() for uri in notebook.uris}
        self._indexes: dict[str, LineIndex] = {}

    def path(self, uri: str) -> str:
        """The path that the analyzer knows a document by; of a cell, that of its notebook."""
        return self._paths.get(unquote(uri)) or path_of(uri)

    def is_cell(self, uri: str) -> bool:
        """Whether a document is a cell of an open notebook."""
        return unquote(uri) in self._paths

    def offset(self, uri: str, position: types.Position) -> int:
        index = self.index(self.path(uri))
        notebook = self._notebooks.get(self.path(uri))
        if notebook is None:
            return index.lsp_offset(position.line, position.character, self.encoding)
        cell = notebook.cell(uri)
        if cell is None:
            return 0  # a line of no cell
        last = _last_line(cell)
        character = position.character if position.line <= last else len(cell.source)
        return index.lsp_offset(cell.first_line + min(position.line, last), character, self.encoding)

    def range(self, place: Place) -> types.Range:
        """In the document that `uri_at` names."""
        index = self.index(place.path)
        (line, start), (last, end) = (index.lsp_position(offset, self.encoding) for offset in (place.start, place.end))
        cell = self._cell_at(place)
        if cell is not None:
            line, start = max((line - cell.first_line, start), (0, 0))
            last, end = min((last - cell.first_line, end), (_last_line(cell) + 1, 0))
            last, end = max((last, end), (line, start))
        return types.Range(types.Position(line, start), types.Position(last, end))

    def uri(self, path: str) -> str:
        return self._uris.get(path) or uri_of(path)

    def uri_at(self, place: Place) -> str:
        """The document that shows a place: a file, or a cell of a notebook."""
        cell = self._cell_at(place)
        return self.uri(place.path) if cell is None else self._notebooks[place.path].uris[cell.number]

    def is_in(self, uri: str, place: Place) -> bool:
        """Whether a place is shown in the document `uri`, which may be spelled in another way."""
        return unquote(self.uri_at(place)) == unquote(uri) if place.path in self._notebooks else True

    def _cell_at(self, place: Place) -> Cell | None:
        """What stands before all cells, as an edit that adds an import, goes to the first one."""
        notebook = self._notebooks.get(place.path)
        if notebook is None or not notebook.program.cells:
            return None
        line, _ = self.index(place.path).lsp_position(place.start, "utf-32")
        return notebook.program.cell_at(line) or notebook.program.cells[0]

    def location(self, place: Place) -> types.Location:
        return types.Location(self.uri_at(place), self.range(place))

    def namer(self, path: str) -> Callable[[Place], str]:
        """What calls places by their lines, from 1 as editors show them, with the file where that is not `path`."""

        def where(place: Place) -> str:
            line = f"line {self.range(place).start.line + 1}"
            return line if place.path == path else f"{os.path.basename(place.path)} {line}"

        return where

    def diagnostics(self, sightings: Sequence[Sighting], uri: str) -> list[types.Diagnostic]:
        """Those that the document `uri` shows, of the sightings of its file or of its notebook."""
        return [self.diagnostic(sighting) for sighting in sightings if self.is_in(uri, sighting.place)]

    def diagnostic(self, sighting: Sighting) -> types.Diagnostic:
        finding = sighting.finding
        related = []
        if sighting.place != finding.place:
            related.append(types.DiagnosticRelatedInformation(self.location(finding.place), "the cause is here"))
        related += [types.DiagnosticRelatedInformation(self.location(r.place), r.message) for r in finding.related]
        if finding.raises is not None and all(step.place != finding.raises.place for step in finding.related):
            words = _raises_words(finding.raises)
            related.append(types.DiagnosticRelatedInformation(self.location(finding.raises.place), words))
        related += [
            types.DiagnosticRelatedInformation(self.location(step.place), f"assumed: {step.message}")
            for step in finding.assumes
        ]
        is_dead = finding.effect == "no-effect-assignment" or finding.name == "unused-suppression"
        return types.Diagnostic(
            range=self.range(sighting.place),
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(rule_page(finding.name)),
            source=SOURCE,
            message=finding.message,
            tags=[types.DiagnosticTag.Unnecessary] if is_dead else None,
            related_information=related or None,
            data={"name": finding.name, "effect": finding.effect, "fixes": [fix.title for fix in finding.fixes]},
        )

    def index(self, path: str) -> LineIndex:
        if path not in self._indexes:
            self._indexes[path] = LineIndex(self._snapshot.text(path))
        return self._indexes[path]


def result_id_of(diagnostics: Sequence[types.Diagnostic]) -> str:
    """The same for the same diagnostics, whenever they are asked for."""
    return hashlib.sha1(repr(list(diagnostics)).encode("utf-8", "surrogatepass")).hexdigest()


def _last_line(cell: Cell) -> int:
    return LineIndex(cell.source).line_count - 1


def _raises_words(raises: Raises) -> str:
    verb = "raises" if raises.certain else "may raise"
    where = "here" if raises.iteration == 1 else f"here in iteration {raises.iteration}"
    return f"torch {verb} {raises.exception} {where}{raises.said}"
