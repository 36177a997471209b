"""Cancels work in progress, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancelled(Exception):  # noqa: N818  (a request, not a fault)
    """The work in progress is no longer wanted."""


class Busy(Cancelled):
    """What is asked for in the middle of other work needs that work to end first."""


class CancelToken:
    """Says, from any thread, that a piece of work is no longer wanted.

    `make_way` is called again and again during long work, where something else may be asked (`Database.aside`).
    """

    def __init__(self, make_way: Callable[[], None] | None = None) -> None:
        self._event = threading.Event()
        self.make_way = make_way

    def cancel(self) -> None:
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        if self._event.is_set():
            raise Cancelled
