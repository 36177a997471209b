"""What is loaded when it is first needed, and why not sooner: whatever else is imported stands at the top of its file.

A shell waits for `--help`, and an editor for what the server can do. Neither needs the analyzer, which takes as long to
load as all the rest; and no command needs what the others do.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from os.path import dirname
from typing import TYPE_CHECKING, Any

from autograd_lsp.process.memory import without_collecting

if TYPE_CHECKING:
    from analyzers.drafting.base import Rule
    from analyzers.host import Host, Snapshot
    from analyzers.report import Bound, Reach

BY_NAME = {
    "analyzers.host": "the server answers first; a check may have kept all it says",
    "autograd_lsp.cli.commands": "of all commands, one is given",
    "autograd_lsp.cli.explanations": "of all formats, one is asked for; rich, which some print with, takes long",
    "autograd_lsp.cli.fixing": "few checks fix, and those that find all as it was are quick",
    "autograd_lsp.cli.formats": "as for explanations",
    "autograd_lsp.reports.surroundings": "the version is asked for with the environment, and seldom",
    "autograd_lsp.reports.cluster": "dask is an extra, and takes long",
    "autograd_lsp.flake8.analysis": "flake8 loads its plugins even to print its version",
}
"""The modules that `load` is for, or the rooms that they lie in."""


def load(name: str) -> Any:
    """A module of a table, by its whole name."""
    if name in sys.modules:
        return sys.modules[name]
    with without_collecting():
        return import_module(name)


def host_class() -> type[Host]:
    host: type[Host] = load("analyzers.host").Host
    return host


def rules() -> tuple[Rule, ...]:
    from analyzers.rules import RULES  # noqa: PLC0415  (the server reads its configuration before it needs a rule)

    return RULES


def bound(snapshot: Snapshot, path: str) -> tuple[Bound, ...]:
    from analyzers import views  # noqa: PLC0415  (the server has features before it has the analyzer)

    return views.bound(snapshot, path)


def reaches(snapshot: Snapshot, path: str) -> tuple[Reach, ...]:
    from analyzers import views  # noqa: PLC0415  (the same)

    return views.reaches(snapshot, path)


def folder_of(package: str) -> str:
    """Where it is installed, or wherever an editor's extension has put it. It is not loaded.

    Raises:
        ModuleNotFoundError: there is no such package.
    """
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"there is no package {package}", name=package)
    return dirname(dirname(found.origin))


def installed_version(package: str) -> str:
    from importlib.metadata import version  # noqa: PLC0415  (what reads mail is loaded with it)

    return version(package)
