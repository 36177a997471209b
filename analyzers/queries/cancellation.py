"""Cancels work in progress, from any thread."""

from __future__ import annotations

import threading


class Cancelled(Exception):  # noqa: N818  (a request, not a fault)
    """The work in progress is no longer wanted."""


class CancelToken:
    """Says, from any thread, that a piece of work is no longer wanted."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        if self._event.is_set():
            raise Cancelled
