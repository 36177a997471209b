"""A plugin for flake8, which finds it by its entry point: what fails `autograd-lsp check`, as lines of flake8's.

    $ flake8 train.py
    train.py:4:1: AG104 `y.add_(1)` changes `y` in place, and ...

flake8 asks file by file, in several processes; each process keeps one analysis, in which the files are looked at
together. The analysis is loaded with the first file, as flake8 loads its plugins even to print its version.
"""

from __future__ import annotations

import argparse
import ast
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from autograd_lsp import __version__

if TYPE_CHECKING:
    from analyzers.report import Finding

STDIN = "-"

Line = tuple[int, int, str, type]
"""A line from 1, a column from 0, the code with its message, and what flake8 does not look at."""


class Plugin:
    """What flake8 makes of each file; the names of the parameters say what it is to be given."""

    name = "autograd-lsp"
    version = __version__
    paths: ClassVar[tuple[str, ...]] = ()
    stdin: ClassVar[str | None] = None
    """What standard input is called, where flake8 reads that."""

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        del tree
        self._path = os.path.abspath(filename)
        self._text = "".join(lines) if filename == self.stdin else None

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        cls.paths = tuple(options.filenames)
        cls.stdin = options.stdin_display_name if STDIN in cls.paths else None

    def run(self) -> Iterator[Line]:
        for line, column, text in _analysis(self.paths)(self._path, self._text):
            yield line, column, text, type(self)


@cache
def _analysis(paths: tuple[str, ...]) -> Callable[[str, str | None], list[tuple[int, int, str]]]:
    """Of the files that flake8 was given; the result tells what one of them has, with the disk's text or another."""
    from analyzers.host import Host
    from autograd_lsp.config import Configuration
    from autograd_lsp.environment import Environment
    from autograd_lsp.files.sources import discover, shown_path
    from autograd_lsp.process.memory import collect_seldom
    from autograd_lsp.reports.levels import fails
    from autograd_lsp.reports.make import Reader, settled
    from autograd_lsp.text.positions import LineIndex

    collect_seldom()
    configuration, folder = Configuration(on_error=_end), os.getcwd()
    lenient = configuration.lenient()
    environment = Environment(lambda: (lenient.python(folder), folder))
    host = Host(Reader({}), lenient.choice, environment.kind)
    sources = discover([path for path in paths if path != STDIN], None, configuration)
    together = {source.path for source in sources}
    host.look_at_together(together)

    def message(finding: Finding, path: str) -> str:
        place = finding.place
        if place.path == path:
            return finding.message
        line = LineIndex(host.snapshot().text(place.path)).position(place.start).line
        return f"{finding.message}, at {shown_path(place.path)}:{line}"

    def lines_of(path: str, text: str | None) -> list[tuple[int, int, str]]:
        if configuration.excludes(path):
            return []
        host.forget_if_large(os.cpu_count() or 1)
        if text is not None:
            host.set_text(path, text)
        snapshot = host.snapshot()
        index = LineIndex(snapshot.text(path))
        told = []
        for sighting in settled(host, environment, lambda: snapshot.sightings(path)):
            finding, elsewhere = sighting.finding, sighting.finding.place.path != path
            if not fails(finding, "warning"):
                continue
            # A cause in another file is told there, if flake8 comes to that file.
            if elsewhere and (finding.place.path in together or lenient.excludes(finding.place.path)):
                continue
            at = index.position(sighting.place.start)
            told.append((at.line, at.column - 1, f"{finding.code} {message(finding, path)}"))
        return told

    return lines_of


def _end(error: Exception) -> None:
    """flake8 tells it and exits with 1."""
    from flake8.exceptions import ExecutionError

    raise ExecutionError(f"autograd-lsp: {error}") from error
