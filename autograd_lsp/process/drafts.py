"""Writes files atomically: at any moment, any reader sees either the old file or the complete new one.

The new bytes go into a draft, a file of the same folder, which takes the old one's name once they are on the disk. A
process that is killed may leave a draft behind. Its name says whose it is, so that the next one that writes in the
folder can take it away.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress

from analyzers.program.disk import read_regular_file
from autograd_lsp.process.running import is_running

CHANGED = "it has changed since it was read"

_HOST = hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:8]
_TEMPORARY = re.compile(rf"\.autograd-lsp-{_HOST}-(?P<process>\d+)-.*\.tmp")


class Draft:
    """What is to be in the file at `path`, new or not, once it is put there; whoever makes a draft drops it at the end.

    With `lasting`, what is put is on the disk, and stays there when the power goes. Through a symbolic link a file is
    written where it is.
    """

    def __init__(self, path: str, *, lasting: bool = True) -> None:
        self.path = os.path.realpath(path)
        self.lasting = lasting
        prefix = f".autograd-lsp-{_HOST}-{os.getpid()}-"
        handle, self.name = tempfile.mkstemp(".tmp", prefix, os.path.dirname(self.path))
        self.file = os.fdopen(handle, "wb")
        self._is_there = True

    def close(self) -> None:
        """All is written; the rights and the owner are those of the file whose place it takes."""
        with self.file:
            self.file.flush()
            if self.lasting:
                os.fsync(self.file.fileno())
        _take_after(self.name, self.path)

    def put(self) -> None:
        self.close()
        self.rename()
        if self.lasting:
            _make_names_last({os.path.dirname(self.path)})

    def rename(self) -> None:
        """The last step alone, of one that is closed."""
        os.replace(self.name, self.path)
        self._is_there = False

    def drop(self) -> None:
        """Nothing is left of what was not put."""
        self.file.close()
        if self._is_there:
            with suppress(OSError):
                os.unlink(self.name)


def replace_all(changes: Mapping[str, tuple[bytes, bytes]]) -> dict[str, str]:
    """Put the second bytes where the first ones are, in all files or in none; why not, by path.

    Only the last step, a change of names, is made file by file.
    """
    refused: dict[str, str] = {}
    drafts: dict[str, Draft] = {}
    try:
        sweep({os.path.dirname(path) for path in changes})
        for path, (_, new) in changes.items():
            try:
                drafts[path] = _closed(path, new)
            except OSError as error:
                refused[path] = reason(error)
        for path, (old, _) in changes.items():
            try:
                if path not in refused and not _holds(path, old):
                    refused[path] = CHANGED
            except OSError as error:
                refused[path] = reason(error)
        if not refused:
            for path, draft in drafts.items():
                try:
                    draft.rename()
                except OSError as error:
                    refused[path] = reason(error)
            _make_names_last({os.path.dirname(path) for path in changes})
    finally:
        for draft in drafts.values():
            draft.drop()
    return refused


def write_whole(path: str, data: bytes, *, lasting: bool = True) -> None:
    draft = Draft(path, lasting=lasting)
    try:
        draft.file.write(data)
        draft.put()
    finally:
        draft.drop()


def _closed(path: str, data: bytes) -> Draft:
    draft = Draft(path)
    try:
        draft.file.write(data)
        draft.close()
    except BaseException:
        draft.drop()
        raise
    return draft


def is_protected(path: str) -> bool:
    """A file that nobody may write to, which a change of names would get around; also for those who may do anything."""
    return not (os.stat(path).st_mode & 0o222 and os.access(path, os.W_OK))


def reason(error: OSError) -> str:
    return error.strerror or str(error)


def sweep(folders: Iterable[str]) -> None:
    """Take away what processes of this machine that are gone have left."""
    if os.name != "posix":
        return  # to ask after a process there is to end it
    for folder in folders:
        with suppress(OSError):
            for name in os.listdir(folder):
                mine = _TEMPORARY.fullmatch(name)
                if mine is not None and not is_running(int(mine["process"])):
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))


def _take_after(name: str, path: str) -> None:
    try:
        old = os.stat(path)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        return
    if hasattr(os, "chown"):
        with suppress(OSError):  # who may not give files away keeps them
            os.chown(name, old.st_uid, old.st_gid)
    os.chmod(name, stat.S_IMODE(old.st_mode))


def _holds(path: str, data: bytes) -> bool:
    return read_regular_file(path) == data


def _make_names_last(folders: Iterable[str]) -> None:
    """What a folder says of its files is on the disk, where the system can be asked for that."""
    for folder in folders:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
