"""What is said on standard error: a sentence on a line of its own, and the lines of a traceback below it."""

from __future__ import annotations

import sys

from autograd_lsp.text.sinks import printable

CLEAR_LINE = "\r\x1b[K"


def tell(words: str, below: str = "") -> None:
    if sys.stderr.isatty():
        print(CLEAR_LINE, end="", file=sys.stderr)  # of a progress that is shown there
    lines = [f"autograd-lsp: {printable(words)}", *(f"| {printable(line)}" for line in below.rstrip().splitlines())]
    print(*lines, sep="\n", file=sys.stderr)
