"""Diagnostics, pushed to the clients that do not pull and pulled by those that do; never both.

A change to one document can change the findings of every other, so each change puts all open documents in line, the
changed one first. What is already shown is not sent again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable

from lsprotocol import types

from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import SOURCE
from autograd_lsp.server.documents import Document, path_of

logger = logging.getLogger(__name__)


def register(server: AutogradServer) -> Callable[[], None]:
    """Called while initializing, when it is known what the client can do.

    The result brings every open document up to date after a change that no editor made.
    """
    text_document = server.protocol.client_capabilities.text_document
    pulls = text_document is not None and text_document.diagnostic is not None
    return _register_pull(server) if pulls else _register_push(server)


class Publisher:
    """`waiting` holds the URIs whose diagnostics may be out of date, in the order of their turn."""

    def __init__(self, server: AutogradServer) -> None:
        self._server = server
        self._waiting: dict[str, None] = {}
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._running: asyncio.Task[None] | None = None

    def refresh(self, first: str | None = None) -> None:
        others = [document.uri for document in self._server.open_documents() if document.uri != first]
        self._waiting = dict.fromkeys([first, *others] if first is not None else others)
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._work())

    def clear(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        self._shown.pop(uri, None)
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _work(self) -> None:
        while self._waiting:
            uri = next(iter(self._waiting))
            del self._waiting[uri]
            document = self._server.open_document(uri)
            if document is not None:
                try:
                    await self._publish(document)
                except Exception:
                    logger.exception("the analysis of %s failed", uri)

    async def _publish(self, document: Document) -> None:
        diagnostics = await _diagnostics(self._server, document.key)
        # The answer is for the newest texts, and nothing has run since: the version is that of the answer.
        state = (document.version, diagnostics)
        if self._server.open_document(document.uri) is document and self._shown.get(document.uri) != state:
            self._shown[document.uri] = state
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, diagnostics, document.version)
            )


def _register_push(server: AutogradServer) -> Callable[[], None]:
    publisher = Publisher(server)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        _tell_opened(server, params.text_document.uri)
        publisher.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        _tell_text(server, params.text_document.uri)
        publisher.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.tell_closed(params.text_document.uri)
        publisher.clear(params.text_document.uri)
        publisher.refresh()

    return publisher.refresh


def _register_pull(server: AutogradServer) -> Callable[[], None]:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        _tell_opened(server, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        _tell_text(server, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.tell_closed(params.text_document.uri)

    options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """Answered for the newest text: a client that has changed it since asks for nothing older."""
        try:
            diagnostics = await _diagnostics(server, path_of(params.text_document.uri))
        except Exception:
            logger.exception("the analysis of %s failed", params.text_document.uri)
            return types.RelatedFullDocumentDiagnosticReport([])
        result_id = hashlib.sha1(repr(diagnostics).encode("utf-8", "surrogatepass")).hexdigest()
        if result_id == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        return types.RelatedFullDocumentDiagnosticReport(diagnostics, result_id=result_id)

    return lambda: _ask_to_pull_again(server)


def _ask_to_pull_again(server: AutogradServer) -> None:
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
        server.workspace_diagnostic_refresh(None)


def _tell_opened(server: AutogradServer, uri: str) -> None:
    document = server.open_document(uri)
    if document is not None:
        server.tell_opened(document)


def _tell_text(server: AutogradServer, uri: str) -> None:
    document = server.open_document(uri)
    if document is not None:
        server.tell_text(document)


async def _diagnostics(server: AutogradServer, path: str) -> list[types.Diagnostic]:
    with server.work.of(path):
        return await server.ask(lambda snapshot, converter: converter.diagnostics(server.sightings(snapshot, path)))
