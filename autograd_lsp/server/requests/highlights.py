"""`textDocument/documentHighlight`: on a finding, the steps of its trace in this document.

Elsewhere there is no answer, so that a client with another server takes that one's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Place, Sighting
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter

if TYPE_CHECKING:
    from analyzers.host import Snapshot


def register(server: AutogradServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.DocumentHighlight] | None:
            path, offset = converter.path(uri), converter.offset(uri, params.position)
            here = [s for s in server.sightings(snapshot, path) if s.place.start <= offset <= s.place.end]
            here = [sighting for sighting in here if converter.is_in(uri, sighting.place)]
            kinds: dict[Place, types.DocumentHighlightKind] = {}
            for place, kind in (one for sighting in here for one in _steps(sighting)):
                if place.path == path and converter.is_in(uri, place):
                    kinds.setdefault(place, kind)
            ordered = sorted(kinds.items(), key=lambda item: item[0])
            return [types.DocumentHighlight(converter.range(place), kind) for place, kind in ordered] or None

        return await server.ask_about(uri, answer, None)


def _steps(sighting: Sighting) -> Iterator[tuple[Place, types.DocumentHighlightKind]]:
    """What is to be edited counts as a write, the steps that lead from there to the crash as reads."""
    finding = sighting.finding
    yield finding.place, types.DocumentHighlightKind.Write
    if finding.raises is not None:
        yield finding.raises.place, types.DocumentHighlightKind.Read
    yield from ((step.place, types.DocumentHighlightKind.Read) for step in finding.related)
    yield sighting.place, types.DocumentHighlightKind.Text
