"""Fixes that are made when somebody asks for more than the safe ones: any there is, or a comment that silences."""

from __future__ import annotations

from dataclasses import replace

from analyzers.report import Finding, Fix
from autograd_lsp.cli.checked import Checked
from autograd_lsp.process.loading import host_class
from autograd_lsp.reports.report import Report

_TEXT = "AG0"
"""How the codes of findings begin that are about the text and its comments: nothing there is to be silenced."""


def with_any_fix(checked: Checked) -> Checked:
    """All fixes count as safe: somebody has said that he will look at them."""

    def chosen(finding: Finding) -> Finding:
        return replace(finding, fixes=tuple(replace(fix, safe=True) for fix in finding.fixes))

    reports = [replace(one, findings=tuple(map(chosen, one.findings))) for one in checked.reports]
    return replace(checked, reports=reports)


def with_comments(checked: Checked) -> Checked:
    """The one fix of a finding is the comment that silences it, where a comment fits."""
    return replace(checked, reports=[_with_comments(report) for report in checked.reports])


def _with_comments(report: Report) -> Report:
    host = host_class()(lambda path: None)
    for path, text in report.texts.items():
        host.set_text(path, text)
    snapshot = host.snapshot()

    def chosen(finding: Finding) -> Finding:
        edit = None if finding.code.startswith(_TEXT) else snapshot.ignoring(finding)
        fixes = () if edit is None else (Fix(f"Ignore {finding.code} here", True, (edit,)),)
        return replace(finding, fixes=fixes)

    return replace(report, findings=tuple(map(chosen, report.findings)))
