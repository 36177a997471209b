"""Files that fixes change: what the analysis sees of them, and what they hold after edits of that."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analyzers.program.disk import encoding_of, read_regular_file
from analyzers.report import Edit
from autograd_lsp.files.sources import Source, UnreadableError, decode, is_notebook
from autograd_lsp.notebooks.program import Cell, NotANotebookError, Notebook, position_in, read_notebook
from autograd_lsp.notebooks.source import find_cell
from autograd_lsp.process.drafts import is_protected, reason
from autograd_lsp.text.edits import edited
from autograd_lsp.text.positions import LineIndex

_BROKEN, _PARSES, _COMPILES = range(3)


class RefusedError(Exception):
    """The message says why."""


@dataclass(frozen=True, slots=True)
class File:
    """`data` is what it was at first, `text` what that says."""

    data: bytes
    encoding: str
    text: str
    standing: int

    def encoded(self, text: str) -> bytes:
        return text.encode(self.encoding)

    def program(self, text: str) -> str:
        """What the analysis makes of a text."""
        return text

    def after(self, text: str, edits: Sequence[Edit]) -> str | None:
        """A text after edits of its program; None where it cannot be written, or is less of a program than at first."""
        try:
            new = self.edited(text, edits)
            is_same = encoding_of(self.encoded(new)) == self.encoding
            return new if is_same and standing(self.program(new)) >= self.standing else None
        except (ValueError, SyntaxError):
            return None

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """Raises `ValueError` where there is no room for one of them."""
        return edited(text, edits)


@dataclass(frozen=True, slots=True)
class NotebookFile(File):
    """JSON, of which only the strings change that hold the sources of cells."""

    def program(self, text: str) -> str:
        return _notebook(text).text

    def after(self, text: str, edits: Sequence[Edit]) -> str | None:
        try:
            new = self.edited(text, edits)
            return new if standing(self.program(new)) >= self.standing else None
        except ValueError:
            return None

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        notebook = _notebook(text)
        index = LineIndex(notebook.text)
        by_cell: dict[Cell, list[Edit]] = {}
        for edit in edits:
            # What stands before all cells, as an edit that adds an import, goes to the first one.
            line = index.position(edit.place.start).line - 1
            cell = notebook.cell_at(line) or next(iter(notebook.cells))
            by_cell.setdefault(cell, []).append(_in_cell(edit, cell, index))
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        for cell, there in by_cell.items():
            found = find_cell(text, cell.number, cell.source)
            if found is None:
                raise ValueError(f"cell {cell.number} is not found in the file")
            text = mark + found.replaced(edited(cell.source, there))
        return text


def open_file(path: str, source: Source) -> File:
    """Raises `RefusedError` for one that cannot be changed."""
    try:
        if source.text is None and is_protected(path):
            raise RefusedError("it is write-protected")
        data = source.data if source.text is not None else read_regular_file(path)
        if is_notebook(source):
            return _open_notebook(data)
        text, encoding = decode(data), encoding_of(data)
        if text.encode(encoding) != data:
            raise RefusedError(f"it cannot be written back unchanged in {encoding}")
    except OSError as error:
        raise RefusedError(reason(error)) from error
    except (UnicodeError, UnreadableError) as error:
        raise RefusedError(str(error)) from error
    stands = standing(text)
    if stands == _BROKEN:
        raise RefusedError("it does not parse")
    return File(data, encoding, text, stands)


def _open_notebook(data: bytes) -> NotebookFile:
    text = data.decode("utf-8")
    try:
        stands = standing(_notebook(text).text)
    except ValueError as error:
        raise RefusedError(str(error)) from error
    if stands == _BROKEN:
        raise RefusedError("it does not parse")
    return NotebookFile(data, "utf-8", text, stands)


def _notebook(text: str) -> Notebook:
    try:
        notebook = read_notebook(text)
    except NotANotebookError as error:
        raise ValueError(str(error)) from error
    if notebook is None:
        raise ValueError("it is in another language than Python")
    return notebook


def _in_cell(edit: Edit, cell: Cell, index: LineIndex) -> Edit:
    """The same edit of the cell's own text. Lines that are no Python there cannot be edited."""
    own = LineIndex(cell.source)
    begins, ends = index.position(edit.place.start), index.position(edit.place.end)
    for line in range(begins.line, ends.line + 1):
        there = line - 1 - cell.first_line
        if 0 <= there < own.line_count and own.line_text(there) != index.line_text(line - 1):
            raise ValueError(f"line {there + 1} of cell {cell.number} is not as it was written")
    start, end = (position_in(cell, own, place) for place in (begins, ends))
    return replace(edit, place=replace(edit.place, start=start, end=end))


def standing(text: str) -> int:
    """How much of a program a text is, to the Python that runs this."""
    errors = (SyntaxError, ValueError, RecursionError, MemoryError)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "", "exec", dont_inherit=True)
            return _COMPILES
        except errors:
            pass
        try:
            ast.parse(text)
            return _PARSES
        except errors:
            return _BROKEN
