"""Which file of the workspace an import means.

A script sees the modules beside it, as Python does; a file of a package sees what lies beside the package's top.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

Exists = Callable[[str], bool]

NEVER = frozenset({"torch", "numpy"})
"""Names that mean the library whose behaviour the machine models, wherever the analysis runs."""


INSTALLED = ("site-packages", "dist-packages")


def parent(path: str) -> str:
    folder = str(PurePosixPath(path).parent)
    return "" if folder == "." and not path.startswith(".") else folder


def join(folder: str, *parts: str) -> str:
    return "/".join(p for p in (folder.rstrip("/") if folder != "/" else "", *parts) if p) or "."


def find_import(exists: Exists, importer: str, name: str, level: int) -> str | None:
    """The path of the module that `import name` (or `from <level dots>name import ...`) means in `importer`."""
    parts = [p for p in name.split(".") if p]
    if level:
        folder = parent(importer)
        for _ in range(level - 1):
            folder = parent(folder) if folder else ".."
        return _module_at(exists, folder, parts, importer)
    if not parts or parts[0] in NEVER:
        return None
    for folder in search_path(exists, importer):
        if folder.endswith(INSTALLED) and not importer.startswith(f"{folder}/{parts[0]}/"):
            # Installed packages are libraries to each other.
            continue
        found = _module_at(exists, folder, parts, importer)
        if found is not None:
            return found
    return None


def search_path(exists: Exists, importer: str) -> list[str]:
    """The folders in which absolute imports are looked for: the script's own, then the top of its package."""
    own = parent(importer)
    folders = [own]
    top = own
    while exists(join(top, "__init__.py")) and parent(top) != top:
        top = parent(top)
        if top not in folders:
            folders.append(top)
    if own and top == own:
        # A folder of scripts inside a project: the project's root may be on the path.
        up = parent(own)
        if up != own and (
            exists(join(up, "pyproject.toml")) or exists(join(up, "setup.py")) or exists(join(up, "train.py"))
        ):
            folders.append(up)
    return folders


def _module_at(exists: Exists, folder: str, parts: list[str], importer: str) -> str | None:
    base = join(folder, *parts)
    for candidate in (base + ".py" if parts else "", join(base, "__init__.py")):
        if candidate and candidate != importer and exists(candidate):
            return candidate
    return None
