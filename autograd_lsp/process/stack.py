"""The stack that an analysis runs on: deep programs mean deep recursion."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

STACK_BYTES = 64 * 1024 * 1024

FRAME_SLOTS = 1_100_000
"""So large a frame asks CPython for 16 MB, of which 7 are left for what it calls."""


def start_with_room(function: Callable[[], object]) -> None:
    """Run `function` on a thread of its own, which does not hold up the exit, with room for deep recursion."""
    usual = threading.stack_size(STACK_BYTES)
    try:
        threading.Thread(target=in_roomy_frame, args=(function,), name="analysis", daemon=True).start()
    finally:
        threading.stack_size(usual)


def in_roomy_frame(function: Callable[[], T]) -> T:
    """Call `function` from a frame with room for the frames of all that it calls.

    From 3.11 on, CPython keeps the frames of Python functions in pieces of 16 KB, which it takes from the system and
    gives back as calls cross their borders. In a deep recursion that is a fifth of the time. A frame that says it needs
    much gets one piece for itself and for what comes after it; the pages that nobody touches cost nothing.
    """
    return function()


if sys.version_info >= (3, 11):
    in_roomy_frame.__code__ = in_roomy_frame.__code__.replace(co_stacksize=FRAME_SLOTS)
