"""Completion of rules in the lists of comments that silence findings, and nowhere else.

    y.add_(1)  # autograd: ignore[sav        AG104, saved-tensor-modified, ...
    y.add_(1)  # noqa: E501, A               AG104, ...: there a rule has its code alone
    y.add_(1)                                nothing

A client asks wherever its user types, so that most of what it asks is answered without the analyzer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Listed
from autograd_lsp.process.loading import rules
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.server.documents import encoding_of
from autograd_lsp.text.positions import lsp_index

if TYPE_CHECKING:
    from analyzers.host import Snapshot

TRIGGERS = ["[", ",", ":"]


def register(server: AutogradServer) -> None:
    text_document = server.protocol.client_capabilities.text_document
    if text_document is None or text_document.completion is None:
        return

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS))
    async def completion(params: types.CompletionParams) -> list[types.CompletionItem] | None:
        uri = params.text_document.uri
        if not _is_behind_a_hash(server, uri, params.position):
            return None

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.CompletionItem] | None:
            path = converter.path(uri)
            listed = snapshot.listed(path, converter.offset(uri, params.position))
            return None if listed is None else _items(listed, converter.range(listed.place)) or None

        return await server.ask_about(uri, answer, None)


def _is_behind_a_hash(server: AutogradServer, uri: str, position: types.Position) -> bool:
    document = server.open_document(uri)
    if document is None:
        return False
    encoding = encoding_of(server.workspace.position_codec)
    at, start = lsp_index(document.source, position.line, position.character, encoding)
    return "#" in document.source[start:at]


def _items(listed: Listed, where: types.Range) -> list[types.CompletionItem]:
    """The codes, then the names, without what the list has already."""
    left = [rule for rule in rules() if not {rule.code, rule.name.upper()} & listed.others]
    if listed.shared:
        words = [(rule.code, rule) for rule in left if rule.code.startswith(listed.typed)]
    else:
        words = [*((rule.code, rule) for rule in left), *((rule.name, rule) for rule in left)]
    space = " " if listed.wants_space else ""
    return [
        types.CompletionItem(
            word,
            kind=types.CompletionItemKind.Value,
            detail=rule.summary,
            sort_text=f"{number:04}",
            text_edit=types.TextEdit(where, space + word),
        )
        for number, (word, rule) in enumerate(words)
    ]
