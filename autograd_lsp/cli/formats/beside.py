"""What a format is told beside the findings."""

from __future__ import annotations

from dataclasses import dataclass

from autograd_lsp.cli.fixing.outcome import Outcome


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
    outcome: Outcome | None = None
    """What became of fixes, where they were asked for; for the format that programs read."""
