"""Whether a process is there. To ask Windows for that would be to end it: ask on POSIX only."""

from __future__ import annotations

import os


def is_running(process: int) -> bool:
    """Also where it is somebody else's, or where nothing can be known."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
