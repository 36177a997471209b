"""Our copies of the open documents, cut into lines and columns as LSP does it.

pygls uses `str.splitlines` for both, which also cuts at form feeds and Unicode separators: an edit below one of those
would land on the wrong line. It also reads unopened files with their line ends translated; here a document that is not
open is never read, the analyzer does that.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from autograd_lsp.text.positions import Encoding, lsp_index


class Document(TextDocument):
    """An open document. Its text changes only through `apply_change`."""

    _known = (0, 0)
    """A line, and the index at which it starts."""

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        if not isinstance(change, types.TextDocumentContentChangePartial):
            self._source, self._known = change.text, (0, 0)
            return
        text, where, encoding = self._source or "", change.range, encoding_of(self._position_codec)
        start, of_line = lsp_index(text, where.start.line, where.start.character, encoding, self._known)
        end = start
        if where.start != where.end:
            end, _ = lsp_index(text, where.end.line, where.end.character, encoding, (where.start.line, of_line))
        self._source = text[:start] + change.text + text[max(start, end) :]
        self._known = (where.start.line, of_line) if of_line < len(text) else (0, 0)

    @property
    def key(self) -> str:
        return path_of(self.uri)


class Documents(Workspace):
    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=self._sync_kind,
            position_codec=self._position_codec,
        )

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """pygls closes what leaves a notebook after it has opened what comes: a cell that only changes its kind, and
        so does both, would be gone."""
        super().update_notebook_document(params)
        structure = params.change.cells.structure if params.change.cells is not None else None
        for opened in (structure.did_open or []) if structure is not None else []:
            if unquote(opened.uri) not in self.text_documents:
                self.put_text_document(opened, notebook_uri=params.notebook_document.uri)


def encoding_of(holder: Any) -> Encoding:
    """The encoding that pygls negotiated; it keeps it as a string or as an enum."""
    name = getattr(holder.encoding, "value", holder.encoding)
    return name if name in ("utf-8", "utf-32") else "utf-16"


def path_of(uri: str) -> str:
    """The path that the analyzer knows a document by. What is not a file, such as an unsaved buffer, keeps its URI."""
    return to_fs_path(uri) or uri


def uri_of(path: str) -> str:
    return path if "://" in path or path.startswith("untitled:") else from_fs_path(path) or path
