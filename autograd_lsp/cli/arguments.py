"""What each command can be told. The commands themselves are loaded when one is given: see `process/loading.py`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograd_lsp import __version__
from autograd_lsp.cli.formats import FORMATS
from autograd_lsp.reports.levels import LEVELS

_SCRIPT = "a script for a shell, which then completes commands, options, rules and paths."
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Command:
    """What the list of commands says of one, what its own page does, and what adds its arguments."""

    help: str
    about: str
    add: Callable[[argparse.ArgumentParser], None]


def build_parser(names: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of some commands, or of all; of what it parses, `command` is the name."""
    parser = argparse.ArgumentParser(
        prog="autograd-lsp", description="Finds PyTorch autograd faults without running the program."
    )
    parser.add_argument("--version", action="version", version=f"autograd-lsp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS if names is None else names:
        command = COMMANDS[name]
        one = commands.add_parser(name, help=command.help, description=f"`autograd-lsp {name}`: {command.about}")
        command.add(one)
        one.set_defaults(command=name)
    return parser


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="file, folder, or - for standard input")
    parser.add_argument("--format", choices=FORMATS, default="text", help="the form of the report")
    parser.add_argument("--output-file", metavar="FILE", help="write there, not to standard output")
    parser.add_argument(
        "--select", metavar="RULE,...", type=_names, help="report only these: names, codes, beginnings of codes, or ALL"
    )
    parser.add_argument("--ignore", metavar="RULE,...", type=_names, default=(), help="leave these rules out")
    parser.add_argument("--config", metavar="FILE", help="read this configuration file, and no other")
    parser.add_argument("--no-config", action="store_true", help="read no configuration file")
    parser.add_argument("--no-respect-gitignore", action="store_true", help="look at what git ignores, too")
    parser.add_argument("--fix", action="store_true", help="make the safe fixes, and report what remains")
    parser.add_argument("--diff", action="store_true", help="show what --fix would do, and change nothing")
    parser.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    parser.add_argument("--baseline", metavar="FILE", help="report nothing that is recorded there")
    parser.add_argument("--write-baseline", metavar="FILE", help="record there all that is found")
    parser.add_argument("--fail-on", choices=tuple(LEVELS), default="warning", help="exit 1 from this severity on")
    parser.add_argument("--stdin-filename", metavar="NAME", help="the path that standard input stands for")
    parser.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep findings of earlier checks")
    parser.add_argument("--jobs", metavar="N", type=_positive, help="number of processes")
    parser.add_argument(
        "--executor", choices=("process", "dask"), default="process", help="processes here, or a dask cluster's workers"
    )
    parser.add_argument("--dask-scheduler", metavar="ADDRESS", help="the cluster's scheduler, such as tcp://host:8786")


def _facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="file, folder, or FILE:LINE for one line")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="the form of the answer")


def _graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("location", metavar="FILE:LINE[:NAME]", help="the line, and which of its tensors")
    parser.add_argument(
        "--format", choices=("text", "dot", "mermaid", "json", "svg"), default="text", help="the form of the graph"
    )


def _why(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "python train.py 2>&1 | autograd-lsp why"
    parser.add_argument(
        "traceback",
        nargs="?",
        metavar="TRACEBACK",
        help="a file with it, or a log; standard input if none",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="the form of the answer")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--all", action="store_true", help="explain each traceback, not only the last of autograd's")
    parser.add_argument("--program", metavar="FILE", help="the script or the notebook that was run")
    parser.add_argument(
        "--path-map", metavar="FROM=TO", type=_mapping, action="append", default=[],
        help="paths of the traceback that begin with FROM lie here below TO; may be given several times",
    )  # fmt: skip
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep findings of earlier runs")


def _rule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="NAME|CODE", help="the rule; without it, all are listed")


def _server(parser: argparse.ArgumentParser) -> None:
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    transport.add_argument("--tcp", metavar="HOST:PORT", type=_address, help="wait there for one editor")


def _completions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def _names(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, not {text!r}")
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
    "check": Command("report autograd faults", "the findings of files and folders.", _check),
    "facts": Command("what is known of every tensor", "what is known of every tensor bound on every line.", _facts),
    "graph": Command("the autograd graph at a line", "the autograd graph of a tensor at one line.", _graph),
    "why": Command("explain a traceback of torch's", "a traceback of torch's in, the cause and the fix out.", _why),
    "rule": Command("explain a rule", "a rule's page, or the list of all rules.", _rule),
    "server": Command("run the language server", "the language server.", _server),
    "completions": Command(
        "print a shell's completions",
        "a script for a shell, which then completes commands, options, rules and paths.",
        _completions,
    ),
}
