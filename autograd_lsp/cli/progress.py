"""How far a long check is: on standard error, and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TypeVar

_MANY = 20
_CLEAR_LINE = "\r\x1b[K"

T = TypeVar("T")


def with_progress(items: Iterator[T], count: int) -> Iterator[T]:
    if count < _MANY or not sys.stderr.isatty():
        yield from items
        return
    try:
        for done, item in enumerate(items, start=1):
            print(f"{_CLEAR_LINE}checked {done} of {count} files", end="", file=sys.stderr, flush=True)
            yield item
    finally:
        print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)
