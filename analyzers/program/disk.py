"""Files as they lie on the disk."""

from __future__ import annotations

from pathlib import Path


def read_from_disk(path: str) -> bytes | None:
    """The bytes of a file; None if there is none, or none that can be read."""
    try:
        return Path(path).read_bytes() if Path(path).is_file() else None
    except (OSError, ValueError):
        return None
