"""What a format is told beside the findings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Beside:
    """`notes`, `coverage`, `color` and `is_quiet` are for the formats that people read."""

    statistics: bool = False
    """Whether findings are counted by rule."""
    fail_on: str = "warning"
    """The severity from which on a finding fails the check."""
    notes: tuple[str, ...] = ()
    coverage: bool = False
    """Whether there is a line for each backward."""
    color: str = "auto"
    """`auto`, `always` or `never`."""
    is_quiet: bool = False
    """Findings alone."""
