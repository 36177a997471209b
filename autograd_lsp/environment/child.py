"""Looks names up in an environment: `python child.py ENVIRONMENTS JEDI`, a name a line in, its kind a line out.

Environments are given in JSON, as pairs of an interpreter and the folders of its packages. The first that has torch is
taken; the first line out says which, and what is installed there. jedi reads the sources in these folders: neither is
the interpreter run, nor is anything imported from there, be it Python or compiled. This file runs by itself, as a
script: nothing of ours is imported here. `JEDI` is the folder of that package, which need not be among those that this
Python would look in.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from typing import Any

sys.path += sys.argv[2:]

import jedi
import parso.cache
from jedi.api.environment import InterpreterEnvironment

PROBES = {
    "module": ("register_forward_pre_hook", "torch.nn.modules.module.Module."),
    "optimizer": ("register_step_pre_hook", "torch.optim.optimizer.Optimizer."),
    "tensor": ("retain_grad", "torch."),
    "scheduler": ("get_last_lr", "torch.optim.lr_scheduler."),
    "dataset": ("__add__", "torch.utils.data.dataset.Dataset."),
}
"""By kind, a method that hardly anyone overrides, and where it is defined."""

_STANDARD = [sysconfig.get_path("stdlib"), os.path.join(sysconfig.get_path("platstdlib"), "lib-dynload")]
_INSTALLED = (".dist-info", ".egg-info", ".pth")

Chosen = tuple[str, list[str]]
"""An interpreter, and the folders of its packages."""


def choose(environments: list[Chosen]) -> Chosen | None:
    return next((one for one in environments if has(one[1], "torch")), None)


def has(folders: list[str], name: str) -> bool:
    """Whether there is a module or a package of that name."""
    return any(entry.partition(".")[0] == name for entry in entries(folders) if is_importable(entry))


def is_importable(entry: str) -> bool:
    return "." not in entry or entry.endswith((".py", ".so", ".pyd"))


def entries(folders: list[str]) -> list[str]:
    found = []
    for folder in folders:
        try:
            found += os.listdir(folder)
        except OSError:
            continue
    return found


def kind_of(folders: list[str], dotted: str) -> str:
    if "." not in dotted:
        is_there = dotted in sys.stdlib_module_names or has(folders, dotted)
        return "unknown" if is_there else "missing"
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        head = f"from {'.'.join(parts[:cut])} import {parts[cut]} as it\n"
        called = ".".join(["it", *parts[cut + 1 :]]) + "()"
        if _places(folders, head, "it"):
            return next((kind for kind in PROBES if _is(folders, head, called, kind)), "unknown")
    return "unknown"


def _is(folders: list[str], head: str, called: str, kind: str) -> bool:
    method, where = PROBES[kind]
    return any(place.startswith(where) for place in _places(folders, head, f"{called}.{method}"))


def _places(folders: list[str], head: str, expression: str) -> list[str]:
    # A project of our own: jedi would look for one, and for its settings, above the working directory.
    project = jedi.Project(os.path.dirname(__file__), sys_path=[*_STANDARD, *folders], smart_sys_path=False)
    script = jedi.Script(head + expression, environment=InterpreterEnvironment(), project=project)
    return [name.full_name or "" for name in script.goto(2, len(expression) - 1, follow_imports=True)]


def _import_nothing() -> None:
    """jedi imports what is compiled, from where this process itself would: now that is Python's own library alone."""
    jedi.settings.auto_import_modules = []
    sys.path[:] = _STANDARD


def _keep_nothing() -> None:
    """parso would keep what it reads as pickles, in a cache folder that a checkout may have brought along."""
    parso.cache._load_from_file_system = lambda *_, **__: None
    parso.cache._save_to_file_system = lambda *_, **__: None


def main() -> None:
    environments: list[Any] = json.loads(sys.argv[1])
    _import_nothing()
    _keep_nothing()
    chosen = choose([(python, folders) for python, folders in environments])
    installed = sorted({entry for entry in entries(chosen[1]) if entry.endswith(_INSTALLED)}) if chosen else []
    print(json.dumps(chosen and [chosen[0], installed, jedi.__version__]), flush=True)
    if chosen is None:
        return
    for line in sys.stdin:
        try:
            kind = kind_of(chosen[1], line.strip())
        except Exception:  # jedi fails on what it does not understand
            kind = "unknown"
        print(json.dumps(kind), flush=True)


if __name__ == "__main__":
    main()
