"""Programs run by both sides, and a line for each thing that they are about: agrees, knows less, disagrees."""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tests.prelude import torch_side
from tests.prelude.machine_side import UNKNOWN, Analyzer
from tests.prelude.programs import Program


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that the machine does not know, or has wrong."""

    key: tuple[str, ...]
    said: object
    saw: object

    @property
    def is_wrong(self) -> bool:
        return self.said is not UNKNOWN

    def __str__(self) -> str:
        return f"{' '.join(self.key)}: said {self.said}, saw {self.saw}"


@dataclass(slots=True)
class Score:
    """All programs about one name."""

    name: str
    programs: int = 0
    agreeing: int = 0
    facts: int = 0
    known: int = 0
    differences: list[tuple[Program, list[Difference]]] = field(default_factory=list)
    crashes: list[tuple[Program, str]] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        if self.crashes:
            return "crashes"
        if any(d.is_wrong for _, found in self.differences for d in found):
            return "disagrees"
        return "has unknowns" if self.differences else "agrees"

    def __str__(self) -> str:
        return (
            f"{self.name:<28} {self.verdict:<13} {self.agreeing:>5} of {self.programs:>5} programs, "
            f"{self.known:>6} of {self.facts:>6} facts known"
        )

    def kinds(self) -> Counter[str]:
        """The differences by what they are about, without the names of one program."""
        found = Counter(self._kind(d) for _, differences in self.differences for d in differences)
        return found + Counter(f"crash {what}" for _, what in self.crashes)

    def _kind(self, difference: Difference) -> str:
        return f"{'wrong' if difference.is_wrong else 'unknown'} {difference.key[-1]}"


def score(name: str, programs: Iterable[Program], analyzer: Analyzer) -> Score:
    """Both sides on every program."""
    result = Score(name)
    for program in programs:
        result.programs += 1
        try:
            differences = list(compare(program, analyzer, result))
        except Exception as error:
            result.crashes.append((program, f"{type(error).__name__}: {error}"))
            continue
        if differences:
            result.differences.append((program, differences))
        else:
            result.agreeing += 1
    return result


def compare(program: Program, analyzer: Analyzer, result: Score) -> Iterator[Difference]:
    expected = torch_side.run(program)
    found = analyzer.run(program)
    if expected["outcome",] != found["outcome",]:
        result.facts += 1
        yield Difference(("outcome",), found["outcome",], expected["outcome",])
        return
    for key, value in expected.items():
        for path, said, saw in parts(key, found.get(key, UNKNOWN), value):
            result.facts += 1
            result.known += said is not UNKNOWN
            if said is UNKNOWN or said != saw:
                yield Difference(path, said, saw)


def parts(key: tuple[str, ...], said: object, saw: object) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """A value that is a container on both sides is compared part by part, as some may be known and others not."""
    if said == saw or not key[0].startswith("seen") or key[-1] == "graph":
        yield key, said, saw
    elif isinstance(said, list | tuple) and type(said) is type(saw) and len(said) == len(saw):
        for index, pair in enumerate(zip(said, saw, strict=True)):
            yield from parts((*key, str(index)), *pair)
    elif isinstance(said, dict) and isinstance(saw, dict) and list(said) == list(saw):
        for name in saw:
            yield from parts((*key, str(name)), said[name], saw[name])
    else:
        yield key, said, saw


def command(module: str, what: str, doc: str | None, programs: dict[str, Callable[[], Iterator[Program]]]) -> None:
    """The command line of a module with programs by name: print the table."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=doc)
    parser.add_argument("names", nargs="*", help=f"{what}; all unless told")
    parser.add_argument("--most", type=int, default=None, help="programs of each")
    parser.add_argument("--show", type=int, default=0, help="programs to print of each that does not agree")
    options = parser.parse_args()
    analyzer = Analyzer()
    chosen = {name: programs[name] for name in options.names or programs}
    scores = (score(name, itertools.islice(made(), options.most), analyzer) for name, made in chosen.items())
    for line in table(scores, options.show):
        print(line, flush=True)


def table(scores: Iterable[Score], show: int) -> Iterator[str]:
    """A line for each score, with the first differences where `show` asks for them; then the totals."""
    verdicts: Counter[str] = Counter()
    programs = agreeing = facts = known = 0
    began = time.monotonic()
    for item in scores:
        yield str(item)
        verdicts[item.verdict] += 1
        programs, agreeing = programs + item.programs, agreeing + item.agreeing
        facts, known = facts + item.facts, known + item.known
        if item.verdict != "agrees":
            yield "    " + ", ".join(f"{count} {kind}" for kind, count in item.kinds().most_common(8))
        for program, differences in sorted(item.differences, key=lambda d: -d[1][0].is_wrong)[:show]:
            yield "\n".join(["", program.name, program.text, *map(str, differences[:12])])
        for program, what in item.crashes[:show]:
            yield "\n".join(["", program.name, program.text, what])
    yield ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    yield f"{agreeing} of {programs} programs agree, {known} of {facts} facts known, {time.monotonic() - began:.0f} s"
