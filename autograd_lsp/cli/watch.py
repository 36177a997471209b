"""`check --watch`: check again whenever a file that the last check depends on has changed, until interrupted.

Files are looked at from time to time, as this works on every system and for files on other machines.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NoReturn, TypeAlias

from autograd_lsp.cli.telling import tell
from autograd_lsp.files.sources import shown_path
from autograd_lsp.process.exits import UsageError
from autograd_lsp.text.words import plural

_SECONDS = 0.5
_GRAIN = 50_000_000
"""Nanoseconds by which a file system's clock may be behind."""
_SHARE = 10
"""Of the time that passes, one part in this many is spent looking at most."""

State: TypeAlias = Mapping[str, tuple[int, ...] | None]
"""By path, what tells a file from its next edition; None for one that is not there."""


def watch(files: Callable[[], Iterable[str]], check: Callable[[], Collection[str]]) -> NoReturn:
    """`files` are those that are asked for by now; `check` says which others count too."""
    others: Collection[str] = ()
    is_first = True
    while True:
        begun = time.time_ns()
        asked = {*files()}
        before = _state({*asked, *others})
        try:
            others = check()
        except UsageError as error:
            if is_first:
                raise
            tell(str(error))
        sys.stdout.flush()
        is_first = False
        seen = {**_state(others, until=begun - _GRAIN), **before}
        _tell_of(_wait(files, others, {path: seen[path] for path in {*asked, *others}}))


def _wait(files: Callable[[], Iterable[str]], others: Collection[str], seen: State) -> list[str]:
    """The files that are other ones, once some are."""
    while True:
        since = time.monotonic()
        now = _state({*files(), *others})
        changed = [path for path in {**seen, **now} if path not in now or path not in seen or now[path] != seen[path]]
        if changed:
            return sorted(changed)
        time.sleep(max(_SECONDS, (time.monotonic() - since) * _SHARE))


def _state(paths: Iterable[str], until: int | None = None) -> State:
    """With `until`, what has changed since then is not known."""
    state: dict[str, tuple[int, ...] | None] = {}
    for path in paths:
        try:
            there = os.stat(path)
            is_known = until is None or there.st_mtime_ns < until
            state[path] = (there.st_mtime_ns, there.st_size, there.st_ino) if is_known else ()
        except (OSError, ValueError):
            state[path] = None
    return state


def _tell_of(changed: list[str]) -> None:
    if sys.stdout.isatty():
        print("\x1b[2J\x1b[3J\x1b[H", end="", flush=True)
    said = shown_path(changed[0]) + (f" and {plural(len(changed) - 1, 'other file')}" if changed[1:] else "")
    tell(f"{said} changed")
