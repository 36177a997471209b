"""How much work something is, by count and not by clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def calls_of(job: Callable[[], object]) -> int:
    """How many functions written in Python are called."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(before)
    return count


def lines_of(job: Callable[[], object]) -> int:
    """How many lines are run."""
    count = 0

    def note(_frame: FrameType, _event: str, _argument: object) -> Callable[..., object]:
        nonlocal count
        count += 1
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        job()
    finally:
        sys.settrace(before)
    return count
