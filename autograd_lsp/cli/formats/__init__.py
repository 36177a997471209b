"""The formats of a report, by name. Each has a module with a function `write`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from autograd_lsp.process.loading import load

if TYPE_CHECKING:
    from autograd_lsp.reports.report import Report

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")

_BESIDE = {"text": ("notes", "coverage"), "junit": ("fail_on",)}
"""What a format takes beside the reports."""


def write(
    name: str,
    stream: TextIO,
    reports: Sequence[Report],
    statistics: bool,
    fail_on: str,
    notes: Sequence[str],
    coverage: bool,
) -> None:
    """`fail_on` is the severity from which on a finding fails the check; `notes` are for people, and so is a line for
    each backward, with `coverage`."""
    known: dict[str, Any] = {"fail_on": fail_on, "notes": notes, "coverage": coverage}
    beside = {word: known[word] for word in _BESIDE.get(name, ())}
    load(f"{__name__}.{name}").write(stream, reports, statistics, **beside)
