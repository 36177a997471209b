"""Looks names up in an environment: `python child.py PYTHON...`, a name a line in, its kind a line out.

The first interpreter that finds torch is taken; the first line out says which, and what is installed there. This file
runs by itself, as a script: nothing of ours is imported here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

PROBES = {
    "module": ("register_forward_pre_hook", "torch.nn.modules.module.Module."),
    "optimizer": ("register_step_pre_hook", "torch.optim.optimizer.Optimizer."),
    "tensor": ("retain_grad", "torch."),
    "scheduler": ("get_last_lr", "torch.optim.lr_scheduler."),
    "dataset": ("__add__", "torch.utils.data.dataset.Dataset."),
}
"""By kind, a method that hardly anyone overrides, and where it is defined."""

_LOOK = """
import importlib.util, json, os, sys
names = json.loads(sys.argv[1])
found = [name for name in names if importlib.util.find_spec(name) is not None]
installed = sorted({entry for folder in sys.path if os.path.isdir(folder) for entry in os.listdir(folder)
                    if entry.endswith((".dist-info", ".egg-info", ".pth"))})
print(json.dumps([found, installed]))
"""
_SECONDS = 20


def look(python: str, names: list[str]) -> tuple[list[str], list[str]]:
    """Which packages an interpreter finds, and what is installed there; no package is imported for it."""
    command = [python, "-I", "-c", _LOOK, json.dumps(names)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_SECONDS, check=True, stdin=subprocess.DEVNULL
    )
    found, installed = json.loads(done.stdout)
    return found, installed


def choose(pythons: list[str]) -> tuple[str, list[str]] | None:
    for python in pythons:
        try:
            found, installed = look(python, ["torch"])
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
        if found:
            return python, installed
    return None


def kind_of(python: str, environment: Any, dotted: str) -> str:
    if "." not in dotted:
        return "unknown" if look(python, [dotted])[0] else "missing"
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        head = f"from {'.'.join(parts[:cut])} import {parts[cut]} as it\n"
        called = ".".join(["it", *parts[cut + 1 :]]) + "()"
        if _places(environment, head, "it"):
            return next((kind for kind in PROBES if _is(environment, head, called, kind)), "unknown")
    return "unknown"


def _is(environment: Any, head: str, called: str, kind: str) -> bool:
    method, where = PROBES[kind]
    return any(place.startswith(where) for place in _places(environment, head, f"{called}.{method}"))


def _places(environment: Any, head: str, expression: str) -> list[str]:
    import jedi

    script = jedi.Script(head + expression, environment=environment)
    return [name.full_name or "" for name in script.goto(2, len(expression) - 1, follow_imports=True)]


def main() -> None:
    import jedi

    chosen = choose(sys.argv[1:])
    print(json.dumps(chosen and [*chosen, jedi.__version__]), flush=True)
    if chosen is None:
        return
    environment = jedi.create_environment(chosen[0], safe=False)
    for line in sys.stdin:
        try:
            kind = kind_of(chosen[0], environment, line.strip())
        except Exception:  # jedi fails on what it does not understand
            kind = "unknown"
        print(json.dumps(kind), flush=True)


if __name__ == "__main__":
    main()
