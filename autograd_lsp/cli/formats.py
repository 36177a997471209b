"""The formats of a report, by name. Each one's module is loaded for it alone: rich is slow to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from autograd_lsp.cli.reports import Report

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")


def write(
    name: str, stream: TextIO, reports: Sequence[Report], statistics: bool, fail_on: str, notes: Sequence[str]
) -> None:
    """`fail_on` is the severity from which on a finding fails the check; `notes` are for people."""
    if name == "json":
        from autograd_lsp.cli import check_json

        check_json.write(stream, reports, statistics)
    elif name == "sarif":
        from autograd_lsp.cli import check_sarif

        check_sarif.write(stream, reports, statistics)
    elif name == "github":
        from autograd_lsp.cli import check_github

        check_github.write(stream, reports, statistics)
    elif name == "gitlab":
        from autograd_lsp.cli import check_gitlab

        check_gitlab.write(stream, reports, statistics)
    elif name == "junit":
        from autograd_lsp.cli import check_junit

        check_junit.write(stream, reports, statistics, fail_on)
    else:
        from autograd_lsp.cli import check_text

        check_text.write(stream, reports, statistics, notes)
