"""What the analyzer says of blinded programs, held against torch."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from tests.differential.compare import Disagreement, disagree, smallest
from tests.oracle import Pool, Program, Run
from tests.support.analyzer import Analysis, Sources, analyze_or_tell
from tests.support.judge import false_errors

FALSE = ("crash", "false error", "wrong fact")
SECONDS = 20


@dataclass(slots=True)
class Measured:
    """`quiet` counts the programs that run and of which nothing was said before they were blinded."""

    programs: int = 0
    raising: int = 0
    foretold: int = 0
    quiet: int = 0
    warned: list[tuple[str, str]] = field(default_factory=list)
    false: dict[str, list[tuple[str, Disagreement]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, text: str, before: Analysis | str, said: Analysis | str, run: Run) -> None:
        """One more program: `before` is what was said of it when nothing was hidden."""
        if run.outcome not in ("ok", "raises"):
            return
        self.programs += 1
        found = [item for item in disagree(said, run) if item.kind != "false error"]
        found += contradicted(text, said, run)
        missed = [item for item in found if item.kind == "missed raise"]
        raised = len(run.caught) + (run.raised is not None)
        self.raising += raised
        self.foretold += max(0, raised - len(missed))
        for item in found:
            if item.kind in FALSE:
                self.false[item.key].append((text, item))
        if run.outcome == "ok" and not isinstance(before, str) and not before.findings:
            self.quiet += 1
            if not isinstance(said, str):
                self.warned += [(text, f"{item.at.number}: {item.code} {item.message}") for item in said.findings][:1]

    def count(self, kind: str) -> int:
        """In how many programs there is something false of a kind."""
        return len({text for key, items in self.false.items() if key.startswith(f"{kind}:") for text, _ in items})

    def table(self) -> Iterator[str]:
        yield f"blinded programs      {self.programs:>6}"
        for kind in FALSE:
            yield f"with a {kind:<15}{self.count(kind):>6}  {self.count(kind) / max(1, self.programs):.4%}"
        share = len(self.warned) / max(1, self.quiet)
        yield f"quiet before          {self.quiet:>6}  now warned of: {len(self.warned)} ({share:.2%})"
        yield f"raises                {self.raising:>6}  still foretold as errors: {self.foretold}"
        yield ""
        for key, items in sorted(self.false.items(), key=lambda entry: -len(entry[1])):
            yield f"{len(items):>6}  {key}"


def contradicted(text: str, said: Analysis | str, run: Run) -> Iterator[Disagreement]:
    """Errors on lines that torch has reached: each says that whoever gets to its line, by the calls that it tells of,
    and as many iterations of the loops around it, sees it raise."""
    for finding in () if isinstance(said, str) else false_errors(said, run):
        at = finding.at if finding.raises is None else finding.raises.at
        iteration = 1 if finding.raises is None else finding.raises.iteration
        line = _begin(text, at.number)
        called = {_begin(text, call.number) for call in finding.calls}
        stacks = dict(run.stacks).get(line, ())
        if dict(run.times).get(line, 0) >= iteration and any(
            called <= {_begin(text, each) for each in stack} for stack in stacks
        ):
            yield Disagreement("false error", finding.name, f"line {finding.at.number}: {finding.message}")


def _begin(text: str, line: int) -> int:
    """The first line of the innermost statement that a line belongs to."""
    statements = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    return max(node.lineno for node in statements if node.lineno <= line <= (node.end_lineno or line))


def measure(pairs: Iterable[tuple[str, str]], jobs: int) -> Iterator[Measured]:
    """The measure of all so far, after each few hundred programs. `pairs` are texts and the same blinded."""
    measured = Measured()
    for batch in judged(pairs, jobs):
        for hidden, before, after, run in batch:
            measured.add(hidden, before, after, run)
        yield measured


Judged: TypeAlias = "tuple[str, Analysis | str, Analysis | str, Run]"


def judged(pairs: Iterable[tuple[str, str]], jobs: int) -> Iterator[list[Judged]]:
    """Programs with something hidden, what was said of them before and is now, and what torch does with them."""
    with Pool(jobs) as pool, ProcessPoolExecutor(jobs) as executor:
        rest = iter(pairs)
        while batch := list(islice(rest, 300)):
            said = executor.map(_analyses, batch, chunksize=8)
            runs = pool.run([Program.from_text(hidden) for _, hidden in batch], seconds=SECONDS)
            yield [
                (hidden, before, after, run)
                for (_, hidden), (before, after), run in zip(batch, said, runs, strict=True)
            ]


def _analyses(pair: tuple[str, str]) -> Sequence[Analysis | str]:
    return [analyze_or_tell(Sources.of_text(text), "host", SECONDS) for text in pair]


def worst(measured: Measured, most: int, each: int = 1) -> Iterator[tuple[str, Disagreement]]:
    """The `each` smallest programs with each of the `most` frequent false claims."""
    with Pool(1) as pool:
        for items in sorted(measured.false.values(), key=len, reverse=True)[:most]:
            for text, item in sorted(items, key=lambda pair: len(pair[0]))[:each]:
                yield smallest(text, item, pool, "host")
