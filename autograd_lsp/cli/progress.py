"""Shows the progress of a long check on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TypeVar

from autograd_lsp.cli.telling import CLEAR_LINE, tell
from autograd_lsp.reports.report import Report

_MANY = 20

T = TypeVar("T")


def with_progress(items: Iterator[T], count: int) -> Iterator[T]:
    if count < _MANY or not sys.stderr.isatty():
        yield from items
        return
    try:
        _show(f"checked 0 of {count} files")
        for done, item in enumerate(items, start=1):
            _show(f"checked {done} of {count} files")
            yield item
    finally:
        _show("")


def warn_of_internal_error(report: Report) -> None:
    tell(f"internal error in {report.source.shown}", report.traceback)


def _show(text: str) -> None:
    print(f"{CLEAR_LINE}{text}", end="", file=sys.stderr, flush=True)
