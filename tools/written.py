"""Generated files in a folder: which of them are stale, and how to rewrite them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def stale(folder: Path, pattern: str, wanted: Mapping[str, str]) -> list[str]:
    """The names of the files that differ from what is wanted, are missing, or are too many."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob(pattern)}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def command(about: str | None, tool: str, folder: Path, pattern: str, make: Callable[[], Mapping[str, str]]) -> int:
    """Writes them, or with `--check` tells of those that are stale."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wanted = make()
    old = stale(folder, pattern, wanted)
    if options.check:
        for name in old:
            print(f"{folder.parent.name}/{folder.name}/{name} is stale: run tools/{tool}.py", file=sys.stderr)
        return 1 if old else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in old:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return 0
