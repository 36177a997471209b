"""`python -m tests.incremental.compare [PATH ...] --edits 20000`: edited hosts beside new ones.

Each path, a file or a folder of files that import each other, is opened whole and edited some times over. After each
edit, what the host shows of every open file is compared with what a new host shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzers.host import Host
from analyzers.report import Sighting
from tests.incremental.edits import Writer

Shown = dict[str, tuple[Sighting, ...]]


@dataclass(frozen=True, slots=True)
class Difference:
    """What an edited host shows of a file, and what a new one does; `texts` are those before and after the edit."""

    path: str
    edited: tuple[Sighting, ...]
    fresh: tuple[Sighting, ...]
    before: Mapping[str, str]
    after: Mapping[str, str]


def opened(texts: Mapping[str, str]) -> Host:
    host = Host(lambda path: None)
    for path, text in texts.items():
        host.set_text(path, text)
    host.look_at_together(texts)
    return host


def shown(host: Host, paths: Sequence[str]) -> Shown:
    return {path: host.snapshot().sightings(path) for path in paths}


def differences(texts: Mapping[str, str], edits: int, seed: int) -> Iterator[Difference]:
    """Edit a copy of `texts` in one host, and look at every step what a new one says."""
    writer = Writer(texts, seed)
    host = opened(writer.texts)
    shown(host, list(texts))
    for _ in range(edits):
        before = dict(writer.texts)
        path = writer.edit()
        host.set_text(path, writer.texts[path])
        edited, fresh = shown(host, list(texts)), shown(opened(writer.texts), list(texts))
        for file in texts:
            if edited[file] != fresh[file]:
                yield Difference(file, edited[file], fresh[file], before, dict(writer.texts))


def texts_at(path: Path) -> dict[str, str]:
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return {str(file.resolve()): file.read_text(encoding="utf-8") for file in files}


def main() -> int:
    """Tell of the first difference in each path, and of how many edits there were."""
    parser = argparse.ArgumentParser(prog="python -m tests.incremental.compare", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--edits", type=int, default=1000, help="of all paths together")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    each = max(1, options.edits // len(options.paths))
    found = 0
    for number, path in enumerate(options.paths):
        first = next(differences(texts_at(path), each, options.seed + number), None)
        print(f"{path}: {each} edits, {'no difference' if first is None else 'a DIFFERENCE'}", flush=True)
        if first is not None:
            found += 1
            print(f"  in {first.path}\n  edited: {first.edited}\n  fresh:  {first.fresh}", flush=True)
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
