"""`autograd-lsp rule`: a rule's page, or the list of all rules."""

from __future__ import annotations

import argparse
import sys

from analyzers.rules import RULES
from autograd_lsp.config.selectors import no_rule
from autograd_lsp.process.exits import CLEAN, UsageError
from autograd_lsp.process.loading import load


def run(options: argparse.Namespace) -> int:
    if options.rule is None:
        width = max((len(rule.name) for rule in RULES), default=0)
        for rule in sorted(RULES, key=lambda rule: rule.code):
            print(f"{rule.code}  {rule.name:<{width}}  {rule.summary}")
        return CLEAN
    for rule in RULES:
        if options.rule in (rule.code, rule.name):
            _print_page(f"# {rule.name} ({rule.code})\n\n{rule.doc.strip()}\n")
            return CLEAN
    raise UsageError(no_rule(options.rule))


def _print_page(page: str) -> None:
    if not sys.stdout.isatty():
        print(page)
        return
    load("autograd_lsp.cli.formats.page").show(page)
