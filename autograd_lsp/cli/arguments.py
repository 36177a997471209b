"""The arguments of each command. A command itself is only loaded when it is used: see `process/loading.py`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from autograd_lsp import __version__
from autograd_lsp.config.reporting import FAIL_ON, FORMATS
from autograd_lsp.process.loading import load
from autograd_lsp.text.sinks import printable

_SCRIPT = "print a script that makes a shell complete commands, options, rules and paths."
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Command:
    """What the list of commands says of one, what its own page does, and what adds its arguments."""

    help: str
    about: str
    add: Callable[[argparse.ArgumentParser], None]


class _Parser(argparse.ArgumentParser):
    """Arguments may be names of files, which are shown and not obeyed."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """A word that is none of the choices is taken for a slip of the one that is most like it."""
        choices = [str(choice) for choice in action.choices or ()]
        if action.choices is not None and value not in action.choices:
            near = like(str(value), choices)
            listed = ", ".join(repr(choice) for choice in choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} ({near or f'choose from {listed}'})")


class _Version(argparse.Action):
    """The version, and what there is to say of the torch of the programs here."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"autograd-lsp {__version__}")
        remark = load("autograd_lsp.reports.surroundings").remark_here(os.getcwd())
        if remark is not None:
            print(remark)
        parser.exit()


