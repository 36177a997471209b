"""`autograd/graph`: the graph under the cursor as data, for an editor that draws it, and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from analyzers.report import Place
from autograd_lsp.render.graph_json import graph_json
from autograd_lsp.render.svg import render_svg
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.server.protocol import GRAPH_METHOD

if TYPE_CHECKING:
    from analyzers.host import Snapshot


def register(server: AutogradServer) -> None:
    @server.feature(GRAPH_METHOD)
    async def graph(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> dict[str, Any] | None:
            def locate(place: Place) -> dict[str, Any]:
                return {"uri": converter.uri_at(place), "range": converter.range(place)}

            found = snapshot.graph(converter.path(uri), converter.offset(uri, params.position), None)
            if found is None:
                return None
            return {**graph_json(found, locate), "svg": render_svg(found, converter.namer(converter.path(uri)))}

        return await server.ask_about(uri, answer, None)
