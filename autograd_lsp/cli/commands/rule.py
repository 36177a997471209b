"""`autograd-lsp rule`: a rule's page, or the list of all rules."""

from __future__ import annotations

import argparse
import json
import sys

from analyzers.drafting.base import Rule
from analyzers.rules import RULES
from autograd_lsp.config.selectors import no_rule
from autograd_lsp.process.exits import CLEAN, UsageError
from autograd_lsp.process.loading import load
from autograd_lsp.text.urls import rule_page


def run(options: argparse.Namespace) -> int:
    if options.rule is not None and options.all:
        raise UsageError("--all is for all rules: name none")
    rules = named(options.rule)
    if options.format == "json":
        told = [as_json(rule) for rule in rules]
        print(json.dumps(told[0] if options.rule is not None else told, indent=2))
    elif options.rule is not None or options.all:
        _print_page("\n\n".join(f"# {rule.name} ({rule.code})\n\n{rule.doc.strip()}\n" for rule in rules))
    else:
        width = max(len(rule.name) for rule in rules)
        print(*(f"{rule.code}  {rule.name:<{width}}  {rule.summary}" for rule in rules), sep="\n")
    return CLEAN


def named(word: str | None) -> list[Rule]:
    """The rule with that code or name; all of them for None."""
    rules = sorted(RULES, key=lambda rule: rule.code)
    found = [rule for rule in rules if word is None or word in (rule.code, rule.name)]
    if not found:
        raise UsageError(no_rule(str(word)))
    return found


def as_json(rule: Rule) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "page": rule.doc.strip(),
        "url": rule_page(rule.name),
    }


def _print_page(page: str) -> None:
    if not sys.stdout.isatty():
        print(page)
        return
    load("autograd_lsp.cli.formats.page").show(page)
