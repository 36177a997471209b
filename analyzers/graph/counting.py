"""Whether a tensor's version, as the machine counts it, is the number that torch would show.

The machine counts the writes of the program. Torch's own may come on top where it makes an operator of parts: some of
these write what others made. Only differences of versions decide anything, so the machine need not care; who shows the
number has to.
"""

from __future__ import annotations

from functools import cache

from analyzers.domain.lineage import Lineage
from analyzers.ops.table import rows

MOST = 40
"""Steps of a trail that are gone back; what is older is not trusted."""


def counts_as_torch(trail: Lineage | None) -> bool:
    """Whether the memory behind a tensor was made by a step in which torch writes nothing of its own."""
    seen: set[int] = set()
    queue = [] if trail is None else [trail]
    for step in queue:
        if id(step) in seen:
            continue
        seen.add(id(step))
        name = step.what.removeprefix("torch.")
        if _is_made_of_parts(name) or len(seen) > MOST:
            return False
        if _keeps_memory(name):
            queue += step.parents
    return True


@cache
def _is_made_of_parts(name: str) -> bool:
    return any(row.kind == "composite" and row.alias_of is None and row.view is None for row in rows(name))


@cache
def _keeps_memory(name: str) -> bool:
    """Whether what comes out may lie in the memory of what went in."""
    known = rows(name)
    return not known or any(row.view is not None or row.inplace for row in known)
