"""Which Python runs the user's programs, and where its packages lie: told by its files alone, as it is never run.

It may be one that is configured, an active or near environment, or one on the path. A project that is looked at may
bring its own interpreter, and what that would run when it starts; whoever only reads a project runs nothing of it.
"""

from __future__ import annotations

import ast
import glob
import itertools
import os
import shutil
import site
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

from analyzers.program.disk import read_regular_file

NEAR = (".venv", "venv", "env", ".env")
_LIBRARIES = (("lib*", "python*", "*-packages"), ("Lib", "site-packages"))
_IN_ENVIRONMENT = ("bin/python", "Scripts/python.exe", "python.exe")


def pythons(configured: str | None, folder: str, variables: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Candidates, best first. One that is configured is the only one."""
    if configured is not None:
        yield from _python_of(os.path.join(folder, os.path.expanduser(configured)))
        return
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if variables.get(variable):
            yield from _python_of(variables[variable])
    for above in _upwards(folder):
        for name in NEAR:
            if os.path.isfile(os.path.join(above, name, "pyvenv.cfg")):
                yield from _python_of(os.path.join(above, name))
    yield sys.executable
    yield from _on_path()


def fingerprint(configured: str | None, folder: str, variables: Mapping[str, str] = os.environ) -> str:
    """Another one where another Python may run the user's programs, or something was installed or removed since."""
    parts = [f"{variables.get(name)}" for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX")]
    near = list(itertools.takewhile(lambda python: python != sys.executable, pythons(configured, folder, variables)))
    on_path = [found for name in ("python3", "python") if (found := shutil.which(name, path=variables.get("PATH")))]
    for python in [*near, sys.executable, *on_path]:
        for place in (python, os.path.realpath(python)):
            root = os.path.dirname(os.path.dirname(place))
            inside = [os.path.join(glob.escape(root), *there) for there in _LIBRARIES]
            for library in sorted({library for pattern in inside for library in glob.glob(pattern)}):
                with suppress(OSError):
                    parts.append(f"{library} {os.stat(library).st_mtime_ns}")
            parts.append(place)
    return "\n".join(parts)


def _python_of(place: str) -> Iterator[str]:
    """An interpreter, or the folder of an environment."""
    if os.path.isfile(place):
        yield place
        return
    yield from (path for name in _IN_ENVIRONMENT if os.path.isfile(path := os.path.join(place, name)))


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        parent = os.path.dirname(folder)
        folder = "" if parent == folder else parent


def _on_path() -> Iterator[str]:
    names = ("python3", "python", *(f"python3.{minor}" for minor in range(sys.version_info.minor + 2, 8, -1)))
    yield from dict.fromkeys(found for name in names if (found := shutil.which(name)))


def folders_of(python: str) -> list[str]:
    """The folders in which an interpreter finds installed packages."""
    if python == sys.executable:
        sites = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    else:
        inside = [os.path.join(glob.escape(root), *there) for root in _roots(python) for there in _LIBRARIES]
        sites = sorted(folder for pattern in inside for folder in glob.glob(pattern))
    found: dict[str, str] = {}
    for folder in sites:
        found.setdefault(os.path.realpath(folder), folder)
    for folder in tuple(found.values()):
        for added in _added_in(folder):
            found.setdefault(os.path.realpath(added), added)
    return [folder for folder in found.values() if os.path.isdir(folder)]


def _roots(python: str) -> list[str]:
    """The folders above an interpreter's libraries: of an environment, also of what that is based on if it says so."""
    above = (os.path.dirname(python), os.path.dirname(os.path.dirname(python)))
    for root in above:
        settings = _settings(os.path.join(root, "pyvenv.cfg"))
        if settings is not None:
            is_open = settings.get("include-system-site-packages", "").lower() == "true" and "home" in settings
            home = settings.get("home", "")
            return [root, *([home, os.path.dirname(home)] if is_open else [])]
    real = os.path.realpath(python)
    roots = dict.fromkeys([*above, os.path.dirname(real), os.path.dirname(os.path.dirname(real))])
    return [*roots, *(["/usr/local"] if "/usr" in roots else [])]


def _settings(path: str) -> dict[str, str] | None:
    """What a `pyvenv.cfg` says; None if there is none."""
    text = _text(path)
    if text is None:
        return None
    rows = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in rows}


def _added_in(folder: str) -> Iterator[str]:
    """What the files of a folder of packages add to it, as installers write them: no line of code is run for it."""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.pth"))):
        for line in (_text(path) or "").splitlines():
            entry = os.path.join(folder, line.strip())
            if line.strip() and not line.startswith(("#", "import ", "import\t")) and os.path.isdir(entry):
                yield entry
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "__editable__*_finder.py"))):
        yield from sorted({os.path.dirname(place) for place in _mapping(_text(path) or "").values()})


def _mapping(finder: str) -> dict[str, str]:
    """Where setuptools' finder for a package that is edited in its place looks, by the name of the module."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.parse(finder).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "MAPPING":
                value = ast.literal_eval(node.value) if node.value is not None else None
                if isinstance(value, dict):
                    return {name: place for name, place in value.items() if isinstance(place, str)}
    return {}


def _text(path: str) -> str | None:
    try:
        return read_regular_file(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
