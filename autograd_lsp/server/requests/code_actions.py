"""Quick fixes at the cursor, among them a comment that silences the finding, and `source.fixAll.autograd-lsp`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Edit, Finding, Sighting
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.text.edits import compatible, safe_fix

if TYPE_CHECKING:
    from analyzers.host import Snapshot

FIX_ALL = "source.fixAll.autograd-lsp"
_ABOUT_COMMENTS = "AG0"


def register(server: AutogradServer) -> None:
    options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.CodeAction]:
            sightings = server.sightings(snapshot, converter.path(uri))
            build = _Actions(server, snapshot, converter, params.context)
            actions: list[types.CodeAction] = []
            if _wanted(params.context, types.CodeActionKind.QuickFix, unasked=True):
                start, end = (converter.offset(uri, p) for p in (params.range.start, params.range.end))
                near = [s for s in sightings if s.place.start <= end and start <= s.place.end]
                actions.extend(action for sighting in near for action in build.quick_fixes(sighting))
                actions.extend(action for sighting in near for action in build.ignore(sighting))
            if _wanted(params.context, FIX_ALL, unasked=False):
                actions.extend(
                    build.fix_all(
                        [s.finding for s in sightings if s.place == s.finding.place and converter.is_in(uri, s.place)]
                    )
                )
            return actions

        return await server.ask_about(uri, answer, [])


def _wanted(context: types.CodeActionContext, kind: str, *, unasked: bool) -> bool:
    """A client asks for a kind by naming it or one of its parents. Without a word it gets the fixes at the cursor."""
    if not context.only:
        return unasked
    names = [getattr(only, "value", only) for only in context.only]
    return any(name in ("", kind) or kind.startswith(f"{name}.") for name in names)


class _Actions:
    def __init__(
        self, server: AutogradServer, snapshot: Snapshot, converter: Converter, context: types.CodeActionContext
    ) -> None:
        self.server = server
        self.snapshot = snapshot
        self.converter = converter
        self.context = context
        workspace = server.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        self.versioned = bool(edit is not None and edit.document_changes)

    def quick_fixes(self, sighting: Sighting) -> Iterable[types.CodeAction]:
        """Alternatives, best first; the first safe one is the one that an editor applies without asking."""
        finding = sighting.finding
        preferred = safe_fix(finding)
        for fix in finding.fixes:
            yield types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=self.diagnostics(sighting),
                is_preferred=fix is preferred or None,
                edit=self.workspace_edit(fix.edits),
            )

    def ignore(self, sighting: Sighting) -> Iterable[types.CodeAction]:
        """Never preferred, and no part of `fix_all`: it mends nothing."""
        finding = sighting.finding
        edit = None if finding.code.startswith(_ABOUT_COMMENTS) else self.snapshot.ignoring(finding)
        if edit is not None:
            yield types.CodeAction(
                title=_ignoring(sighting),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=self.diagnostics(sighting),
                edit=self.workspace_edit([edit]),
            )

    def diagnostics(self, sighting: Sighting) -> list[types.Diagnostic]:
        """As the client sent it, where it did."""
        shown = self.converter.diagnostic(sighting)
        return [d for d in self.context.diagnostics if (d.code, d.range) == (shown.code, shown.range)] or [shown]

    def fix_all(self, findings: Sequence[Finding]) -> Iterable[types.CodeAction]:
        _, edits = compatible(fix for finding in findings if (fix := safe_fix(finding)) is not None)
        if edits:
            yield types.CodeAction(title="Apply all safe autograd fixes", kind=FIX_ALL, edit=self.workspace_edit(edits))

    def workspace_edit(self, edits: Sequence[Edit]) -> types.WorkspaceEdit:
        """Tied to the version that it was made for, where the client can check that."""
        by_uri: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            text_edit = types.TextEdit(self.converter.range(edit.place), edit.text)
            by_uri.setdefault(self.converter.uri_at(edit.place), []).append(text_edit)
        if not self.versioned:
            return types.WorkspaceEdit(changes=by_uri)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(uri, self.server.version_of(uri)), list(text_edits)
                )
                for uri, text_edits in by_uri.items()
            ]
        )


def _ignoring(sighting: Sighting) -> str:
    """A comment counts where the cause is."""
    path = sighting.finding.place.path
    there = "on this line" if sighting.place.path == path else f"in {os.path.basename(path)}"
    return f"Ignore {sighting.finding.code} {there}"
