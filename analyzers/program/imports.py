"""Which file of the workspace an import refers to.

A script sees the modules beside it, as Python does; a file of a package sees what lies beside the package's top. Both
see what lies at the root of their project.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from posixpath import normpath

Exists = Callable[[str], bool]

NEVER = frozenset({"torch", "numpy"})
"""Names that mean the library whose behaviour the machine models, wherever the analysis runs."""


INSTALLED = ("site-packages", "dist-packages")


@lru_cache(maxsize=4096)
def parent(path: str) -> str:
    folder = str(PurePosixPath(path).parent)
    return "" if folder == "." and not path.startswith(".") else folder


def join(folder: str, *parts: str) -> str:
    return "/".join(p for p in (folder.rstrip("/") if folder != "/" else "", *parts) if p) or "."


STANDARD = sys.stdlib_module_names - {"this", "antigravity"}

MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git/HEAD")
"""Files of a project's root."""

SIGNS = ("requirements.txt", "README.md", "README.rst", "LICENSE", "environment.yml")
"""Files that a project's root has, too, where it was unpacked or copied. Other folders may have them as well."""

FURTHEST = 4
"""Folders above a script in which the project's root is looked for."""


def find_import(
    exists: Exists, importer: str, name: str, level: int, *, moves: bool = False, added: Sequence[str] = ()
) -> str | None:
    """The path of the module that `import name` (or `from <level dots>name import ...`) means in `importer`.

    With `moves`, the importer changes the search path itself: what lies above it may be there for it. `added` are
    folders that it adds, as seen from its own or from one that it may be started in.
    """
    parts = [p for p in name.split(".") if p]
    if level:
        folder = parent(importer)
        for _ in range(level - 1):
            folder = parent(folder) if folder else ".."
        return module_at(exists, folder, parts, importer)
    if not parts or parts[0] in NEVER:
        return None
    for folder in search_path(exists, importer, parts[0], moves=moves, added=added):
        if folder.endswith(INSTALLED) and not importer.startswith(f"{folder}/{parts[0]}/"):
            # Installed packages are libraries to each other.
            continue
        found = module_at(exists, folder, parts, importer)
        if found is not None:
            return found
    return None


def search_path(
    exists: Exists, importer: str, name: str, *, moves: bool = False, added: Sequence[str] = ()
) -> list[str]:
    """The folders in which the absolute import of `name` is looked for, in order.

    A script's own folder comes first. For a file of a package that is where the package lies; its own folder counts for
    those who run it as a script, but not for modules that Python brings along.
    """
    own = parent(importer)
    inside = [own]
    while exists(join(inside[-1], "__init__.py")) and parent(inside[-1]) != inside[-1]:
        inside.append(parent(inside[-1]))
    top = inside.pop()
    if name in STANDARD:
        return [top]
    above = [*_holding(top, name), *_above(exists, top, moves=moves)]
    starts = dict.fromkeys((own, top, *above))
    beside = (normpath(join(start, folder)) for start in starts for folder in added)
    return [top, *inside, *above, *beside, *(join(folder, "src") for folder in (top, *above))]


def _holding(top: str, name: str) -> list[str]:
    """What holds the folder `name` that `top` is or lies in: who imports from it by that name has it on the path."""
    folder = top
    for _ in range(FURTHEST):
        if PurePosixPath(folder).name == name:
            return [parent(folder)]
        if not folder or parent(folder) == folder:
            break
        folder = parent(folder)
    return []


def _above(exists: Exists, top: str, *, moves: bool) -> list[str]:
    """The folders over `top`, up to the project's root, as far as somebody may have put them on the path."""
    folders: list[str] = []
    folder = top
    while len(folders) < FURTHEST and not _has(exists, folder, MARKS):
        if not folder or parent(folder) == folder:
            break
        folder = parent(folder)
        folders.append(folder)
    else:
        if len(folders) < FURTHEST:
            return folders
    signed = [at for at, one in enumerate(folders) if _has(exists, one, SIGNS)]
    if signed:
        return folders[: signed[-1] + 1]
    if moves:
        return folders[:2]
    return folders[:1] if folders and exists(join(folders[0], "train.py")) else []


def _has(exists: Exists, folder: str, names: Sequence[str]) -> bool:
    return any(exists(join(folder, name)) for name in names)


def module_at(exists: Exists, folder: str, parts: list[str], importer: str) -> str | None:
    """The file of a module below a folder. A package goes before the module of its name, as in Python."""
    base = join(folder, *parts)
    for candidate in (join(base, "__init__.py"), base + ".py" if parts else ""):
        if candidate and candidate != importer and exists(candidate):
            return candidate
    return None
