"""Quick fixes at the cursor, among them a comment that silences the finding, and all safe fixes at once.

`source.fixAll.autograd-lsp` fixes a document; of a notebook that is one cell. `notebook.source.fixAll.autograd-lsp`
fixes all cells of a notebook: VS Code asks the first one for it when the notebook is saved.

A client that can ask for the edit of the action that its user chose (`codeAction/resolve`) is given it then.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from analyzers.report import Finding, Fix, Sighting
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.text.edits import compatible, safe_fix
from autograd_lsp.text.positions import LineIndex

if TYPE_CHECKING:
    from analyzers.host import Snapshot

QUICK_FIX = types.CodeActionKind.QuickFix.value
FIX_ALL = "source.fixAll.autograd-lsp"
NOTEBOOK_FIX_ALL = f"notebook.{FIX_ALL}"
_ABOUT_COMMENTS = "AG0"

_Key: TypeAlias = list[Any]
"""What tells an action from all others in its document: its title, and its finding's code and places."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """An action: as many of its fixes as go together."""

    title: str
    kind: str
    fixes: Sequence[Fix]
    sighting: Sighting | None = None
    is_preferred: bool = False
    rewritten: tuple[str, str, str] | None = None
    """A file that is none of the program's: its path, its text, and what that is to become."""

    @property
    def key(self) -> _Key:
        if self.sighting is None:
            return [self.title]
        finding, shown = self.sighting.finding, self.sighting.place
        return [self.title, finding.code, shown.start, shown.end, finding.place.path, finding.place.start]


def register(server: AutogradServer) -> None:
    capabilities = server.protocol.client_capabilities
    is_lazy = _resolves_edits(capabilities)
    kinds: list[types.CodeActionKind | str] = [QUICK_FIX, FIX_ALL]
    if capabilities.notebook_document is not None:
        kinds.append(NOTEBOOK_FIX_ALL)
    options = types.CodeActionOptions(kinds, resolve_provider=is_lazy or None)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        version = server.version_of(uri)

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.CodeAction]:
            actions = []
            for offer in _offers(server, snapshot, converter, uri, params):
                action = _action(offer, converter, params.context)
                if is_lazy:
                    action.data = [uri, version, *offer.key]
                else:
                    action.edit = _workspace_edit(server, converter, offer)
                actions.append(action)
            return actions

        return await server.ask_about(uri, answer, [])

    if is_lazy:
        _register_resolve(server)


def _register_resolve(server: AutogradServer) -> None:
    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        """Where the document is another than it was, the client asks for its actions again."""
        match action.data:
            case [str(uri), version, *key] if key:
                if server.version_of(uri) != version:
                    raise JsonRpcContentModified
            case _:
                return action

        def answer(snapshot: Snapshot, converter: Converter) -> types.WorkspaceEdit | None:
            for offer in _offers(server, snapshot, converter, uri):
                if offer.key == key and offer.kind == action.kind:
                    return _workspace_edit(server, converter, offer)
            raise JsonRpcContentModified

        action.edit = await server.ask_about(uri, answer, None)
        return action


def _offers(
    server: AutogradServer,
    snapshot: Snapshot,
    converter: Converter,
    uri: str,
    asked: types.CodeActionParams | None = None,
) -> Iterator[_Offer]:
    """All that there is in a document; or what is asked for."""
    path = converter.path(uri)
    sightings = server.sightings(snapshot, path)
    if asked is None or _wanted(asked.context, QUICK_FIX, unasked=True):
        near = sightings
        if asked is not None:
            start, end = (converter.offset(uri, p) for p in (asked.range.start, asked.range.end))
            near = [one for one in sightings if one.place.start <= end and start <= one.place.end]
        yield from (offer for sighting in near for offer in _quick_fixes(sighting))
        yield from (offer for sighting in near for offer in _ignore(snapshot, sighting))
        yield from (offer for sighting in near for offer in _record(server, snapshot, sighting))
    own = [one for one in sightings if one.place == one.finding.place]
    if asked is None or _wanted(asked.context, FIX_ALL, unasked=False):
        here = [one.finding for one in own if converter.is_in(uri, one.place)]
        yield from _fix_all("Apply all safe autograd fixes", FIX_ALL, here)
    if converter.is_cell(uri) and (asked is None or _wanted(asked.context, NOTEBOOK_FIX_ALL, unasked=False)):
        everywhere = [one.finding for one in own]
        yield from _fix_all("Apply all safe autograd fixes in the notebook", NOTEBOOK_FIX_ALL, everywhere)


