"""`autograd-lsp completions`: a script for a shell, which then completes commands, options, rules and paths."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from autograd_lsp.process.exits import CLEAN

SHELLS = ("bash", "zsh", "fish")

_PATHS = ("PATH", "FILE", "FILE:LINE[:NAME]", "TRACEBACK")
_RULES = ("NAME|CODE", "RULE,...")
"""By what stands in the place of the value in the help."""


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "completions", help="print a shell's completions", description=__doc__
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import shtab

    from autograd_lsp.cli import build_parser

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
    from analyzers.rules import RULES

    return [word for rule in RULES for word in (rule.code, rule.name)]
