"""`autograd-lsp completions`: a script for a shell, which then completes commands, options, rules and paths."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from analyzers.rules import RULES
from autograd_lsp.cli.arguments import build_parser
from autograd_lsp.process.exits import CLEAN

_PATHS = ("PATH", "FILE", "FILE:LINE[:NAME]", "TRACEBACK")
_RULES = ("NAME|CODE", "RULE,...")
"""By what stands in the place of the value in the help."""


def run(options: argparse.Namespace) -> int:
    parser = build_parser()
    for action in _actions(parser):
        if action.metavar in _PATHS:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        if action.metavar in _RULES:
            action.choices = _rules()
    print(shtab.complete(parser, options.shell))
    return CLEAN


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Also of its commands."""
    for action in parser._actions:  # argparse has no other way to ask
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _rules() -> list[str]:
    return [word for rule in RULES for word in (rule.code, rule.name)]