def build_parser(names: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of some commands, or of all; of what it parses, `command` is the name."""
    parser = _Parser(prog="autograd-lsp", description="Finds PyTorch autograd faults without running the program.")
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS if names is None else names:
        command = COMMANDS[name]
        one = commands.add_parser(name, help=command.help, description=f"`autograd-lsp {name}`: {command.about}")
        command.add(one)
        one.set_defaults(command=name, parser=one)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """What a command is told. Options that it does not have are said with the usage of that command."""
    parser = build_parser([name for name in arguments[:1] if name in COMMANDS] or None)
    options, rest = parser.parse_known_args(arguments)
    if rest:
        one = options.parser
        named = [option for option in rest if option.startswith("-")]
        near = like(named[0].partition("=")[0], one._option_string_actions) if named else ""
        one.error(f"unrecognized arguments: {' '.join(rest)}" + (f" ({near})" if near else ""))
    return options


def like(word: str, others: Iterable[str]) -> str:
    """The question which of the others was meant, if any is like the word."""
    near = get_close_matches(word, list(others), 1)
    return f"did you mean {near[0]!r}?" if near else ""


def _add_format(parser: argparse._ActionsContainer, choices: Sequence[str], default: str | None = "text") -> None:
    parser.add_argument(
        "--output-format",
        "--format",
        dest="format",
        metavar="FORMAT",
        choices=choices,
        default=default,
        help=f"the output format: {', '.join(choices)}",
    )


def _check(parser: argparse.ArgumentParser) -> None:
    parser.usage = "autograd-lsp check [OPTIONS] [PATH ...]"
    parser.add_argument("paths", nargs="*", metavar="PATH", help="file, folder, or - for standard input")
    _add_rules(parser.add_argument_group("rules"))
    _add_files(parser.add_argument_group("files"))
    _add_report(parser.add_argument_group("report"))
    _add_fixes(parser.add_argument_group("fixes"))
    _add_exit(parser.add_argument_group("what fails the check"))
    _add_settings(parser.add_argument_group("configuration"))
    _add_running(parser.add_argument_group("how it runs"))


def _add_rules(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--select", metavar="RULE,...", type=_names, help="report only these rules: names, codes, code prefixes, or ALL"
    )
    group.add_argument("--extend-select", metavar="RULE,...", type=_names, default=(), help="report these rules, too")
    group.add_argument("--ignore", metavar="RULE,...", type=_names, default=(), help="skip these rules")


def _add_files(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--exclude", "--extend-exclude", metavar="PATTERN,...", type=_names, default=(), help="skip these files, too"
    )
    group.add_argument(
        "--force-exclude", action="store_true", help="skip excluded files even if they are given as arguments"
    )
    group.add_argument("--no-respect-gitignore", action="store_true", help="also check files that git ignores")
    group.add_argument("--stdin-filename", metavar="NAME", help="the path to assume for standard input")
    group.add_argument("--show-files", action="store_true", help="list the files that would be checked")


def _add_report(group: argparse._ArgumentGroup) -> None:
    _add_format(group, FORMATS, None)
    group.add_argument("--output-file", metavar="FILE", help="write the report to this file instead of standard output")
    group.add_argument("--statistics", action="store_true", help="show the number of findings for each rule")
    group.add_argument(
        "--coverage", action="store_true", help="list each call of `backward()`, and how far it is understood"
    )
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="whether text is coloured")
    group.add_argument("-q", "--quiet", action="store_true", help="print findings, and nothing else")
    group.add_argument("-v", "--verbose", action="store_true", help="say what the report rests on")


def _add_fixes(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fix", action="store_true", help="apply the safe fixes and report what remains")
    group.add_argument("--diff", action="store_true", help="show what --fix would change, without changing anything")
    group.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: apply all fixes")
    group.add_argument("--add-ignore", action="store_true", help="silence all findings with comments")


def _add_exit(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fail-on",
        metavar="SEVERITY",
        choices=FAIL_ON,
        help=f"exit with 1 if a finding has at least this severity: {', '.join(FAIL_ON)}; default: warning",
    )
    group.add_argument(
        "--exit-zero", action="store_const", const="never", dest="fail_on", help="the same as --fail-on never"
    )
    group.add_argument("--baseline", metavar="FILE", help="do not report findings recorded in this file")
    group.add_argument("--write-baseline", metavar="FILE", help="record all current findings in this file")


def _add_settings(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--config", metavar="FILE", help="use this configuration file and no other")
    group.add_argument("--no-config", action="store_true", help="ignore all configuration files")
    group.add_argument("--show-settings", action="store_true", help="show the settings that count for PATH")


def _add_running(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    group.add_argument("--no-cache", action="store_true", help="do not read or write the cache")
    group.add_argument("--jobs", metavar="N", type=_positive, help="number of processes")
    group.add_argument(
        "--executor",
        choices=("process", "dask"),
        default="process",
        help="run in local processes or on the workers of a dask cluster",
    )
    group.add_argument(
        "--dask-scheduler", metavar="ADDRESS", help="the address of the cluster's scheduler, such as tcp://host:8786"
    )


def _facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder, or FILE:LINE for one line")
    _add_format(parser, ("text", "json"))


def _graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("location", metavar="FILE:LINE[:NAME]", help="the line, and optionally a tensor on it")
    _add_format(parser, ("text", "dot", "mermaid", "json", "svg"))


def _why(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "python train.py 2>&1 | autograd-lsp why"
    parser.add_argument(
        "traceback",
        nargs="?",
        metavar="TRACEBACK",
        help="a file or log that contains it; default: standard input",
    )
    _add_format(parser, ("text", "json"))
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="the same as --output-format json"
    )
    parser.add_argument(
        "--all", action="store_true", help="explain every traceback, not only the last one from autograd"
    )
    parser.add_argument("--program", metavar="FILE", help="the script or notebook that was run")
    parser.add_argument(
        "--read-anywhere", action="store_true", help="also read files that lie outside of the working directory"
    )
    parser.add_argument(
        "--path-map", metavar="FROM=TO", type=_mapping, action="append", default=[],
        help="replace the prefix FROM of paths in the traceback with TO; may be repeated",
    )  # fmt: skip
    parser.add_argument("--no-cache", action="store_true", help="do not read or write the cache")


def _rule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="NAME|CODE", help="the rule; default: list all rules")
    parser.add_argument("--all", action="store_true", help="the pages of all rules")
    _add_format(parser, ("text", "json"))


def _server(parser: argparse.ArgumentParser) -> None:
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument(
        "--stdio", action="store_true", help="communicate over standard input and output (the default)"
    )
    transport.add_argument("--tcp", metavar="HOST:PORT", type=_address, help="listen there for one editor")


def _mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", metavar="FOLDER", default=".", help="the project; default: the working directory")
    parser.add_argument(
        "--read-anywhere", action="store_true", help="also read programs that lie outside of that folder"
    )


def _completions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to print the script for")


def _names(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a positive number, not {text!r}")
    return int(text)


def _mapping(text: str) -> tuple[str, str]:
    before, sign, after = text.partition("=")
    if not before or not sign or not after:
        raise argparse.ArgumentTypeError(f"`{text}` is not FROM=TO")
    return before, after


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


COMMANDS = {
    "check": Command("report autograd faults", "report autograd faults in files and folders.", _check),
    "facts": Command(
        "show what is known about every tensor", "show what is known about every tensor bound on each line.", _facts
    ),
    "graph": Command("show the autograd graph at a line", "show the autograd graph of a tensor at one line.", _graph),
    "why": Command("explain a torch traceback", "read a torch traceback and show the cause and the fix.", _why),
    "rule": Command("explain a rule", "show a rule's page, or list all rules.", _rule),
    "server": Command("run the language server", "run the language server.", _server),
    "mcp": Command("serve coding agents", "serve coding agents over the Model Context Protocol on stdio.", _mcp),
    "completions": Command(
        "print a shell completion script",
        "print a script that makes a shell complete commands, options, rules and paths.",
        _completions,
    ),
}
