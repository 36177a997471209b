"""Diagnostics, pushed to the clients that do not pull and pulled by those that do; never both.

A change to one document can change the findings of every other, so each change puts all open documents in line, the
changed one first. What is already shown is not sent again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from autograd_lsp.server import workspace_diagnostics
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import SOURCE, Converter, result_id_of
from autograd_lsp.server.documents import path_of

if TYPE_CHECKING:
    from analyzers.host import Snapshot

logger = logging.getLogger(__name__)


def register(server: AutogradServer) -> Callable[[], None]:
    """Called while initializing, when it is known what the client can do.

    The result brings every open document up to date after a change that no editor made.
    """
    text_document = server.protocol.client_capabilities.text_document
    pulls = text_document is not None and text_document.diagnostic is not None
    return _register_pull(server) if pulls else _register_push(server)


class Publisher:
    """`waiting` holds the paths whose diagnostics may be out of date, in the order of their turn."""

    def __init__(self, server: AutogradServer) -> None:
        self._server = server
        self._waiting: dict[str, None] = {}
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._running: asyncio.Task[None] | None = None

    def refresh(self, first: str | None = None) -> None:
        others = [path for path in self._server.open_paths() if path != first]
        self._waiting = dict.fromkeys([first, *others] if first is not None else others)
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._work())

    def clear(self, path: str, uris: Iterable[str]) -> None:
        self._waiting.pop(path, None)
        for uri in uris:
            self._shown.pop(uri, None)
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _work(self) -> None:
        while self._waiting:
            path = next(iter(self._waiting))
            del self._waiting[path]
            uris = self._server.shown_as(path)
            if uris:
                try:
                    await self._publish(path, uris)
                except Exception:
                    logger.exception("the analysis of %s failed", path)

    async def _publish(self, path: str, uris: list[str]) -> None:
        found = await _diagnostics(self._server, path, uris)
        # The answer is for the newest texts, and nothing has run since: the versions are those of the answer.
        for uri, diagnostics in zip(uris, found, strict=True):
            document = self._server.open_document(uri)
            if document is not None and self._shown.get(uri) != (document.version, diagnostics):
                self._shown[uri] = (document.version, diagnostics)
                self._server.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, diagnostics, document.version)
                )


def _register_push(server: AutogradServer) -> Callable[[], None]:
    publisher = Publisher(server)

    def now(uri: str, gone: Iterable[str] = ()) -> None:
        publisher.clear(path_of(uri), gone)
        publisher.refresh(path_of(uri))

    def closed(uri: str, gone: Iterable[str]) -> None:
        publisher.clear(path_of(uri), gone)
        publisher.refresh()

    _follow(server, now, closed)
    return publisher.refresh


def _register_pull(server: AutogradServer) -> Callable[[], None]:
    _follow(server, lambda uri, gone=(): None, lambda uri, gone: None)
    options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def pull(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """Answered for the newest text: a client that has changed it since asks for nothing older."""
        uri = params.text_document.uri
        try:
            [diagnostics] = await _diagnostics(server, server.path(uri), [uri])
        except Exception:
            logger.exception("the analysis of %s failed", uri)
            return types.RelatedFullDocumentDiagnosticReport([])
        result_id = result_id_of(diagnostics)
        if result_id == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id)
        return types.RelatedFullDocumentDiagnosticReport(diagnostics, result_id=result_id)

    workspace_diagnostics.register(server)
    return lambda: _ask_to_pull_again(server)


def _follow(server: AutogradServer, changed: Callable[..., None], closed: Callable[[str, Iterable[str]], None]) -> None:
    """Tell the analyzer of every text, and `changed` and `closed` of the file or the notebook that it belongs to, with
    the documents that are no longer shown."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = server.open_document(params.text_document.uri)
        if document is not None:
            server.tell_opened(document)
        changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = server.open_document(params.text_document.uri)
        if document is not None:
            server.tell_text(document)
        changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.tell_closed(params.text_document.uri)
        closed(params.text_document.uri, [params.text_document.uri])

    def notebook_changed(uri: str) -> None:
        before = server.shown_as(path_of(uri))
        server.tell_notebook(uri)
        now = server.shown_as(path_of(uri))
        changed(uri, [cell for cell in before if cell not in now])

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open_notebook(params: types.DidOpenNotebookDocumentParams) -> None:
        notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change_notebook(params: types.DidChangeNotebookDocumentParams) -> None:
        notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close_notebook(params: types.DidCloseNotebookDocumentParams) -> None:
        before = server.shown_as(path_of(params.notebook_document.uri))
        server.tell_notebook_closed(params.notebook_document.uri)
        closed(params.notebook_document.uri, before)


def _ask_to_pull_again(server: AutogradServer) -> None:
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
        server.workspace_diagnostic_refresh(None)


async def _diagnostics(server: AutogradServer, path: str, uris: Sequence[str]) -> list[list[types.Diagnostic]]:
    """Of the file at `path`, those that each of its documents shows."""

    def answer(snapshot: Snapshot, converter: Converter) -> list[list[types.Diagnostic]]:
        sightings = server.sightings(snapshot, path)
        return [converter.diagnostics(sightings, uri) for uri in uris]

    with server.work.of(path):
        found = await server.ask(answer)
    for tell in server.when_answered:
        tell(path)
    return found
