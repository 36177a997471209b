"""Semantic tokens: names that give tensors, told apart by what is sure of these on every visit.

    x = torch.ones(3, requires_grad=True)       `x`: requiresGrad, leaf
    y = x.exp()                                 `y`: requiresGrad
    z = y.detach()                              `z`: detached

They are off unless the user wants them, as VS Code shows those of one server alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Occurrence
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.server.switches import follow

if TYPE_CHECKING:
    from analyzers.host import Snapshot

LEGEND = types.SemanticTokensLegend(["variable"], ["requiresGrad", "detached", "leaf"])
_METHOD = "textDocument/semanticTokens"
"""Stands for all of these requests where they are registered."""


def register(server: AutogradServer) -> None:
    text_document = server.protocol.client_capabilities.text_document
    declared = text_document.semantic_tokens if text_document is not None else None
    if declared is None:
        return
    has_full, has_range = bool(declared.requests.full), bool(declared.requests.range)
    offer = types.SemanticTokensRegistrationOptions(LEGEND, full=has_full, range=has_range)
    static = None if declared.dynamic_registration else offer

    if has_full:

        @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, static)
        async def full(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
            return await _answer(server, params.text_document.uri, None)

    if has_range:

        @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, static)
        async def part(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
            return await _answer(server, params.text_document.uri, params.range)

    if declared.dynamic_registration:
        follow(server, lambda display: display.tokens, _METHOD, offer)


async def _answer(server: AutogradServer, uri: str, where: types.Range | None) -> types.SemanticTokens | None:
    """Nothing rather than no tokens: a client with several servers takes the first answer that there is."""

    def answer(snapshot: Snapshot, converter: Converter) -> types.SemanticTokens | None:
        path = converter.path(uri)
        if not server.display.tokens or server.configuration.excludes(path):
            return None
        found: Iterable[Occurrence] = snapshot.occurrences(path)
        if where is not None:
            start, end = converter.offset(uri, where.start), converter.offset(uri, where.end)
            found = [one for one in found if start <= one.place.start and one.place.end <= end]
        data = _encoded(converter, [one for one in found if converter.is_in(uri, one.place)])
        return types.SemanticTokens(data) if data else None

    return await server.ask_about(uri, answer, None)


def _encoded(converter: Converter, found: Iterable[Occurrence]) -> list[int]:
    """Each token by what lies between it and the one before, as the protocol has it."""
    data: list[int] = []
    line = character = 0
    for one in found:
        at = converter.range(one.place)
        start = at.start
        since = start.character - (character if start.line == line else 0)
        bits = (one.requires_grad, one.is_detached, one.is_leaf)
        modifiers = sum(1 << number for number, is_set in enumerate(bits) if is_set)
        data += [start.line - line, since, at.end.character - start.character, 0, modifiers]
        line, character = start.line, start.character
    return data