def _wanted(context: types.CodeActionContext, kind: str, *, unasked: bool) -> bool:
    """A client asks for a kind by naming it or one of its parents. Without a word it gets the fixes at the cursor."""
    if not context.only:
        return unasked
    names = [getattr(only, "value", only) for only in context.only]
    return any(name in ("", kind) or kind.startswith(f"{name}.") for name in names)


def _resolves_edits(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client asks for the edit of an action once it is chosen, and hands back what it was told of it."""
    text_document = capabilities.text_document
    actions = text_document.code_action if text_document is not None else None
    if actions is None or not actions.data_support or actions.resolve_support is None:
        return False
    return "edit" in actions.resolve_support.properties


def _quick_fixes(sighting: Sighting) -> Iterator[_Offer]:
    """Alternatives, best first; the first safe one is the one that an editor applies without asking."""
    preferred = safe_fix(sighting.finding)
    for fix in sighting.finding.fixes:
        yield _Offer(fix.title, QUICK_FIX, [fix], sighting, is_preferred=fix is preferred)


def _ignore(snapshot: Snapshot, sighting: Sighting) -> Iterator[_Offer]:
    """Never preferred, and no part of `_fix_all`: it mends nothing."""
    finding = sighting.finding
    edit = None if finding.code.startswith(_ABOUT_COMMENTS) else snapshot.ignoring(finding)
    if edit is not None:
        title = _ignoring(sighting)
        yield _Offer(title, QUICK_FIX, [Fix(title, False, (edit,))], sighting)


def _record(server: AutogradServer, snapshot: Snapshot, sighting: Sighting) -> Iterator[_Offer]:
    """Where the project has a baseline."""
    rewritten = server.known.recording(snapshot, sighting.finding)
    if rewritten is not None:
        title = f"Record {sighting.finding.code} in {os.path.basename(rewritten[0])}"
        yield _Offer(title, QUICK_FIX, [], sighting, rewritten=rewritten)


def _ignoring(sighting: Sighting) -> str:
    """A comment counts where the cause is."""
    path = sighting.finding.place.path
    there = "on this line" if sighting.place.path == path else f"in {os.path.basename(path)}"
    return f"Ignore {sighting.finding.code} {there}"


def _fix_all(title: str, kind: str, findings: Iterable[Finding]) -> Iterator[_Offer]:
    fixes = [fix for finding in findings if (fix := safe_fix(finding)) is not None and fix.edits]
    if fixes:
        yield _Offer(title, kind, fixes)


def _action(offer: _Offer, converter: Converter, context: types.CodeActionContext) -> types.CodeAction:
    """Without its edit. A diagnostic is as the client sent it, where it did."""
    diagnostics = None
    if offer.sighting is not None:
        shown = converter.diagnostic(offer.sighting)
        same = [one for one in context.diagnostics if (one.code, one.range) == (shown.code, shown.range)]
        diagnostics = same or [shown]
    return types.CodeAction(offer.title, offer.kind, diagnostics, is_preferred=offer.is_preferred or None)


def _workspace_edit(server: AutogradServer, converter: Converter, offer: _Offer) -> types.WorkspaceEdit:
    """Tied to the version that it was made for, where the client can check that."""
    workspace = server.client_capabilities.workspace
    known = workspace.workspace_edit if workspace is not None else None
    by_uri: dict[str, list[types.TextEdit]] = {}
    for edit in compatible(offer.fixes)[1]:
        text_edit = types.TextEdit(converter.range(edit.place), edit.text)
        by_uri.setdefault(converter.uri_at(edit.place), []).append(text_edit)
    if offer.rewritten is not None:
        path, before, after = offer.rewritten
        end = types.Position(*LineIndex(before).lsp_position(len(before), converter.encoding))
        by_uri[converter.uri(path)] = [types.TextEdit(types.Range(types.Position(0, 0), end), after)]
    if known is None or not known.document_changes:
        return types.WorkspaceEdit(changes=by_uri)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, server.version_of(uri)), list(text_edits)
            )
            for uri, text_edits in by_uri.items()
        ]
    )
