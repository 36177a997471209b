"""Where a report goes: to standard output, or to a file that is replaced as a whole or not at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from autograd_lsp.process.drafts import Draft, reason
from autograd_lsp.process.exits import UsageError


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Folders that are missing above the file are made. A pipe or a device, such as `/dev/stdout`, is written to."""
    if path is None:
        yield sys.stdout
    elif os.path.isfile(path) or not os.path.exists(path):
        with _bad_usage(path):
            os.makedirs(os.path.dirname(os.path.realpath(path)), exist_ok=True)
            draft = Draft(path)
        stream: TextIO = io.TextIOWrapper(draft.file, encoding="utf-8", errors="backslashreplace")
        try:
            yield stream
            with _bad_usage(path):
                stream.flush()
                draft.put()
        finally:
            draft.drop()
    else:
        with _bad_usage(path):
            stream = open(path, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
        try:
            yield stream
        finally:
            with _bad_usage(path):
                stream.close()


@contextmanager
def _bad_usage(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}") from error
