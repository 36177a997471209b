"""The command lines on one tree of files: cold on a new copy of it, and warm once more on the same copy.

Cold is without what the tool may have kept, in the folder or in the user's caches; the interpreter's own bytecode and
the system's file cache are warm for all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.cases import QUICK_TREE, TREE, CheckCase
from benchmarks.measure import Effort
from benchmarks.results import Result
from benchmarks.servers import Tool

PATIENCE = 1800.0

_FINDINGS = {0, 1}
"""Exit codes of a check that went through, with findings or without."""


def measure_checks(
    case: CheckCase, tools: Sequence[Tool], effort: Effort, folder: Path, tick: Callable[[], None], quick: bool
) -> list[Result]:
    counted = case.copy(folder / "counted", quick)
    lines = _lines(counted)
    shutil.rmtree(counted)
    title = case.title if case.group == "repositories" else " ".join(QUICK_TREE if quick else TREE)
    cold = Result(f"{case.name}-cold", case.group, f"{lines:,} lines ({title}), cold", lines)
    warm = Result(f"{case.name}-warm", case.group, f"{lines:,} lines ({title}), warm", lines)
    commands = [(label, command, tool) for tool in tools for label, command in tool.checks().items()]
    for number in range(effort.checks):
        start = number % len(commands)
        for label, command, tool in [*commands[start:], *commands[:start]]:
            tree = case.copy(folder / "checked", quick)
            cache = folder / "cache"
            environment = {**tool.environment, "XDG_CACHE_HOME": str(cache)}
            for result in (cold, warm):
                try:
                    result.seconds.setdefault(label, []).append(_timed(command, tree, environment))
                except (OSError, subprocess.SubprocessError) as error:
                    result.failed[label] = str(error)
            shutil.rmtree(tree)
            shutil.rmtree(cache, ignore_errors=True)
            tick()
    return [cold, warm]


def _timed(command: Sequence[str], tree: Path, environment: dict[str, str]) -> float:
    begun = perf_counter()
    done = subprocess.run(
        [*command, os.curdir],
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode not in _FINDINGS:
        raise subprocess.CalledProcessError(done.returncode, [Path(command[0]).name])
    return perf_counter() - begun


def _lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))
