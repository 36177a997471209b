"""Which Python runs the user's programs: one that is configured, an active or near environment, or one on the path."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

NEAR = (".venv", "venv", "env", ".env")
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
