"""Which files a folder stands for: the programs below it, except what nobody wrote there.

Left out are hidden folders, virtual environments, packages of other ecosystems and build output, and what the
configuration excludes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from autograd_lsp.config import Configuration

_SKIPPED = frozenset({"__pycache__", "build", "node_modules", "site-packages", "venv"})


def files_below(folder: str, configuration: Configuration | None, suffixes: tuple[str, ...]) -> Iterator[str]:
    """By name within a folder; without a configuration nothing is excluded."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not (is_skipped(here, name) or _excluded(configuration, here, name, is_folder=True))
        )
        for name in sorted(files):
            if name.endswith(suffixes) and not _excluded(configuration, here, name, is_folder=False):
                yield os.path.normpath(os.path.join(here, name))


def is_skipped(here: str, name: str) -> bool:
    """Whether nobody wrote what lies in the folder `name`."""
    is_environment = os.path.exists(os.path.join(here, name, "pyvenv.cfg"))
    return name.startswith(".") or name in _SKIPPED or is_environment


def _excluded(configuration: Configuration | None, here: str, name: str, *, is_folder: bool) -> bool:
    path = os.path.join(os.path.abspath(here), name)
    return configuration is not None and configuration.excludes(path, is_folder=is_folder)
