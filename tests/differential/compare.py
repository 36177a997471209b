"""`python -m tests.differential.compare --count 3000 --seed 7 --jobs 2 [--level 1..5]`: the analyzer beside torch.

Each program is run by both. They *agree* when torch raises and the analyzer foretells it, on the same line and with the
same message, or when torch does not raise and the analyzer reports no error. Every disagreement has a key, which says
what kind it is: a crash, a false error of some rule, a raise that was missed, a fact that is wrong in some field. The
table counts the keys; of each of the most frequent, the smallest program is shown.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat

from tests.differential.generate import LEVELS, generate
from tests.differential.minimise import minimise
from tests.oracle import Pool, Program, Raised, Run
from tests.support.analyzer import WAYS, Analysis, Sources, Way, analyze_or_tell
from tests.support.judge import FactScore, Wrong, false_errors, foretold, judge_facts

# What torch says when the fault is not one of autograd; the analyzer need not foretell these.
_ORDINARY = (
    "view size is not",
    "The size of tensor",
    "mat1 and mat2",
    "Index",
    "index",
    "shape '",
    "name '",
    "`inputs`",
)


@dataclass(frozen=True, slots=True, order=True)
class Disagreement:
    """`kind`: `crash`, `false error`, `missed raise` or `wrong fact`; `about` tells one cause from another."""

    kind: str
    about: str
    detail: str

    @property
    def key(self) -> str:
        """What two disagreements of one cause have in common."""
        return f"{self.kind}: {self.about}"


@dataclass(slots=True)
class Comparison:
    """What both said of many programs."""

    programs: int = 0
    raising: int = 0
    foretold: int = 0
    ordinary: int = 0
    agreeing: int = 0
    facts: FactScore = field(default_factory=FactScore)
    found: dict[str, list[tuple[str, Disagreement]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, text: str, said: Analysis | str, run: Run) -> None:
        """One more program."""
        self.programs += 1
        raised = _faults(run)
        self.raising += len(raised)
        self.ordinary += bool(run.raised) and not raised
        disagreements = list(disagree(said, run))
        self.foretold += len(raised) - sum(item.kind == "missed raise" for item in disagreements)
        self.agreeing += all(item.kind == "wrong fact" for item in disagreements)
        self.facts += judge_facts(() if isinstance(said, str) else said.claims, run.observations)
        for item in disagreements:
            self.found[item.key].append((text, item))

    def count(self, kind: str) -> int:
        """How many disagreements of a kind there are."""
        return sum(len(items) for key, items in self.found.items() if key.startswith(f"{kind}:"))

    def table(self) -> Iterator[str]:
        """The counts, then the keys, the most frequent first."""
        yield f"programs            {self.programs:>6}"
        yield f"outcome agrees      {self.agreeing:>6}  {100 * self.agreeing / max(1, self.programs):.1f}%"
        yield f"autograd raises     {self.raising:>6}  of which foretold {self.foretold}"
        yield f"other raises        {self.ordinary:>6}"
        for kind in ("false error", "missed raise", "wrong fact", "crash"):
            yield f"{kind:<19} {self.count(kind):>6}"
        yield from self.facts.table()
        yield ""
        counts = Counter({key: len(items) for key, items in self.found.items()})
        yield from (f"{count:>6}  {key}" for key, count in counts.most_common(30))

    def worst(self, most: int) -> list[tuple[str, Disagreement]]:
        """The shortest program of each key: what is false before what is missed, the frequent before the rare."""
        order = ("crash", "false error", "wrong fact", "missed raise")
        keys = sorted(self.found, key=lambda key: (order.index(key.split(":")[0]), -len(self.found[key])))
        return [min(self.found[key], key=lambda item: len(item[0])) for key in keys[:most]]


def disagree(said: Analysis | str, run: Run) -> Iterator[Disagreement]:
    """All in which analyzer and torch differ about one program."""
    if isinstance(said, str):
        yield Disagreement("crash", re.sub(r"\d+", "N", said)[:100], said)
        return
    for finding in false_errors(said, run):
        yield Disagreement("false error", finding.name, f"line {finding.at.number}: {finding.message}")
    for raised in _faults(run):
        if foretold(said, raised) is None:
            about = re.sub(r"\d+", "N", raised.message)[:60]
            yield Disagreement("missed raise", about, f"line {raised.line}: {raised.message[:140]}")
    for wrong in judge_facts(said.claims, run.observations).wrong:
        yield Disagreement("wrong fact", _about(wrong), str(wrong))


def compare(texts: Sequence[str], pool: Pool, way: Way, jobs: int = 1) -> Comparison:
    """Both sides on every program."""
    runs = pool.run([Program.from_text(text) for text in texts], seconds=20)
    result = Comparison()
    for text, said, run in zip(texts, _analyses(texts, way, jobs), runs, strict=True):
        result.add(text, said, run)
    return result


def smallest(text: str, wanted: Disagreement, pool: Pool, way: Way) -> tuple[str, Disagreement]:
    """The smallest program with a disagreement of the same key."""

    def found(candidates: Sequence[str]) -> list[Disagreement | None]:
        runs = pool.run([Program.from_text(candidate) for candidate in candidates], seconds=20)
        pairs = zip(_analyses(candidates, way, 1), runs, strict=True)
        return [None if _broken(run) else _same(disagree(said, run), wanted) for said, run in pairs]

    small = minimise(text, lambda candidates: [item is not None for item in found(candidates)])
    return small, found([small])[0] or wanted


def _broken(run: Run) -> bool:
    """Whether a program lost a line that it needs."""
    return run.raised is not None and run.raised.exception in {"NameError", "UnboundLocalError"}


def _same(found: Iterable[Disagreement], wanted: Disagreement) -> Disagreement | None:
    return next((item for item in found if item.key == wanted.key), None)


def main() -> None:
    """Print the table, and the smallest program of each of the worst disagreements."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.compare", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--level", type=int, choices=LEVELS, default=None, help="all by turns unless told")
    parser.add_argument("--analyzer", choices=WAYS, default="host")
    parser.add_argument("--show", type=int, default=5, help="how many disagreements to minimise and print")
    options = parser.parse_args()
    began = time.monotonic()
    texts = programs(options.seed, options.count, LEVELS if options.level is None else (options.level,))
    with Pool(options.jobs) as pool:
        result = compare(texts, pool, options.analyzer, options.jobs)
        print(*result.table(), sep="\n")
        print(f"{time.monotonic() - began:.0f} s")
        for text, disagreement in result.worst(options.show):
            text, disagreement = smallest(text, disagreement, pool, options.analyzer)
            print(f"\n## {disagreement.key}\n{disagreement.detail}\n\n{text}", end="")


def programs(seed: int, count: int, levels: Sequence[int] = LEVELS) -> list[str]:
    """`count` programs from `seed` on, of the levels by turns."""
    return [generate(number, levels[number % len(levels)]) for number in range(seed, seed + count)]


def _faults(run: Run) -> list[Raised]:
    everything = [*run.caught, *([run.raised] if run.raised else [])]
    return [x for x in everything if not x.message.startswith(_ORDINARY) and x.exception != "KeyError"]


def _about(wrong: Wrong) -> str:
    said = getattr(wrong.claim, wrong.field)
    return f"{wrong.field} said {'a shape' if wrong.field == 'shape' else said}"


def _analyses(texts: Sequence[str], way: Way, jobs: int) -> list[Analysis | str]:
    if jobs == 1:
        return [_analysis(text, way) for text in texts]
    with ProcessPoolExecutor(jobs) as executor:
        return list(executor.map(_analysis, texts, repeat(way), chunksize=32))


def _analysis(text: str, way: Way) -> Analysis | str:
    return analyze_or_tell(Sources.of_text(text), way, seconds=20)


if __name__ == "__main__":
    main()
