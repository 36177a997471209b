"""`autograd-lsp why`: a traceback of torch's in, the cause and the fix out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from analyzers.program.disk import MOST_BYTES
from autograd_lsp.cli.telling import tell
from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import STDIN
from autograd_lsp.process.exits import CLEAN, FOUND, UsageError
from autograd_lsp.process.loading import load
from autograd_lsp.why.answer import MOST_EXCEPTIONS, Told, answers, told_in
from autograd_lsp.why.others import last_of, what_it_is
from autograd_lsp.why.program import Finder, Mapping


def run(options: argparse.Namespace) -> int:
    log = STDIN if options.traceback is None else options.traceback
    if options.program is not None and not os.path.isfile(options.program):
        raise UsageError(f"{options.program}: no such file")
    text = _log(log)
    told = told_in(text)
    if len(told) > MOST_EXCEPTIONS:
        tell(f"only the last {MOST_EXCEPTIONS} of {len(told):,} exceptions are looked at")
    finder = Finder([Mapping(*names) for names in options.path_map], options.program, options.read_anywhere)
    configuration = Configuration(isolated=True, heeds_comments=False)
    found = list(answers(told, finder, configuration, every=options.all, cached=not options.no_cache))
    load(f"autograd_lsp.cli.explanations.{options.format}").write(sys.stdout, found)
    if not found:
        tell(nothing_found(told, text, _name(log)))
    return CLEAN if found else FOUND


def nothing_found(told: Sequence[Told], text: str, name: str) -> str:
    """What a log is about that tells of no exception of autograd's."""
    last = last_of((item.raised for item in told), text)
    if last is None:
        return f"no traceback in {name}"
    at = f" at {last.frames[-1].path}:{last.frames[-1].line}" if last.frames else ""
    return f"no autograd exception in {name}; {last.exception}{at}: {what_it_is(last)}"


def _log(path: str) -> str:
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{_name(path)}: larger than {MOST_BYTES // 1_000_000} MB")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _name(path: str) -> str:
    return "standard input" if path == STDIN else path
