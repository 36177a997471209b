"""Hover: what is known about the tensor, module or call under the cursor, and the faults on its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Finding, Place, Sighting
from autograd_lsp.render.card import card_markdown, card_plaintext
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter

if TYPE_CHECKING:
    from analyzers.host import Snapshot


def register(server: AutogradServer) -> None:
    kind = _preferred_kind(server.protocol.client_capabilities)
    render = card_markdown if kind is types.MarkupKind.Markdown else card_plaintext

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> types.Hover | None:
            path = converter.path(uri)
            card = snapshot.card(path, converter.offset(uri, params.position))
            findings = _findings_on(server.sightings(snapshot, path), uri, path, params.position.line, converter)
            if card is None and not findings:
                return None
            contents = types.MarkupContent(kind, render(card, findings, converter.namer(path)))
            return types.Hover(contents, converter.range(card.place) if card is not None else None)

        return await server.ask_about(uri, answer, None)


def _preferred_kind(capabilities: types.ClientCapabilities) -> types.MarkupKind:
    text_document = capabilities.text_document
    hover = text_document.hover if text_document is not None else None
    formats = hover.content_format if hover is not None and hover.content_format else [types.MarkupKind.PlainText]
    return formats[0]


def _findings_on(sightings: Sequence[Sighting], uri: str, path: str, line: int, converter: Converter) -> list[Finding]:
    """The faults that are shown on a line, or make torch raise there."""

    def is_here(place: Place) -> bool:
        where = converter.range(place) if place.path == path and converter.is_in(uri, place) else None
        return where is not None and where.start.line <= line <= where.end.line

    found = []
    for finding, place in ((sighting.finding, sighting.place) for sighting in sightings):
        raised = finding.raises.place if finding.raises is not None else place
        if is_here(place) or is_here(raised):
            found.append(finding)
    return found
