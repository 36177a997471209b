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
import sys
from collections.abc import Iterator, Sequence
from typing import ClassVar

from autograd_lsp import __version__
from autograd_lsp.process.loading import load
from autograd_lsp.process.own import own_packages_first

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
        before = own_packages_first()  # `python -m flake8` looks for packages in the working folder first
        try:
            analysis = load("autograd_lsp.flake8.analysis").analysis(self.paths)
        finally:
            sys.path[:] = before
        for line, column, text in analysis(self._path, self._text):
            yield line, column, text, type(self)
