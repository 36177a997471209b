"""Which Python runs the user's programs: one that is configured, an active or near environment, or one on the path."""

from __future__ import annotations

import glob
import itertools
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

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
    from jedi import find_system_environments

    yield from (str(found.executable) for found in find_system_environments())
