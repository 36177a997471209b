"""Everything that the analyzer says about some programs, as text: findings with fixes, facts, lens, cards and graphs.

Two checkouts, or two processes, that say the same are the same to whoever asks. So this is what a change of the machine
that is to change nothing is held against:

    python tools/answers.py tests/corpus examples > build/before.txt    # a line for each answer
    python tools/answers.py tests/corpus --against ../before            # the same by another checkout, and what differs
    python tools/answers.py tests/corpus --seeds 10                     # the same in ten processes with ten hash seeds
    python tools/answers.py tests/corpus --last-first                   # the same, with the programs in another order
    python tools/answers.py tests/corpus --against ../before --no-words # what is said, but not how it is worded

A path is a Python file, a folder of them, or a page of Markdown whose fences are programs: a fence that names a file
(`python net.py`) is a file of its heading's program, any other a program of its own. `--only` leaves out what takes
long: for whole packages `--only findings,facts`.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import hashlib
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from analyzers.host import Host, Snapshot
from analyzers.report import Place
from analyzers.views import bound, reaches

KINDS = ("findings", "facts", "lens", "cards", "graphs")

WORDS = {"message", "title"}
"""The fields of answers that hold sentences."""

MOST_DIFFERENCES = 40
MOST_MARKS = 1_000

_FENCE = re.compile(r"^```python(?P<options>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_NAME = re.compile(r"[^\W\d]\w*")

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    """One file that is asked about, by path; `texts` are the files of a program that no disk holds."""

    path: str
    texts: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    kinds: tuple[str, ...]
    words: bool


def programs(paths: Iterable[str]) -> Iterator[Program]:
    for path in paths:
        files = sorted(Path(path).rglob("*")) if os.path.isdir(path) else [Path(path)]
        for file in files:
            if file.suffix == ".py":
                yield Program(os.path.abspath(file))
            elif file.suffix == ".md":
                yield from _in_page(file)


def _in_page(page: Path) -> Iterator[Program]:
    text = page.read_text(encoding="utf-8")
    starts = [match.start() for match in _HEADING.finditer(text)]
    count = itertools.count(1)
    for start, end in itertools.pairwise([0, *starts, len(text)]):
        named: dict[str, str] = {}
        for fence in _FENCE.finditer(text, start, end):
            name = fence["options"].strip()
            if name.endswith(".py"):
                named[name] = fence["text"]
            else:
                at = os.path.abspath(f"{page}.{next(count)}.py")
                yield Program(at, ((at, fence["text"]),))
        folder = os.path.abspath(f"{page}.{next(count)}")
        texts = tuple((os.path.join(folder, *name.split("/")), text) for name, text in named.items())
        yield from (Program(at, texts) for at, _ in texts)


def answers(program: Program, wanted: Wanted) -> list[str]:
    """A line for each; a crash of the analyzer is one too."""
    texts = {at: text.encode() for at, text in program.texts}
    snapshot = (Host(read=texts.get) if texts else _host_of_disk()).snapshot()
    try:
        return [f"{os.path.relpath(program.path)}: {line}" for line in _answers(snapshot, program.path, wanted)]
    except Exception as error:
        return [f"{os.path.relpath(program.path)}: {type(error).__name__}: {error}"]


@cache
def _host() -> Host:
    return Host()


def _host_of_disk() -> Host:
    """What the files of a package import between them runs once in each process."""
    _host().forget_if_large()
    return _host()


def _answers(snapshot: Snapshot, path: str, wanted: Wanted) -> Iterator[str]:
    def told(kind: str, found: Iterable[object]) -> Iterator[str]:
        return (f"{kind} {said(one, wanted)}" for one in found)

    if "findings" in wanted.kinds:
        yield from told("finding", snapshot.findings(path))
    if "facts" in wanted.kinds:
        yield from told("fact", snapshot.facts(path))
    if "lens" in wanted.kinds:
        yield from told("bound", bound(snapshot, path))
        yield from told("lens", reaches(snapshot, path))
    text = snapshot.text(path) if {"cards", "graphs"} & {*wanted.kinds} else ""
    for at in [len(text[: match.start()].encode()) for match in itertools.islice(_NAME.finditer(text), MOST_MARKS)]:
        if "cards" in wanted.kinds and (card := snapshot.card(path, at)) is not None:
            yield f"card at {at} {said(card, wanted)}"
        if "graphs" in wanted.kinds and (graph := snapshot.graph(path, at)) is not None:
            yield f"graph at {at} {said(graph, wanted)}"


def said(found: object, wanted: Wanted) -> str:
    """An answer in full: paths below the working directory, sets in order, sentences only where they are wanted."""
    match found:
        case Place():
            return f"{os.path.relpath(found.path)}:{found.start}-{found.end}"
        case tuple():
            return f"[{', '.join(said(one, wanted) for one in found)}]"
        case frozenset():
            return f"{{{', '.join(sorted(said(one, wanted) for one in found))}}}"
    if not dataclasses.is_dataclass(found):
        return repr(found)
    fields = [field.name for field in dataclasses.fields(found) if wanted.words or field.name not in WORDS]
    return f"{type(found).__name__}({', '.join(f'{name}={said(getattr(found, name), wanted)}' for name in fields)})"


def all_answers(asked: Sequence[Program], wanted: Wanted, jobs: int) -> Iterator[list[str]]:
    """By program, in their order, whoever answers first."""
    done = 0
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for lines in pool.map(answers, asked, itertools.repeat(wanted), chunksize=4):
            yield lines
            done += 1
            _show(f"{done} of {len(asked)} programs")
    _show("")


def _show(words: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)


def by_another(options: argparse.Namespace, checkout: str, seed: int, *more: str) -> list[str]:
    """What the analyzer of a checkout says, in a process of its own."""
    words = [*options.paths, "--only", ",".join(options.only), "--jobs", str(options.jobs), *more]
    command = [sys.executable, __file__, *words, *(() if options.words else ("--no-words",))]
    environment = {**os.environ, "PYTHONPATH": checkout, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.splitlines()


def differences(ours: Sequence[str], theirs: Sequence[str], name: str) -> int:
    """Prints where two lists of answers differ; how many lines that are."""
    lines = [
        line
        for line in difflib.unified_diff(theirs, ours, name, "this", n=0, lineterm="")
        if line[:1] in "+-" and line[:3] not in {"+++", "---"}
    ]
    for line in lines[:MOST_DIFFERENCES]:
        print(line)
    digest = hashlib.sha256("\n".join(ours).encode()).hexdigest()[:12]
    print(f"{len(ours)} answers ({digest}), {len(lines)} lines differ from {name}")
    return len(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--only", type=lambda text: tuple(text.split(",")), default=KINDS, metavar=",".join(KINDS))
    parser.add_argument("--no-words", dest="words", action="store_false", help="leave out messages and titles")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--against", metavar="CHECKOUT", help="compare with what the analyzer of that checkout says")
    parser.add_argument("--last-first", action="store_true", help="compare with asking about the last program first")
    parser.add_argument("--backwards", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seeds", type=int, metavar="N", help="compare N processes with different hash seeds")
    options = parser.parse_args()
    if unknown := set(options.only) - set(KINDS):
        parser.error(f"--only knows {', '.join(KINDS)}, and not {', '.join(sorted(unknown))}")
    if options.seeds or options.against or options.last_first:
        here = str(Path(__file__).resolve().parents[1])
        others = [(here, seed) for seed in range(1, options.seeds or 0)]
        others += [(os.path.abspath(options.against), 0)] if options.against else []
        ours = by_another(options, here, 0)
        found = [
            differences(ours, by_another(options, *other), f"{other[0]}, hash seed {other[1]}") for other in others
        ]
        if options.last_first:
            found.append(differences(ours, by_another(options, here, 0, "--backwards"), "the last first"))
        return 1 if any(found) else 0
    asked = [*programs(options.paths)]
    wanted = Wanted(tuple(options.only), options.words)
    if options.backwards:
        answered: Iterable[list[str]] = reversed([*all_answers(asked[::-1], wanted, options.jobs)])
    else:
        answered = all_answers(asked, wanted, options.jobs)
    for lines in answered:
        print("\n".join(lines), end="\n" if lines else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
