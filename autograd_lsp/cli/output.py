"""Where a report goes: to standard output, or to a file that is replaced as a whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from autograd_lsp.process.exits import UsageError


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Folders that are missing above the file are made. A pipe or a device, such as `/dev/stdout`, is written to."""
    if path is None:
        yield sys.stdout
        return
    is_whole = os.path.isfile(path) or not os.path.exists(path)
    target = os.path.realpath(path) if is_whole else path
    beside = f"{target}.{os.getpid()}" if is_whole else target
    with _bad_usage(path):
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        stream = open(beside, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    try:
        yield stream
        with _bad_usage(path):
            stream.close()
            if is_whole:
                _put(beside, target)
    finally:
        with suppress(OSError):
            stream.close()
        if is_whole:
            with suppress(OSError):
                os.unlink(beside)


def _put(beside: str, target: str) -> None:
    if os.path.exists(target):
        shutil.copymode(target, beside)
    os.replace(beside, target)


@contextmanager
def _bad_usage(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
