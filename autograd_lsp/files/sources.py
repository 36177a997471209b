"""Which files a command line means, and the text of each.

A folder stands for the Python files and the notebooks below it, except what nobody wrote there: hidden folders, virtual
environments, packages of other ecosystems and build output; and except what git ignores and what the configuration
excludes. A file named by hand is always taken, and so is an ignored or excluded folder, with what lies below it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass

from analyzers.program.disk import encoding_of, read_regular_file
from autograd_lsp.config import Configuration
from autograd_lsp.files.folders import files_below
from autograd_lsp.files.gitignore import GitIgnore
from autograd_lsp.notebooks.program import SUFFIX, NotANotebookError, Notebook, read_notebook
from autograd_lsp.process.exits import UsageError

STDIN = "-"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """`shown` is the path as a person would write it, `path` the absolute one that the analyzer knows."""

    shown: str
    path: str
    text: str | None = None
    """The text that did not come from the disk."""
    data: bytes = b""
    """What that text was decoded from."""
    folder: str | None = None
    """In which it was found; none for a file that was named."""


class UnreadableError(Exception):
    """The file is not there, not readable or not text; the message says which."""


def discover(
    paths: list[str],
    stdin: Source | None,
    configuration: Configuration,
    *,
    respect_gitignore: bool = True,
    force_exclude: bool = False,
    tell: Callable[[str], None] = logger.warning,
) -> list[Source]:
    """Each file once, in the order of the command line and by name within a folder.

    With `force_exclude`, what is excluded is left out even if it is named: others name files who know no settings.
    `tell` hears of folders in which there is nothing to look at, and of lists of ignored files that cannot be read.
    """
    found: dict[str, Source] = {}
    for path in paths:
        is_out = force_exclude and configuration.excludes(os.path.abspath(path), is_folder=os.path.isdir(path))
        if is_out and path != STDIN:
            continue
        if path == STDIN:
            if stdin is None:
                raise UsageError("standard input is not accepted here")
            found.setdefault(stdin.path, stdin)
        elif os.path.isdir(path):
            excluding = None if configuration.excludes(os.path.abspath(path), is_folder=True) else configuration
            ignored = GitIgnore.below(os.path.abspath(path), tell) if respect_gitignore else None
            below = list(files_below(path, excluding, (".py", SUFFIX), ignored))
            if not below:
                tell(f"{path}: there are no Python files or notebooks to check")
            for shown in below:
                found.setdefault(os.path.abspath(shown), Source(shown, os.path.abspath(shown), folder=path))
        else:
            found.setdefault(os.path.abspath(path), Source(path, os.path.abspath(path)))
    return list(found.values())


def read_text(path: str) -> str:
    """The decoded text of a file, by the encoding that it declares; or `UnreadableError`."""
    try:
        return decode(read_regular_file(path))
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error


def decode(data: bytes) -> str:
    """As Python decodes its source: UTF-8, or what a byte order mark or a coding comment says."""
    try:
        return data.decode(encoding_of(data))
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise UnreadableError(f"not valid text: {error}") from error


def is_notebook(source: Source) -> bool:
    return source.path.endswith(SUFFIX)


def notebook_of(source: Source) -> Notebook | None:
    """The notebook that a source is; None if it is in another language; or `UnreadableError`."""
    try:
        return read_notebook(notebook_data(source))
    except NotANotebookError as error:
        raise UnreadableError(str(error)) from error


def notebook_data(source: Source) -> str:
    """The JSON of a notebook; or `UnreadableError`."""
    if source.text is not None:
        return source.text
    try:
        return read_regular_file(source.path).decode("utf-8")
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not valid text: {error}") from error


def shown_path(path: str) -> str:
    """A path that came out of the analysis, relative to the working directory where it lies below it."""
    below = os.path.join(os.getcwd(), "")
    return path[len(below) :] if path.startswith(below) else path
