"""Tests: what `unittest` and pytest call, each with gradients on, whoever else may call it."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import PurePosixPath

from analyzers.domain.values import Func
from analyzers.machine.core.machine import Machine
from analyzers.machine.objects.classes import is_a

COLLECTED = ("test_*.py", "*_test.py")
"""The files that pytest collects if nobody tells it otherwise."""


def is_test(m: Machine, func: Func) -> bool:
    """Whether a test runner calls a function, by the rules of `unittest` and the defaults of pytest."""
    if not func.node_name.startswith("test"):
        return False
    if func.owner is not None and is_a(m, func.owner, "unittest.TestCase"):
        return True
    *classes, _ = func.qualname.split(".")
    return all(name.startswith("Test") for name in classes) and _is_collected(func.module)


def _is_collected(path: str) -> bool:
    return any(fnmatch(PurePosixPath(path).name, pattern) for pattern in COLLECTED)
