"""What git is told to ignore: by the `.gitignore` files of a repository, by its own `.git/info/exclude`, and by the
list of its user (`core.excludesFile`).

As for git, the nearest file that speaks of a path counts, in it the last pattern that does, and nothing below an
ignored folder is taken back. Outside of a repository nothing is ignored.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator

from analyzers.program.disk import read_regular_file
from autograd_lsp.config.patterns import Pattern, read_pattern
from autograd_lsp.files.git_config import excludes_file

logger = logging.getLogger(__name__)

MOST_BYTES = 1_000_000
"""Of a list of patterns, each of which is held against each path."""


class GitIgnore:
    """Reads each file once. `tell` hears of those that are there and cannot be read."""

    def __init__(self, tell: Callable[[str], None] = logger.warning) -> None:
        self._tell = tell
        self._tops: dict[str, str | None] = {}
        self._lists: dict[str, str | None] = {}
        self._patterns: dict[str, tuple[Pattern, ...]] = {}

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether an absolute path is ignored by itself; whoever walks down has asked of the folders above."""
        for file, folder in self._files(os.path.dirname(path)):
            if file not in self._patterns:
                self._patterns[file] = self._read(file)
            relative = path[len(os.path.join(folder, "")) :].replace(os.sep, "/")
            for pattern in self._patterns[file]:
                if pattern.matches(relative, is_folder=is_folder):
                    return not pattern.is_taken_back
        return False

    @classmethod
    def below(cls, folder: str, tell: Callable[[str], None] = logger.warning) -> GitIgnore | None:
        """For what lies in an absolute folder that somebody has named; None where that is ignored itself."""
        made = cls(tell)
        top = made._top(os.path.dirname(folder))
        while top is not None and folder != top:
            if made.ignores(folder, is_folder=True):
                return None
            folder = os.path.dirname(folder)
        return made

    def _files(self, folder: str) -> Iterator[tuple[str, str]]:
        """The files that may speak of what lies in a folder, the nearest first, each with where its patterns start."""
        top = self._top(folder)
        if top is None:
            return
        while True:
            yield os.path.join(folder, ".gitignore"), folder
            if folder == top:
                break
            folder = os.path.dirname(folder)
        yield os.path.join(top, ".git", "info", "exclude"), top
        if top not in self._lists:
            self._lists[top] = excludes_file(top)
        if (users := self._lists[top]) is not None:
            yield users, top

    def _read(self, file: str) -> tuple[Pattern, ...]:
        """The patterns of a file, the last one first. A line that is no pattern says nothing."""
        try:
            lines = read_regular_file(file, MOST_BYTES).decode("utf-8-sig", "surrogateescape").split("\n")
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            self._tell(f"{file} is left out: {error.strerror or error}")
            return ()
        return tuple(pattern for line in reversed(lines) if (pattern := read_pattern(line)) is not None)

    def _top(self, folder: str) -> str | None:
        """Of the repository that a folder lies in."""
        if folder not in self._tops:
            parent = os.path.dirname(folder)
            is_top = os.path.exists(os.path.join(folder, ".git"))
            self._tops[folder] = folder if is_top else None if parent == folder else self._top(parent)
        return self._tops[folder]
