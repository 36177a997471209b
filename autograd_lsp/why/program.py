"""Finds the files that a traceback names on this machine: as named, by a mapping, or by the end of their path.

Each line is compared with its text in the traceback. If the file has changed since, the nearest line with that text is
used; if no line has it, the file is taken to be a different one, unless it was named in full.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from autograd_lsp.files.folders import is_skipped
from autograd_lsp.files.sources import Source, UnreadableError, notebook_of, read_text, shown_path
from autograd_lsp.notebooks.program import SUFFIX, Notebook
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.why.log import Frame, Raised

_LIBRARY = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|lib(?:64)?/python3(?:\.\d+)?|python3\d+/lib|\w*conda3?/lib|envs/[^/]+/lib)/|"
    r"(?:^|/)torch/(?:_\w+|autograd|nn|optim|utils|amp|cuda|distributed|func)(?:\.py$|/)"
)
_COUNTED = re.compile(r"ipython-input-([0-9]{1,9})")
_MOST_FOLDERS = 5_000


@dataclass(frozen=True, slots=True)
class Mapping:
    """`FROM=TO`: a path that begins with the one lies here below the other."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Located:
    """A frame and where it lies here: `line`, from 1, of the text that is analysed."""

    frame: Frame
    source: Source
    line: int
    moved: bool = False
    """Whether the line is not the one that the traceback says."""
    cell: int | None = None
    """The number of the notebook's cell, from 1."""


@dataclass(slots=True)
class Finder:
    """Where to look. `program` is the file that the user has named."""

    mappings: Sequence[Mapping] = ()
    program: str | None = None
    _below: dict[str, list[str]] | None = None
    _indexes: dict[str, tuple[Source, LineIndex, Notebook | None] | None] = field(default_factory=dict)

    def locate(self, frames: Iterable[Frame]) -> list[Located]:
        """The frames of the user's own files that are here, from the entry inwards."""
        found = (self._located(frame) for frame in frames if not is_library(frame))
        return [located for located in found if located is not None]

    def _located(self, frame: Frame) -> Located | None:
        if is_cell(frame):
            return self._in_notebook(frame)
        for shown, is_named in self._candidates(frame.path):
            opened = self._open(shown)
            if opened is None:
                continue
            source, index, _ = opened
            line = _line_in(index, frame)
            if line is not None:
                return Located(frame, source, line, moved=line != frame.line)
            if is_named and 0 < frame.line <= index.line_count:
                return Located(frame, source, frame.line, moved=True)
        return None

    def _candidates(self, written: str) -> Iterator[tuple[str, bool]]:
        """Paths to try, and whether each is the one that the traceback names."""
        path = written.replace("\\", "/")
        name = path.rpartition("/")[2]
        if not name.endswith(".py"):
            return
        for mapping in self.mappings:
            before = mapping.before.replace("\\", "/").rstrip("/") + "/"
            if path.startswith(before):
                yield os.path.join(mapping.after, path[len(before) :]), True
        for whole in dict.fromkeys((written, os.path.expanduser(path))):
            if "\0" not in whole and os.path.isfile(whole):
                yield shown_path(os.path.abspath(whole)), True
        if self.program is not None and os.path.basename(self.program) == name:
            yield self.program, True
        parts = [part for part in path.split("/") if part not in ("", ".", "..") and not part.endswith(":")]
        if self._below is None:
            self._below = _files_by_name()
        yield from (
            (found, False) for found in sorted(self._below.get(name, ()), key=lambda file: _unlike(file, parts))
        )
        if self.program is not None and self.program.endswith(".py"):
            yield self.program, False

    def _in_notebook(self, frame: Frame) -> Located | None:
        if self.program is not None:
            shown = [self.program] if self.program.endswith(SUFFIX) else []
        else:
            self._below = _files_by_name() if self._below is None else self._below
            shown = sorted(file for files in self._below.values() for file in files if file.endswith(SUFFIX))
        for file in shown:
            opened = self._open(file)
            if opened is None or opened[2] is None:
                continue
            source, _, notebook = opened
            assert notebook is not None
            best = max(notebook.cells, key=lambda cell: _likeness(cell.source, frame), default=None)
            if best is not None and _likeness(best.source, frame) > 0:
                return Located(frame, source, best.first_line + frame.line, cell=best.number)
        return None

    def _open(self, shown: str) -> tuple[Source, LineIndex, Notebook | None] | None:
        if shown not in self._indexes:
            self._indexes[shown] = _opened(shown)
        return self._indexes[shown]


