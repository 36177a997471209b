"""The command line: `commands` has one module for each command.

Exit codes: 0 nothing to report, 1 something to report, 2 bad usage or an internal error.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from autograd_lsp import __version__
from autograd_lsp.process.exits import BROKEN_PIPE, INTERRUPTED, USAGE, UsageError

COMMANDS = ("check", "facts", "graph", "why", "rule", "server", "completions")


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # An editor waits for the server: what the other commands need is not loaded for it.
    parser = build_parser([name for name in arguments[:1] if name in COMMANDS] or COMMANDS)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"autograd-lsp: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        # The reader has left (`| head`). Python flushes once more at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        # Python's own exit code for this is 1, which here means findings.
        traceback.print_exc()
        return USAGE


def build_parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of some commands, or of all."""
    parser = argparse.ArgumentParser(
        prog="autograd-lsp", description="Finds PyTorch autograd faults without running the program."
    )
    parser.add_argument("--version", action="version", version=f"autograd-lsp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        import_module(f"autograd_lsp.cli.commands.{name}").add(commands)
    return parser
