"""How the processes of this tool use memory."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Let the garbage collector look less often: states share nearly all they hold, and little of it is ever garbage.

    With CPython's own thresholds it takes up to a third of an analysis.
    """
    gc.set_threshold(50_000, 20, 100)
