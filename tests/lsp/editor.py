"""A scripted editor: it drives the real server process and keeps everything that the server publishes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

REPOSITORY = Path(__file__).resolve().parents[2]
SERVER = (sys.executable, "-m", "autograd_lsp", "server", "--stdio")
PATIENCE = 30

BROKEN = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""

PUSH_CLIENT = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True, version_support=True),
    ),
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
)
PATIENT_CLIENT = types.ClientCapabilities(
    text_document=PUSH_CLIENT.text_document, window=types.WindowClientCapabilities(work_done_progress=True)
)
PULL_CLIENT = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
)


class Editor(LanguageClient):
    """`published` holds every publishDiagnostics notification in order, `offer` what the server says it can do."""

    offer: types.ServerCapabilities

    def __init__(self, settings: dict[str, object] | None = None) -> None:
        super().__init__(converter_factory=default_converter, configuration={"": settings or {}})
        self.published: list[types.PublishDiagnosticsParams] = []
        self.refreshed: list[str] = []
        """What the server asked to be asked about again."""
        self.traced: list[str] = []
        self.parts: list[dict[str, Any]] = []
        """Partial results."""
        self._news = asyncio.Condition()

        async def on_published(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self.published.append(params)
                self._news.notify_all()

        def on_progress(params: types.ProgressParams) -> None:
            if isinstance(params.value, dict) and "items" in params.value:
                self.parts.append(params.value)
            else:
                DEFAULT_CLIENT_FEATURES[types.PROGRESS](self, params)

        handlers = {
            **DEFAULT_CLIENT_FEATURES,
            types.PROGRESS: on_progress,
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: on_published,
            types.WORKSPACE_INLAY_HINT_REFRESH: lambda _: self.refreshed.append("hints"),
            types.WORKSPACE_SEMANTIC_TOKENS_REFRESH: lambda _: self.refreshed.append("tokens"),
            types.WORKSPACE_CODE_LENS_REFRESH: lambda _: self.refreshed.append("lenses"),
            types.LOG_TRACE: lambda params: self.traced.append(params.message),
        }
        register_lsp_features(self, handlers)

    def open(self, uri: str, text: str, version: int = 1) -> None:
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, types.LanguageKind.Python, version, text))
        )

    def edit(self, uri: str, version: int, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        where = types.Range(types.Position(*start), types.Position(*end))
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangePartial(where, text)],
            )
        )

    def close(self, uri: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def diagnostics_of(self, uri: str, version: int | None) -> list[types.Diagnostic]:
        """The first that were published for exactly this version."""

        def arrived() -> list[types.PublishDiagnosticsParams]:
            return [params for params in self.published if (params.uri, params.version) == (uri, version)]

        async with self._news:
            await asyncio.wait_for(self._news.wait_for(arrived), PATIENCE)
        return list(arrived()[0].diagnostics)

    async def pull(self, uri: str, previous: str | None = None) -> types.DocumentDiagnosticReport:
        document = types.TextDocumentIdentifier(uri)
        return await self.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(document, previous_result_id=previous)
        )

    async def request_as_is(self, method: str, params: object) -> object:
        """A request whose parameters our own library would refuse to write."""
        message_id = f"as-is-{len(self.protocol._request_futures)}"
        answer: Future[object] = Future()
        self.protocol._request_futures[message_id] = answer
        self.protocol._send_data({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params})
        return await asyncio.wait_for(asyncio.wrap_future(answer), PATIENCE)

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        document = types.TextDocumentIdentifier(uri)
        return await self.text_document_hover_async(types.HoverParams(document, types.Position(line, character)))

    async def lenses(self, uri: str) -> list[types.CodeLens]:
        document = types.TextDocumentIdentifier(uri)
        return list(await self.text_document_code_lens_async(types.CodeLensParams(document)) or [])

    async def hints(self, uri: str, first: int = 0, last: int = 1_000) -> dict[tuple[int, int], str]:
        """The hints from one line to another, by position."""
        where = types.Range(types.Position(first, 0), types.Position(last, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), where)
        found = await self.text_document_inlay_hint_async(params)
        words = {(hint.position.line, hint.position.character): hint.label for hint in found or []}
        return {at: "".join(part.value for part in label) for at, label in words.items()}

    async def code_actions(
        self, uri: str, diagnostic: types.Diagnostic, only: list[str] | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([diagnostic], only=only)
        document = types.TextDocumentIdentifier(uri)
        return await self.text_document_code_action_async(types.CodeActionParams(document, diagnostic.range, context))

    async def edit_of(self, action: types.CodeAction) -> types.WorkspaceEdit:
        """What an action does; one that does not say so is asked."""
        if action.edit is None:
            action = await self.code_action_resolve_async(action)
        assert action.edit is not None
        return action.edit


@asynccontextmanager
async def editing(
    capabilities: types.ClientCapabilities = PUSH_CLIENT,
    server: tuple[str, ...] = SERVER,
    settings: dict[str, object] | None = None,
    folders: Sequence[str] = (),
    editor: Editor | None = None,
):
    """An editor with a server of its own, from the handshake to the exit; `settings` are those it has by section, and
    `folders` the URIs of what its workspace consists of."""
    editor = editor or Editor(settings)
    path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    await editor.start_io(*server, env={**os.environ, "PYTHONPATH": path})
    try:
        root, *_ = (*folders, "file:///project")
        open_folders = [types.WorkspaceFolder(uri, uri.rpartition("/")[2]) for uri in folders]
        params = types.InitializeParams(capabilities, root_uri=root, workspace_folders=open_folders or None)
        answer = await editor.initialize_session(params)
        editor.offer = answer.capabilities
        yield editor
        await asyncio.wait_for(editor.shutdown_session(), PATIENCE)
    finally:
        if editor._server is not None and editor._server.returncode is None:
            editor._server.kill()
        await editor.stop()


def with_encodings(*encodings: types.PositionEncodingKind) -> types.ClientCapabilities:
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
        text_document=PUSH_CLIENT.text_document,
        workspace=PUSH_CLIENT.workspace,
    )
