"""The findings of earlier checks, cached on disk: if nothing has changed, nothing has to run.

An entry holds the findings of one file and a digest of all that they rest on: every file that was read or looked for on
the way, what the configuration says of those that findings point into, the environment if a library was looked up, this
tool itself. It is used if that digest comes out the same. Entries of other versions of the tool are swept away after a
while.

Any number of processes may read and write at once, and may be killed: an entry is put in its place whole, and one that
cannot be read is none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import analyzers
import autograd_lsp
from analyzers.program.disk import read_regular_file
from analyzers.report import Backward, Choice, Finding
from autograd_lsp.environment import cache_folder, cache_lies_below
from autograd_lsp.process.drafts import write_whole
from autograd_lsp.reports.entries import Entry, entry_bytes, read_entry

if TYPE_CHECKING:
    from analyzers.host import Snapshot

Told: TypeAlias = tuple[tuple[Finding, ...], tuple[Backward, ...]]
"""The findings of a file, and how far its backwards are understood."""

_FORMAT = 3
_DAYS = 14
"""For so long the entries of another version are kept after their last use."""


class Cache:
    """What is kept for one command, with one configuration. Nothing is said of a file whose text is not the disk's."""

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        choose: Callable[[str], Choice],
        together: Callable[[], Iterable[str]],
        environment: Callable[[], str],
        torch_release: Callable[[], tuple[int, int] | None],
        folder: Path | None = None,
    ) -> None:
        """`read` gives a file as the analysis sees it; `environment` tells one environment from another,
        `torch_release` the torch that there is."""
        self._read = read
        self._choose = cache(choose)
        self._together = together
        self._environment = cache(environment)
        self._torch_release = cache(torch_release)
        self._base = (folder or cache_folder()) / "checks"
        self._folder = self._base / version()
        self._files: dict[str, bytes] = {}

    def kept(self, path: str) -> Told | None:
        """What was found in a file, and how far its backwards are understood, if nothing that it rests on is different
        now."""
        entry = self._load(path)
        if entry is None or entry.path != path or entry.digest != self._digest(entry, self._file_now):
            return None
        return entry.findings, entry.backwards

    def agrees(self, path: str, data: bytes | None) -> bool:
        """Whether a file, as it is now, is what findings were found to hold for."""
        return self._files.get(path) == _digest_of(data)

    def files(self, path: str) -> frozenset[str]:
        """What the findings that are kept for a file rest on."""
        entry = self._load(path)
        return frozenset() if entry is None else frozenset(entry.files)

    def entry(self, path: str, told: Told, snapshot: Snapshot, *, is_open: bool = False) -> bytes:
        """What `put` keeps of what a file was told; nothing where it may be something else the next time.

        `is_open`: there are libraries of which something else may be known by then.
        """
        grounds = snapshot.grounds(path)
        if grounds is None or (grounds.asks_outside and is_open):
            return b""
        files, chosen = tuple(sorted(grounds.files)), tuple(sorted(grounds.chosen))
        entry = Entry(path, files, chosen, grounds.asks_outside, grounds.looks_together, "", *told)
        digest = self._digest(entry, lambda file: _digest_of(snapshot.source(file)))
        return entry_bytes(replace(entry, digest=digest))

    def put(self, path: str, entry: bytes) -> None:
        place = self._place(path)
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(str(place), entry, lasting=False)

    def sweep(self) -> None:
        """Note that this version was used, and drop what belongs to versions that have not been for long."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            os.utime(self._folder)
            for other in self._base.iterdir():
                if time.time() - other.stat().st_mtime > _DAYS * 86_400:
                    shutil.rmtree(other, ignore_errors=True)

    def forget(self) -> None:
        """Files may be other ones from now on."""
        self._files.clear()

    def _digest(self, entry: Entry, digest_of: Callable[[str], bytes]) -> str:
        whole = hashlib.sha256()
        for file in entry.files:
            if file not in self._files:
                self._files[file] = digest_of(file)
            whole.update(self._files[file])
        for file in entry.chosen:
            choice = self._choose(file)
            whole.update(repr((sorted(choice.off), sorted(choice.severities), choice.heeds_comments)).encode())
        whole.update(repr(self._torch_release()).encode())
        if entry.asks_outside:
            whole.update(self._environment().encode("utf-8", "surrogateescape"))
        if entry.looks_together:
            paths = "\0".join(sorted(self._together()))
            whole.update(hashlib.sha256(paths.encode("utf-8", "surrogateescape")).digest())
        return whole.hexdigest()

    def _file_now(self, path: str) -> bytes:
        return _digest_of(self._read(path))

    def _place(self, path: str) -> Path:
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._folder / name[:2] / name

    def _load(self, path: str) -> Entry | None:
        try:
            return read_entry(read_regular_file(self._place(path)))
        except OSError:
            return None


def lies_below(folders: Iterable[str]) -> str | None:
    """The cache, if it lies below one of the folders that are checked."""
    return str(cache_folder()) if cache_lies_below(folders) else None


def _digest_of(data: bytes | None) -> bytes:
    return bytes(16) if data is None else hashlib.blake2b(data, digest_size=16).digest()


@cache
def version() -> str:
    """Tells this tool, as it lies here, from any other version or edition of it."""
    parts: list[tuple[object, ...]] = [(_FORMAT, autograd_lsp.__version__)]
    for package in (analyzers, autograd_lsp):
        for root in package.__path__:
            for folder, folders, files in os.walk(root):
                folders[:] = sorted(name for name in folders if name != "__pycache__")
                for name in sorted(files):
                    there = os.stat(os.path.join(folder, name))
                    parts.append((os.path.relpath(folder, root), name, there.st_size, there.st_mtime_ns))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
