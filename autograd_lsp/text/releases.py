"""Versions as text."""

from __future__ import annotations

import re

Release = tuple[int, int]
"""Major and minor."""

_RELEASE = re.compile(r"(\d+)\.(\d+)(?:[.+a-z].*)?")


def release_of(version: str) -> Release | None:
    """None for what is no version of a release."""
    match = _RELEASE.fullmatch(version)
    return None if match is None else (int(match[1]), int(match[2]))
