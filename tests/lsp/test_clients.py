"""What a real editor declares is what it gets: `clients/` holds their `initialize` requests, as they were recorded."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from tests.lsp.editor import BROKEN, Editor, editing
from tests.support.texts import edited

URI = "file:///project/train.py"
ASTRAL = BROKEN.replace("y.add_(1)", "s = '😀é'; y.add_(1)")
COLUMNS = {"utf-8": 14, "utf-16": 11, "utf-32": 10}
"""Where `y.add_(1)` starts in that line."""

# pytest-lsp holds some of what a server sends against what the client has declared.
pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


class Listening(Editor):
    """`heard`: the methods that the server has called, in order; `registered`: what it has registered."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []
        self.registered: list[str] = []
        handle = self.protocol.handle_message

        def listen(message: Any) -> None:
            if getattr(message, "method", None) is not None:
                self.heard.append(message.method)
            handle(message)

        self.protocol.handle_message = listen  # type: ignore[method-assign]

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += [registration.method for registration in params.registrations]


@dataclass(frozen=True)
class Client:
    name: str
    declared: dict[str, Any]

    def says(self, *keys: str) -> Any:
        """What stands under these keys of its capabilities; None where it says nothing."""
        found: Any = self.declared
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def editing(self) -> AbstractAsyncContextManager[Listening]:
        capabilities = default_converter().structure(self.declared, types.ClientCapabilities)
        return editing(capabilities, editor=Listening())

    @property
    def pulls(self) -> bool:
        return self.says("textDocument", "diagnostic") is not None


def recorded(path: Path) -> Client:
    return Client(path.stem, json.loads(path.read_text(encoding="utf-8"))["capabilities"])


CLIENTS = [recorded(path) for path in sorted((Path(__file__).parent / "clients").glob("*.json"))]


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


async def diagnostics(client: Client, editor: Editor, version: int) -> list[types.Diagnostic]:
    """The way the client gets them."""
    if not client.pulls:
        return await editor.diagnostics_of(URI, version)
    report = await editor.pull(URI)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


def test_every_encoding_and_both_ways_of_diagnostics_are_among_them() -> None:
    first = {(client.says("general", "positionEncodings") or [None])[0] for client in CLIENTS}
    assert first == {"utf-8", "utf-16", "utf-32", None}
    assert {client.pulls for client in CLIENTS} == {True, False}


async def test_diagnostics_come_the_way_and_in_the_units_that_it_chose(client: Client) -> None:
    encoding = (client.says("general", "positionEncodings") or ["utf-16"])[0]
    start = COLUMNS[encoding]
    async with client.editing() as editor:
        assert (editor.offer.position_encoding or "utf-16") == encoding
        assert (editor.offer.diagnostic_provider is not None) == client.pulls
        editor.open(URI, ASTRAL)
        [diagnostic] = await diagnostics(client, editor, 1)
        assert diagnostic.code == "AG104"
        assert diagnostic.range == types.Range(types.Position(3, start), types.Position(3, start + len("y.add_(1)")))
        editor.edit(URI, 2, (3, start), (3, start + len("y.add_(1)")), "y = y.add(1)")
        assert await diagnostics(client, editor, 2) == []
    assert (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS in editor.heard) != client.pulls


async def test_hover_is_in_the_markup_that_it_prefers(client: Client) -> None:
    preferred = (client.says("textDocument", "hover", "contentFormat") or ["plaintext"])[0]
    async with client.editing() as editor:
        editor.open(URI, BROKEN)
        hover = await editor.hover(URI, 2, 0)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == preferred
    assert "requires_grad=True" in hover.contents.value
    assert ("`" in hover.contents.value) == (preferred == "markdown")


async def test_a_fix_has_the_shape_that_it_can_apply(client: Client) -> None:
    versioned = bool(client.says("workspace", "workspaceEdit", "documentChanges"))
    is_lazy = "edit" in (client.says("textDocument", "codeAction", "resolveSupport", "properties") or [])
    async with client.editing() as editor:
        assert bool(editor.offer.code_action_provider.resolve_provider) == is_lazy
        editor.open(URI, ASTRAL)
        [diagnostic] = await diagnostics(client, editor, 1)
        actions = await editor.code_actions(URI, diagnostic)
        assert {action.edit is None for action in actions} == {is_lazy}
        [preferred] = [action for action in actions if action.is_preferred]
        edit = await editor.edit_of(preferred)
    kinds = client.says("textDocument", "codeAction", "codeActionLiteralSupport", "codeActionKind", "valueSet")
    assert {action.kind for action in actions} == {"quickfix"} <= set(kinds)
    assert (edit.document_changes is not None) == versioned
    assert (edit.changes is not None) != versioned
    if versioned:
        [change] = edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        assert (change.text_document.uri, change.text_document.version) == (URI, 1)
        [text_edit] = change.edits
    else:
        [text_edit] = (edit.changes or {})[URI]
    fixed = edited(ASTRAL, text_edit.range, text_edit.new_text, editor.offer.position_encoding or "utf-16")
    assert fixed == ASTRAL.replace("y.add_(1)", "y = y.add(1)")


async def test_it_is_asked_only_for_what_it_declares(client: Client) -> None:
    async with client.editing() as editor:
        editor.open(URI, BROKEN)
        await diagnostics(client, editor, 1)
        await editor.hover(URI, 2, 0)
    registrable = {
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES: ("workspace", "didChangeWatchedFiles"),
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: ("workspace", "didChangeConfiguration"),
    }
    wanted = {method for method, keys in registrable.items() if client.says(*keys, "dynamicRegistration")}
    assert set(editor.registered) == wanted
    assert len(editor.registered) == len(wanted)
    assert (types.WORKSPACE_CONFIGURATION in editor.heard) == bool(client.says("workspace", "configuration"))
    needs = {
        types.WINDOW_WORK_DONE_PROGRESS_CREATE: ("window", "workDoneProgress"),
        types.WORKSPACE_DIAGNOSTIC_REFRESH: ("workspace", "diagnostics", "refreshSupport"),
        types.WORKSPACE_INLAY_HINT_REFRESH: ("workspace", "inlayHint", "refreshSupport"),
        types.WORKSPACE_CODE_LENS_REFRESH: ("workspace", "codeLens", "refreshSupport"),
    }
    for method, keys in needs.items():
        assert method not in editor.heard or client.says(*keys), method
    assert types.WINDOW_SHOW_MESSAGE not in editor.heard
