"""What a run has measured: raw seconds, and enough of its circumstances to compare a later run with it."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.servers import OURS, Tool, cores


@dataclass(slots=True)
class Result:
    """`seconds` has by server what was measured, in the order of measuring; `failed` why a server has nothing there."""

    case: str
    group: str
    title: str
    size: int = 0
    seconds: dict[str, list[float]] = field(default_factory=dict)
    diagnostics: dict[str, int] = field(default_factory=dict)
    """How many were shown when the file was opened: that a server sees something is part of its being measured."""
    failed: dict[str, str] = field(default_factory=dict)

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def p95(self, name: str) -> float:
        return percentile(self.seconds[name], 0.95)

    def ratio(self, peer: str) -> float | None:
        """Our median over the peer's, or nothing where one of them is missing."""
        if self.seconds.get(OURS) and self.seconds.get(peer):
            return self.median(OURS) / self.median(peer)
        return None


@dataclass(slots=True)
class Run:
    """`whole` is said of a run that has been through all cases with all keystrokes."""

    whole: bool
    push: bool
    versions: dict[str, str]
    missing: list[str]
    day: str
    machine: dict[str, str | int]
    results: list[Result] = field(default_factory=list)
    parts: int = 1
    """How many runs the results are from; each case is from one."""

    def of(self, group: str) -> list[Result]:
        return [result for result in self.results if result.group == group]

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Run:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**fields, "results": [Result(**result) for result in fields["results"]]})


def merged(runs: Sequence[Run]) -> Run:
    """The first run, with what a later one has measured again or more than it, and with the servers of both."""
    run, *later = runs
    cases = {result.case: result for one in runs for result in one.results}
    run.results = list(cases.values())
    for one in later:
        run.versions |= one.versions
    run.parts = len(runs)
    return run


def begin(tools: Sequence[Tool], missing: list[str], push: bool) -> Run:
    versions = {tool.name: tool.version for tool in tools}
    return Run(False, push, versions, missing, date.today().isoformat(), machine())


def machine() -> dict[str, str | int]:
    """Its class: nothing that names it."""
    try:
        torch = version("torch").partition("+")[0]
    except PackageNotFoundError:
        torch = "none"
    return {
        "cores": cores(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "gigabytes": _gigabytes(),
        "python": platform.python_version(),
        "torch": torch,
    }


def percentile(values: Sequence[float], share: float) -> float:
    """Between the two nearest, in proportion."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def _gigabytes() -> int:
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 0
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
