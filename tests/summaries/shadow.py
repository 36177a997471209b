"""`python -m tests.summaries.shadow FILE...`: each file with and without replays, and what they leave.

It is compared in full: heaps, ids, events, facts, visits. Prints the first difference of each run. A replay takes as
many steps here as a run would, so that both come equally far, and leaves what nothing leads to. Findings are compared
with those of replays that do not, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

from analyzers.domain.lineage import Lineage
from analyzers.domain.values import Func
from analyzers.host import Host
from analyzers.host.presuming import presuming
from analyzers.host.runs import run_of, runs_of
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.replay import replays, summaries
from analyzers.maps import Map

LEFT_OUT = {"log", "reads", "frozen", "kinds"}


def main() -> None:
    different = 0
    for name in sys.argv[1:]:
        for what in compared(Path(name)):
            different += 1
            print(f"{name}: {what}", flush=True)
    print(f"{different} differences in {len(sys.argv) - 1} files")


def compared(path: Path) -> Iterable[str]:
    """How the runs of a file differ, if they do."""
    text = path.read_text(encoding="utf-8", errors="replace")
    name = str(path.resolve())
    with mock.patch.object(replays, "SHARE", 1):
        short = _findings(name, text)
        with mock.patch.object(replays, "TEMPORARY", ()):
            with_replays = dict(runs(name, text))
    with mock.patch.object(summaries, "key_of", _never):
        without = dict(runs(name, text))
    if short != with_replays["findings"]:
        yield f"other findings where what nothing leads to is left out: {short}"
    if with_replays.keys() != without.keys():
        yield f"other runs: {sorted(with_replays)} and {sorted(without)}"
    for index, run in with_replays.items():
        if index in without:
            found = difference(run, without[index])
            if found:
                yield f"run {index}: {found}"


def _never(m: Machine, func: Func) -> None:
    """The key of a call that is not recorded."""


def _findings(path: str, text: str) -> object:
    host = Host()
    host.set_text(path, text)
    return host.snapshot().findings(path)


def runs(path: str, text: str) -> Iterable[tuple[str, object]]:
    host = Host()
    host.set_text(path, text)
    snapshot = host.snapshot()
    yield "findings", snapshot.findings(path)
    db = host.world
    for number, run in enumerate(runs_of(db, path)):
        yield f"own {number}", run
    for index in presuming(db, path):
        yield f"presumed {index}", run_of(db, path, index, True)


def difference(one: object, other: object) -> str:
    """Where two of anything differ, as a path from them; nothing where they do not."""
    seen: set[tuple[int, int]] = set()
    left: list[tuple[str, Any, Any]] = [("", one, other)]
    while left:
        at, a, b = left.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            return f"{at}: {a!r:.200} and {b!r:.200}"
        if isinstance(a, Lineage) or hasattr(type(a), "__dataclass_fields__"):
            if (id(a), id(b)) in seen:
                continue
            seen.add((id(a), id(b)))
            names = [each.name for each in fields(a)]
            if type(a).__module__.startswith("analyzers.syntax"):
                names = ["start", "end"]
            left += [(f"{at}.{name}", getattr(a, name), getattr(b, name)) for name in names if name not in LEFT_OUT]
        elif type(a).__name__ == "State":
            names = [name for name in type(a).__slots__ if name not in LEFT_OUT]
            left += [(f"{at}.{name}", getattr(a, name), getattr(b, name)) for name in names]
        elif isinstance(a, tuple | list):
            if len(a) != len(b):
                return f"{at}: {len(a)} and {len(b)} items"
            left += [(f"{at}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
        elif isinstance(a, dict | Map):
            keys, others = {repr(key): key for key in a}, {repr(key): key for key in b}
            if keys.keys() != others.keys():
                return f"{at}: keys {sorted(keys.keys() ^ others.keys())[:3]}"
            left += [(f"{at}[{name:.60}]", a[key], b[others[name]]) for name, key in keys.items()]
        elif a != b and not callable(a):
            return f"{at}: {a!r:.200} and {b!r:.200}"
    return ""


if __name__ == "__main__":
    main()