def entry_of(raised: Raised, finder: Finder) -> Located | None:
    """The outermost frame of the user's: the script that was run."""
    frames = [*finder.locate(raised.outer), *finder.locate(raised.frames)]
    return frames[0] if frames else None


def is_library(frame: Frame) -> bool:
    """Whether a frame is of something installed, or of nothing that lies in a file."""
    if is_cell(frame):
        return False
    if frame.path.startswith("<"):
        return True
    return _LIBRARY.search(frame.path.replace("\\", "/").lower()) is not None


def is_cell(frame: Frame) -> bool:
    return frame.cell is not None or "ipython-input-" in frame.path or "/ipykernel_" in frame.path.replace("\\", "/")


def cell_count(frame: Frame) -> str | None:
    """What Jupyter counts the cell as."""
    found = _COUNTED.search(frame.path)
    return frame.cell or (found[1] if found is not None else None)


def _opened(shown: str) -> tuple[Source, LineIndex, Notebook | None] | None:
    source = Source(shown, os.path.abspath(shown))
    if not os.path.isfile(source.path):
        return None
    try:
        if shown.endswith(SUFFIX):
            notebook = notebook_of(source)
            return None if notebook is None else (source, LineIndex(notebook.text), notebook)
        return source, LineIndex(read_text(source.path)), None
    except UnreadableError:
        return None


def _files_by_name() -> dict[str, list[str]]:
    """The Python files and notebooks below the current folder, by name."""
    found: dict[str, list[str]] = {}
    for count, (here, folders, files) in enumerate(os.walk(".")):
        if count >= _MOST_FOLDERS:
            break
        folders[:] = sorted(name for name in folders if not is_skipped(here, name))
        for name in files:
            if name.endswith((".py", SUFFIX)):
                found.setdefault(name, []).append(os.path.normpath(os.path.join(here, name)))
    return found


def _unlike(file: str, parts: Sequence[str]) -> tuple[int, int, str]:
    """The more of the path's end two have in common, the smaller."""
    own = file.replace(os.sep, "/").split("/")
    same = 0
    while same < min(len(own), len(parts)) and own[-1 - same] == parts[-1 - same]:
        same += 1
    return -same, len(own), file


def _line_in(index: LineIndex, frame: Frame) -> int | None:
    """The line that a frame tells of; None where the file has no such line."""
    if 0 < frame.line <= index.line_count and (not frame.text or _same(index.line_text(frame.line - 1), frame.text)):
        return frame.line
    if not frame.text:
        return None
    same = [number for number in range(1, index.line_count + 1) if _same(index.line_text(number - 1), frame.text)]
    return min(same, key=lambda number: abs(number - frame.line), default=None)


def _same(line: str, told: str) -> bool:
    """A narrow terminal cuts what it tells."""
    own, other = line.strip(), told.strip()
    return own == other or (len(other) > 30 and own.startswith(other.rstrip("….")))


def _likeness(cell: str, frame: Frame) -> int:
    """How many of the lines that a frame shows a cell has; 0 where it lacks the one that matters."""
    lines = cell.splitlines()
    told = frame.around or (((frame.line, frame.text),) if frame.text else ())
    if not 0 < frame.line <= len(lines) or (frame.text and lines[frame.line - 1].strip() != frame.text.strip()):
        return 0
    return sum(0 < number <= len(lines) and lines[number - 1].strip() == text.strip() for number, text in told)
