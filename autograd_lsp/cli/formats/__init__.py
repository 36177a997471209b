"""The formats of a report, by name. Each one's module is loaded for it alone: rich is slow to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from autograd_lsp.reports.make import Report

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")


def write(
    name: str, stream: TextIO, reports: Sequence[Report], statistics: bool, fail_on: str, notes: Sequence[str]
) -> None:
    """`fail_on` is the severity from which on a finding fails the check; `notes` are for people."""
    if name == "json":
        from autograd_lsp.cli.formats import json

        json.write(stream, reports, statistics)
    elif name == "sarif":
        from autograd_lsp.cli.formats import sarif

        sarif.write(stream, reports, statistics)
    elif name == "github":
        from autograd_lsp.cli.formats import github

        github.write(stream, reports, statistics)
    elif name == "gitlab":
        from autograd_lsp.cli.formats import gitlab

        gitlab.write(stream, reports, statistics)
    elif name == "junit":
        from autograd_lsp.cli.formats import junit

        junit.write(stream, reports, statistics, fail_on)
    else:
        from autograd_lsp.cli.formats import text

        text.write(stream, reports, statistics, notes)
