"""Finds the files that a traceback names on this machine: as named, by a mapping, or by the end of their path.

Each line is compared with its text in the traceback. If the file has changed since, the nearest line with that text is
used; if no line has it, the file is taken to be a different one, unless it was named in full.

A log may come from anybody, and what is found is quoted. So nothing is read that lies elsewhere than below the working
directory, beside the program, or where a mapping leads, unless the user wants that.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from autograd_lsp.config import is_below
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
_MOST_ALIKE = 1_000
"""Lines that begin with what a narrow terminal has left of one."""


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


@dataclass(frozen=True)
class _Opened:
    source: Source
    index: LineIndex
    notebook: Notebook | None

    def line_of(self, frame: Frame) -> int | None:
        """The line that a frame tells of; None where the file has no such line."""
        count = self.index.line_count
        if 0 < frame.line <= count and (not frame.text or _same(self.index.line_text(frame.line - 1), frame.text)):
            return frame.line
        return min(self._lines_like(frame.text.strip()), key=lambda number: abs(number - frame.line), default=None)

    def _lines_like(self, told: str) -> Iterator[int]:
        if not told:
            return
        yield from self._numbers.get(told, ())
        if (start := _cut(told)) is not None:
            first = bisect_left(self._texts, start)
            for text in islice(self._texts, first, first + _MOST_ALIKE):
                if not text.startswith(start):
                    return
                yield from self._numbers[text]

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for line in range(self.index.line_count):
            numbers.setdefault(self.index.line_text(line).strip(), []).append(line + 1)
        return numbers

    @cached_property
    def _texts(self) -> list[str]:
        return sorted(self._numbers)


@dataclass(slots=True)
class Finder:
    """Where to look. `program` is the file that the user has named; with `anywhere` any path may be read."""

    mappings: Sequence[Mapping] = ()
    program: str | None = None
    anywhere: bool = False
    outside: set[str] = field(default_factory=set)
    """Files that are here, and lie where nothing may be read, as the traceback calls them."""
    _below: dict[str, list[str]] | None = None
    _opened: dict[str, _Opened | None] = field(default_factory=dict)
    _found: dict[Frame, Located | None] = field(default_factory=dict)

    def locate(self, frames: Iterable[Frame]) -> list[Located]:
        """The frames of the user's own files that are here, from the entry inwards."""
        found = (self._located(frame) for frame in frames if not is_library(frame))
        return [located for located in found if located is not None]

    def _located(self, frame: Frame) -> Located | None:
        if frame not in self._found:
            self._found[frame] = self._in_notebook(frame) if is_cell(frame) else self._in_file(frame)
        return self._found[frame]

    def _in_file(self, frame: Frame) -> Located | None:
        for shown, is_named in self._candidates(frame.path):
            opened = self._open(shown)
            if opened is None:
                continue
            line = opened.line_of(frame)
            if line is not None:
                return Located(frame, opened.source, line, moved=line != frame.line)
            if is_named and 0 < frame.line <= opened.index.line_count:
                return Located(frame, opened.source, frame.line, moved=True)
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
                if self._may_read(whole):
                    yield shown_path(os.path.abspath(whole)), True
                else:
                    self.outside.add(written)
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
            if opened is None or opened.notebook is None:
                continue
            best = max(opened.notebook.cells, key=lambda cell: _likeness(cell.source, frame), default=None)
            if best is not None and _likeness(best.source, frame) > 0:
                return Located(frame, opened.source, best.first_line + frame.line, cell=best.number)
        return None

    def _open(self, shown: str) -> _Opened | None:
        if shown not in self._opened:
            self._opened[shown] = _opened(shown) if self._may_read(shown) else None
        return self._opened[shown]

    def _may_read(self, path: str) -> bool:
        folders = [".", *(mapping.after for mapping in self.mappings)]
        if self.program is not None:
            folders.append(os.path.dirname(os.path.abspath(self.program)))
        real = os.path.realpath(path)
        return self.anywhere or any(is_below(real, os.path.realpath(folder)) for folder in folders)


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


def _opened(shown: str) -> _Opened | None:
    source = Source(shown, os.path.abspath(shown))
    if not os.path.isfile(source.path):
        return None
    try:
        if shown.endswith(SUFFIX):
            notebook = notebook_of(source)
            return None if notebook is None else _Opened(source, LineIndex(notebook.text), notebook)
        return _Opened(source, LineIndex(read_text(source.path)), None)
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


def _same(line: str, told: str) -> bool:
    own, other = line.strip(), told.strip()
    start = _cut(other)
    return own == other or (start is not None and own.startswith(start))


def _cut(told: str) -> str | None:
    """What a line begins with, if a narrow terminal may have cut it there."""
    return told.rstrip("….") if len(told) > 30 else None


def _likeness(cell: str, frame: Frame) -> int:
    """How many of the lines that a frame shows a cell has; 0 where it lacks the one that matters."""
    lines = cell.splitlines()
    told = frame.around or (((frame.line, frame.text),) if frame.text else ())
    if not 0 < frame.line <= len(lines) or (frame.text and lines[frame.line - 1].strip() != frame.text.strip()):
        return 0
    return sum(0 < number <= len(lines) and lines[number - 1].strip() == text.strip() for number, text in told)
