"""How the processes of this tool use memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def collect_seldom() -> None:
    """Let the garbage collector look less often: states share nearly all they hold, and what is dropped of them goes
    with its reference counts, as hardly anything leads back to itself.

    With CPython's own thresholds it takes up to a third of an analysis.
    """
    gc.set_threshold(3_000_000, 20, 100)


@contextmanager
def without_collecting() -> Iterator[None]:
    """What is loaded in here stays for good: the garbage collector looks at none of it, neither now nor later."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
