"""The formats of a report, by name. Each has a module with a function `write`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from autograd_lsp.process.loading import load

if TYPE_CHECKING:
    from autograd_lsp.cli.formats.beside import Beside
    from autograd_lsp.reports.report import Report


def write(name: str, stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    load(f"{__name__}.{name}").write(stream, reports, beside)
