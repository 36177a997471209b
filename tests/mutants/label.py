"""What a mutant does that its original did not, read from the two runs.

raises      torch, or Python, raises where the original did not
loses       a parameter that got a gradient, or that moved, no longer does
alters      gradients have other sizes than they had
grows       more graph than before stays alive from step to step
nothing     none of these
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Literal

from tests.mutants.record import Run

Label = Literal["raises", "loses", "alters", "grows", "nothing", "unclear"]

CLOSE = 1e-4
"""The relative difference up to which two sizes of a gradient are the same."""


def label(original: Run, mutant: Run) -> Label:
    """`unclear` where a run was cut short by the clock, or ended the process."""
    if mutant.outcome == "raised":
        same = (original.outcome, original.exception, original.message) == ("raised", mutant.exception, mutant.message)
        return "unclear" if same or not mutant.frames else "raises"
    if mutant.outcome == "crashed" or (mutant.outcome == "late" and original.outcome != "late"):
        return "unclear"
    if _loses(original, mutant):
        return "loses"
    if not _agree(original, mutant):
        return "alters"
    return "grows" if _grows(original, mutant) else "nothing"


def _loses(original: Run, mutant: Run) -> bool:
    return bool(_fed(original) - _fed(mutant)) or bool(_moved(original) - _moved(mutant))


def _fed(run: Run) -> Counter[str]:
    """The leaves that a gradient other than zero came to, at most as many of a shape as one backward had."""
    most: Counter[str] = Counter()
    for leaves in run.backwards:
        most |= Counter(shape for shape, size in leaves if size > 0)
    return most


def _moved(run: Run) -> set[tuple[int, int]]:
    """The parameters that some step wrote, by optimizer and place in it."""
    return {(which, number) for which, rows in run.updates for number, (_, moved) in enumerate(rows) if moved}


def _agree(original: Run, mutant: Run) -> bool:
    """Whether both took the same steps with the same gradients, as far as both went."""
    if len(original.updates) != len(mutant.updates) or len(original.backwards) != len(mutant.backwards):
        return False
    ours = [size or 0.0 for _, rows in original.updates for size, _ in rows]
    theirs = [size or 0.0 for _, rows in mutant.updates for size, _ in rows]
    ours += sorted(size for leaves in original.backwards for _, size in leaves)
    theirs += sorted(size for leaves in mutant.backwards for _, size in leaves)
    return len(ours) == len(theirs) and all(
        abs(one - other) <= CLOSE * max(1.0, abs(one)) or (math.isnan(one) and math.isnan(other))
        for one, other in zip(ours, theirs, strict=True)
    )


def _grows(original: Run, mutant: Run) -> bool:
    """A mutant may hold a few nodes more, but not more at each step."""
    before, now = max(original.alive, default=0), max(mutant.alive, default=0)
    return now > 1.4 * before + 8
