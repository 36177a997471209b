"""How often an observer looks at what it meets again and again: what it finds, it finds in the first rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

PLACES = 8
"""How many places may be looked at as often as that: a file trains one network after another. An optimizer that is made
anew in each round is another place each time."""


class Looks:
    """Looks at places, each of which has so many."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._taken: Counter[Hashable] = Counter()
        self._left = PLACES * each

    def take(self, place: Hashable) -> bool:
        """Whether a place may be looked at once more."""
        if self._left <= 0 or self._taken[place] >= self._each:
            return False
        self._taken[place] += 1
        self._left -= 1
        return True
