"""`autograd-lsp why`: a traceback of torch's in, the cause and the fix out."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from autograd_lsp.files.sources import STDIN
from autograd_lsp.process.exits import CLEAN, FOUND, UsageError

if TYPE_CHECKING:
    from autograd_lsp.why.program import Mapping

_EPILOG = "python train.py 2>&1 | autograd-lsp why"


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "why", help="explain a traceback of torch's", description=__doc__, epilog=_EPILOG
    )
    parser.add_argument(
        "traceback",
        nargs="?",
        default=STDIN,
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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from autograd_lsp.config import Configuration
    from autograd_lsp.why.answer import answers, told_in
    from autograd_lsp.why.program import Finder

    if options.program is not None and not os.path.isfile(options.program):
        raise UsageError(f"{options.program}: there is no such file")
    told = told_in(_log(options.traceback))
    finder = Finder(options.path_map, options.program)
    configuration = Configuration(isolated=True)
    found = list(answers(told, finder, configuration, every=options.all, cached=not options.no_cache))
    if options.format == "json":
        from autograd_lsp.cli.explanations import json

        json.write(sys.stdout, found)
    else:
        from autograd_lsp.cli.explanations import text

        text.write(sys.stdout, found)
    if not found:
        what = "no exception is autograd's" if told else "there is no traceback"
        print(f"autograd-lsp: {what} in {_name(options.traceback)}", file=sys.stderr)
    return CLEAN if found else FOUND


def _log(path: str) -> str:
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _name(path: str) -> str:
    return "standard input" if path == STDIN else path


def _mapping(text: str) -> Mapping:
    from autograd_lsp.why.program import Mapping

    before, sign, after = text.partition("=")
    if not before or not sign or not after:
        raise argparse.ArgumentTypeError(f"`{text}` is not FROM=TO")
    return Mapping(before, after)
