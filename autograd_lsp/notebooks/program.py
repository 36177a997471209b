"""A notebook as one program: its code cells, one after the other, and the way back from the program to the cells.

Cells are numbered from 1, over all of them, as ruff does. Formats 3 and 4 are read; a notebook in another language is
no program.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograd_lsp.notebooks.ipython import as_python
from autograd_lsp.text.positions import LineIndex, Position, without_lone_surrogates

SUFFIX = ".ipynb"

_BUILTINS = "from IPython import get_ipython; from IPython.display import display\n"
"""What a kernel puts among the builtins, on a line of no cell."""
_INDENTED = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))*[ \t]+[^\s#]")


class NotANotebookError(Exception):
    """The message says why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """`first_line`, from 0, is where the cell begins in the program; `source` is as its author wrote it."""

    number: int
    source: str
    first_line: int


@dataclass(frozen=True, slots=True)
class Notebook:
    """`text` is the program."""

    text: str
    cells: tuple[Cell, ...]

    def cell_at(self, line: int) -> Cell | None:
        """The cell that a line of the program, from 0, belongs to."""
        at = bisect_right(self.cells, line, key=lambda cell: cell.first_line) - 1
        return self.cells[at] if at >= 0 else None


def position_in(cell: Cell, index: LineIndex, position: Position) -> int:
    """The offset in the cell, of which `index` is, of a position in the program; the nearest one inside."""
    line = position.line - cell.first_line
    if line > index.line_count:
        return index.offset(Position(index.line_count, len(cell.source) + 1))
    return index.offset(Position(line, position.column))


def read_notebook(data: str) -> Notebook | None:
    """None for a notebook in another language than Python."""
    try:
        document = json.loads(data.removeprefix("\ufeff"))
        if not _is_python(document):
            return None
        cells = [*_code_cells(document)]
    except (ValueError, RecursionError) as error:
        raise NotANotebookError(f"not valid JSON: {error}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise NotANotebookError("not a notebook") from error
    return program_of(cells)


def program_of(sources: Iterable[tuple[int, str]]) -> Notebook:
    """The program that code cells make, each with its number."""
    parts = [_BUILTINS]
    cells: list[Cell] = []
    line = 1
    for number, source in sources:
        python = as_python(source)
        if python is None:
            continue
        # IPython takes the indentation of a whole cell away; here it gets a header, on a line of no cell.
        header = "if True:\n" if _INDENTED.match(python) else ""
        cells.append(Cell(number, source, line + len(header.splitlines())))
        parts.append(header + python + ("" if python.endswith("\n") else "\n"))
        line += LineIndex(parts[-1]).line_count - 1
    return Notebook("".join(parts), tuple(cells))


def _is_python(document: Mapping[str, Any]) -> bool:
    metadata = document.get("metadata", {})
    named = [metadata.get("language_info", {}).get("name"), metadata.get("kernelspec", {}).get("language")]
    language = next((name for name in named if isinstance(name, str)), "python")
    return language.lower() in ("python", "ipython")


def _code_cells(document: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    if "worksheets" in document:
        cells = [cell for sheet in document["worksheets"] for cell in sheet["cells"]]
    else:
        cells = document["cells"]
    for number, cell in enumerate(cells, start=1):
        if cell["cell_type"] != "code" or not _speaks_python(cell):
            continue
        source = cell["input"] if "input" in cell else cell["source"]
        text = source if isinstance(source, str) else "".join(source)
        yield number, without_lone_surrogates(text)


def _speaks_python(cell: Mapping[str, Any]) -> bool:
    """An editor may note a language of its own for one cell; format 3 does for each."""
    language = cell.get("language") or cell.get("metadata", {}).get("vscode", {}).get("languageId")
    return language is None or language == "python"
