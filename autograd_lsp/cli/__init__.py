"""The command line.

    arguments.py    what each command can be told
    commands/       what each command does, and its exit code
    telling.py      what is said on standard error
    checked.py      what a check comes to; beside it what it can do more, such as `--watch`
    fixing/         safe fixes: in memory, on the disk, as a diff
    formats/        the forms of a report
    explanations/   the forms of what `why` answers

Exit codes: 0 nothing to report, 1 something to report, 2 bad usage or an internal error.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from autograd_lsp.cli.arguments import COMMANDS, build_parser, parse
from autograd_lsp.cli.telling import tell
from autograd_lsp.process.exits import BROKEN_PIPE, INTERRUPTED, USAGE, UsageError
from autograd_lsp.process.loading import load

__all__ = ["COMMANDS", "build_parser", "main"]

_EXTRAS = {"mcp", "shtab"}
"""Packages that a command needs, and that are not installed with ours."""


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = parse(arguments)
    try:
        code: int = _command(options.command).run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        tell(str(error))
        return USAGE
    except BrokenPipeError:
        # The reader has left (`| head`). Python flushes once more at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        # Python's own exit code for this is 1, which here means findings.
        tell("internal error", traceback.format_exc())
        return USAGE


def _command(name: str) -> Any:
    try:
        return load(f"{__name__}.commands.{name}")
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise UsageError(f"`{name}` needs `{package}`: `pip install {package}`") from error
