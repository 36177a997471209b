"""Exit codes, and the error that means "you asked for something I cannot do"."""

from __future__ import annotations

CLEAN = 0
FOUND = 1
USAGE = 2
"""Also for an internal error: there is no answer."""
BROKEN_PIPE = 141
INTERRUPTED = 130


class UsageError(Exception):
    """Printed without a traceback; the exit code is `USAGE`."""
