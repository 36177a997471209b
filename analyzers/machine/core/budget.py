"""How long a run may take, and how many states it keeps apart."""

from __future__ import annotations

from dataclasses import dataclass


class OutOfFuel(Exception):  # noqa: N818
    """The run has used its steps: what it has noted so far stands, the rest is unknown."""


@dataclass(slots=True)
class Limits:
    """Bounds of one run: statements, calls within calls, states kept apart, real rounds of a loop."""

    steps: int = 20_000
    depth: int = 28
    states: int = 4
    outcomes: int = 3
    rounds: int = 2
    unrolled: int = 12
