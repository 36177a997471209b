"""How long a run may take, and how many states it keeps apart."""

from __future__ import annotations

from dataclasses import dataclass

OBJECTS = 10
"""The heap objects that cost as much as a statement: most statements make one or two, and a join many thousands."""


class OutOfFuel(Exception):  # noqa: N818
    """The run is out of steps: what it has recorded so far stands, the rest is unknown."""


@dataclass(slots=True)
class Limits:
    """Limits of one run: statements, call depth, states kept apart, loop rounds actually run."""

    steps: int = 20_000
    depth: int = 28
    states: int = 4
    outcomes: int = 3
    rounds: int = 2
    unrolled: int = 12
