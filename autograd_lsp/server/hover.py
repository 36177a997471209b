"""Hover: what is known of the tensor under the cursor, and its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Fact, Graph
from autograd_lsp.render.tensor import hover_markdown, hover_plaintext
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter

if TYPE_CHECKING:
    from analyzers.host import Snapshot


def register(server: AutogradServer) -> None:
    kind = _preferred_kind(server.protocol.client_capabilities)
    render = hover_markdown if kind is types.MarkupKind.Markdown else hover_plaintext

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> types.Hover | None:
            path, offset = converter.path(uri), converter.offset(uri, params.position)
            graph = snapshot.graph(path, offset, None)
            fact = _fact_at(snapshot.facts(path), offset, graph)
            if graph is None and fact is None:
                return None
            return types.Hover(types.MarkupContent(kind, render(graph, fact)))

        return await server.ask_about(uri, answer, None)


def _preferred_kind(capabilities: types.ClientCapabilities) -> types.MarkupKind:
    text_document = capabilities.text_document
    hover = text_document.hover if text_document is not None else None
    formats = hover.content_format if hover is not None and hover.content_format else [types.MarkupKind.PlainText]
    return formats[0]


def _fact_at(facts: tuple[Fact, ...], offset: int, graph: Graph | None) -> Fact | None:
    """The fact of the binding under the cursor.

    Elsewhere, that of the last binding above of the same name, where it agrees with the graph at the cursor: what the
    text has above is not always what has run before.
    """
    for fact in facts:
        if fact.place.start <= offset <= fact.place.end and (graph is None or fact.name == graph.name):
            return fact
    if graph is None or not graph.nodes:
        return None
    above = [fact for fact in facts if fact.name == graph.name and fact.place.end <= offset]
    nearest = max(above, key=lambda fact: fact.place, default=None)
    root = graph.nodes[0]
    agrees = nearest is not None and (nearest.requires_grad, nearest.is_leaf) == (root.requires_grad, root.is_leaf)
    return nearest if agrees else None
