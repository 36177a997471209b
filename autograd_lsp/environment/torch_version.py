"""Which torch an environment has: told by the names of the folders that installers leave, as it is never imported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from analyzers.ops.table import RELEASE
from autograd_lsp.text.releases import release_of

TESTED = RELEASE
"""The release that has judged every claim."""

_INSTALLED = re.compile(r"torch-(\d+\.\d+[^-]*)(?:-py[\d.]+)?\.(?:dist|egg)-info", re.IGNORECASE)


def installed_torch(folders: Iterable[str]) -> str | None:
    """The version in folders of packages; the newest, where an old one has left its folder."""
    found = [match[1] for folder in folders for entry in _entries(folder) if (match := _INSTALLED.fullmatch(entry))]
    return max(found, key=lambda version: release_of(version) or (0, 0), default=None)


def remark_on(version: str | None) -> str | None:
    """What is to be said of a torch that is not the one tested."""
    release = None if version is None else release_of(version)
    if release is None or release == TESTED:
        return None
    age = "older" if release < TESTED else "newer"
    return f"torch {version} is {age} than {TESTED[0]}.{TESTED[1]}, which the rules were tested with"


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
