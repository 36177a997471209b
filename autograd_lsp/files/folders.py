"""Which files a folder stands for: the programs below it, except what nobody wrote there.

Left out are hidden folders, virtual environments, packages of other ecosystems and build output, what git ignores, and
what the configuration excludes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from autograd_lsp.config import Configuration
from autograd_lsp.files.gitignore import GitIgnore

_SKIPPED = frozenset({"__pycache__", "build", "node_modules", "site-packages", "venv"})


def files_below(
    folder: str, configuration: Configuration | None, suffixes: tuple[str, ...], ignored: GitIgnore | None = None
) -> Iterator[str]:
    """By name within a folder; without a configuration nothing is excluded, and without `ignored` nothing ignored."""

    def is_out(here: str, name: str, *, is_folder: bool) -> bool:
        path = os.path.join(os.path.abspath(here), name)
        return (ignored is not None and ignored.ignores(path, is_folder=is_folder)) or (
            configuration is not None and configuration.excludes(path, is_folder=is_folder)
        )

    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not (is_skipped(here, name) or is_out(here, name, is_folder=True))
        )
        for name in sorted(files):
            if name.endswith(suffixes) and not is_out(here, name, is_folder=False):
                yield os.path.normpath(os.path.join(here, name))


def is_skipped(here: str, name: str) -> bool:
    """Whether nobody wrote what lies in the folder `name`."""
    is_environment = os.path.exists(os.path.join(here, name, "pyvenv.cfg"))
    return name.startswith(".") or name in _SKIPPED or is_environment
