"""Findings for a person at a terminal, or for an editor that reads its output: one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.text import Writer, write_with
from autograd_lsp.reports.report import Report


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    write_with(Writer.line, stream, reports, beside)
