"""`python -m tests.reported.peers FOLDER [TOOL...]`: other tools, over the reported crashes; prints a table.

It is the one of docs/comparison.md.

FOLDER has a checkout of each repository of `crashes.tsv`, named `owner+name`, at its commit; those that are not there
are cloned. What is counted for each tool:

- *on the line*: faults with at least one finding, of any rule, on one of their lines: where a mend would be made, or
  where torch raises.
- *by chance*: how many that would be if the tool had laid as many findings on lines of the same files blindly. A tool
  with a finding on each line is on all lines of all faults.
- *rules*: those that were on a line of a fault, the commonest first.

Each tool reports all it has, as in `tests.corpus.peers`. None of the programs is run: neither a traceback nor anomaly
mode can be had without their data, so that of the traceback only what the threads quote is counted. A fault has that
named if the line that its thread's traceback ends at is one of the fault's.
"""

from __future__ import annotations

import argparse
import csv
import math
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.corpus.peers import TOOLS, Found, Tool, version

LIST = Path(__file__).with_name("crashes.tsv")
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Crash:
    """One line of `crashes.tsv`; places are of paths from the root of the repository."""

    repository: str
    commit: str
    script: str
    fault: frozenset[Place]
    crash: frozenset[Place]
    traceback: frozenset[Place]

    @property
    def places(self) -> frozenset[Place]:
        return self.fault | self.crash


@dataclass(slots=True)
class Count:
    on_the_line: int = 0
    by_chance: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.reported.peers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument("tool", nargs="*", help="only these")
    options = parser.parse_args()
    crashes = list(reported())
    for crash in crashes:
        _clone(crash, options.folder)
    quoted = [crash for crash in crashes if crash.traceback]
    named = sum(bool(crash.traceback & crash.fault) for crash in quoted)
    print(f"{len(crashes)} faults; the thread quotes a line of {len(quoted)}, which is one of the fault in {named}\n")
    print("| tool | on the line | by chance | rules |", "|---|---|---|---|", sep="\n", flush=True)
    for tool in TOOLS:
        if (not options.tool or tool.name in options.tool) and (number := version(tool)):
            row = count(crashes, options.folder, tool)
            what = f"{tool.name} {number}" + (f", `{tool.options}`" if tool.options else "")
            rules = ", ".join(f"{rule} {times}" for rule, times in row.rules.most_common(6))
            print(f"| {what} | {row.on_the_line} | {row.by_chance:.1f} | {rules} |", flush=True)


def reported(path: Path = LIST) -> Iterable[Crash]:
    """The crashes of the list, in its order."""
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            fault, crash, traceback = (places(row[name]) for name in ("fault", "crash", "traceback"))
            yield Crash(row["repo"], row["commit"], row["script"], fault, crash, traceback)


def places(written: str) -> frozenset[Place]:
    """`file:1,2;other:3`, or `-` for none."""
    if written == "-":
        return frozenset()
    files = (group.rsplit(":", 1) for group in written.split(";"))
    return frozenset((file, int(line)) for file, numbers in files for line in numbers.split(","))


def count(crashes: Iterable[Crash], folder: Path, tool: Tool) -> Count:
    """The findings of one tool, each repository looked at in a copy of its own."""
    result = Count()
    for crash in crashes:
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary).resolve() / "checkout"
            shutil.copytree(checkout(crash, folder), root, ignore=shutil.ignore_patterns(".git"), symlinks=True)
            add(result, crash, tool.look(root), {file: _lines(root / file) for file, _ in crash.places})
    return result


def add(result: Count, crash: Crash, found: Iterable[Found], lines: dict[str, int]) -> None:
    """`lines` has the length of each file that the fault is in."""
    marked = {(item.path, item.line): item.rule for item in found}
    rules = {item.rule for item in found if (item.path, item.line) in crash.places}
    result.on_the_line += bool(rules)
    result.rules.update(rules)
    total = sum(lines.values())
    share = sum(path in lines for path, _ in marked) / total if total else 0.0
    result.by_chance += 1.0 - math.pow(1.0 - min(share, 1.0), len(crash.places))


def checkout(crash: Crash, folder: Path) -> Path:
    return folder / crash.repository.replace("/", "+")


def _clone(crash: Crash, folder: Path) -> None:
    where = checkout(crash, folder)
    if not where.exists():
        subprocess.run(["git", "clone", "-q", f"https://github.com/{crash.repository}", str(where)], check=True)
        subprocess.run(["git", "-C", str(where), "checkout", "-q", crash.commit], check=True)


def _lines(file: Path) -> int:
    with file.open("rb") as content:
        return sum(1 for _ in content)


if __name__ == "__main__":
    main()
