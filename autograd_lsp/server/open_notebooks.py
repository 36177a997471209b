"""Notebooks as the client has them open: the program that their cells make, and which cell is which document.

Cells count in their order in the notebook, whatever order they were executed in. Cells in other languages than Python
are none of ours, nor are texts between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import Workspace

from autograd_lsp.notebooks.program import Cell, Notebook, program_of
from autograd_lsp.text.positions import without_lone_surrogates

SYNC = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("*", [types.NotebookCellLanguage("python")])]
)


@dataclass(frozen=True, slots=True)
class OpenNotebook:
    """`uris` are those of its code cells, which are numbered by their order among these from 0."""

    program: Notebook
    uris: tuple[str, ...]

    def cell(self, uri: str) -> Cell | None:
        """None for a cell of which nothing is in the program, such as a shell script."""
        wanted = unquote(uri)
        return next((cell for cell in self.program.cells if unquote(self.uris[cell.number]) == wanted), None)


def open_notebook(document: types.NotebookDocument, workspace: Workspace) -> OpenNotebook:
    texts = {uri: text.source for uri, text in workspace.text_documents.items() if text.language_id == "python"}
    uris = [
        cell.document
        for cell in document.cells
        if cell.kind is types.NotebookCellKind.Code and unquote(cell.document) in texts
    ]
    sources = [(number, without_lone_surrogates(texts[unquote(uri)])) for number, uri in enumerate(uris)]
    return OpenNotebook(program_of(sources), tuple(uris))
