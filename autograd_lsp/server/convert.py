"""The analyzer's places and findings in the words of LSP, for one snapshot and one client's encoding."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Place, Raises, Sighting
from autograd_lsp.positions import Encoding, LineIndex
from autograd_lsp.server.documents import path_of, uri_of
from autograd_lsp.urls import rule_page

if TYPE_CHECKING:
    from analyzers.host import Snapshot

SOURCE = "autograd-lsp"

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Hint,
}


class Converter:
    """`uris`: the open documents as their client spells them, by path."""

    def __init__(self, snapshot: Snapshot, encoding: Encoding, uris: Mapping[str, str]) -> None:
        self._snapshot = snapshot
        self._encoding = encoding
        self._uris = uris
        self._indexes: dict[str, LineIndex] = {}

    def offset(self, uri: str, position: types.Position) -> int:
        return self.index(path_of(uri)).lsp_offset(position.line, position.character, self._encoding)

    def range(self, place: Place) -> types.Range:
        index = self.index(place.path)
        start, end = (index.lsp_position(offset, self._encoding) for offset in (place.start, place.end))
        return types.Range(types.Position(*start), types.Position(*end))

    def uri(self, path: str) -> str:
        return self._uris.get(path) or uri_of(path)

    def location(self, place: Place) -> types.Location:
        return types.Location(self.uri(place.path), self.range(place))

    def namer(self, path: str) -> Callable[[Place], str]:
        """What calls places by their lines, from 1 as editors show them, with the file where that is not `path`."""

        def where(place: Place) -> str:
            line = f"line {self.range(place).start.line + 1}"
            return line if place.path == path else f"{os.path.basename(place.path)} {line}"

        return where

    def diagnostics(self, sightings: Sequence[Sighting]) -> list[types.Diagnostic]:
        return [self.diagnostic(sighting) for sighting in sightings]

    def diagnostic(self, sighting: Sighting) -> types.Diagnostic:
        finding = sighting.finding
        related = []
        if sighting.place != finding.place:
            related.append(types.DiagnosticRelatedInformation(self.location(finding.place), "the cause is here"))
        related += [types.DiagnosticRelatedInformation(self.location(r.place), r.message) for r in finding.related]
        if finding.raises is not None and all(step.place != finding.raises.place for step in finding.related):
            words = _raises_words(finding.raises)
            related.append(types.DiagnosticRelatedInformation(self.location(finding.raises.place), words))
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


def _raises_words(raises: Raises) -> str:
    verb = "raises" if raises.certain else "may raise"
    return f"torch {verb} {raises.exception} here: {raises.message}"
