"""`FILE:LINE[:NAME]` on the command line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_LOCATION = re.compile(r"(?P<file>.+?):(?P<line>[1-9]\d*)(?::(?P<name>.+))?")


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int
    name: str | None


def parse_location(word: str) -> Location | None:
    """None for a plain path, also for one that looks like a location but is a file."""
    match = None if os.path.exists(word) else _LOCATION.fullmatch(word)
    return Location(match["file"], int(match["line"]), match["name"]) if match else None
