"""Which findings fail a check."""

from __future__ import annotations

from analyzers.report import Finding
from autograd_lsp.config.reporting import FAIL_ON

LEVELS = {name: number for number, name in enumerate(FAIL_ON)}
"""What `--fail-on` takes; a severity fails a check where its number is not above that of the level."""


def fails(finding: Finding, fail_on: str) -> bool:
    """What the program itself expects to raise never fails a check."""
    expected = finding.raises is not None and finding.raises.expected
    return not expected and LEVELS[finding.severity] <= LEVELS[fail_on]
