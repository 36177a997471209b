"""`python -m tests.corpus.score [--part a|b] [--facts] [-v] [NAME...]`: the analyzer's score on the corpus.

Raising programs count as found by an error on torch's line with torch's message; silent faults by a finding with the
effect on one of the lines fair to report. An error that torch does not bear out is false, and so is any warning on a
program with nothing wrong. A cause is named when a finding that counts, or its trace, touches a line to edit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat

from tests.corpus.labels import PARTS, Labelled, Silent, corpus
from tests.oracle import Raised, Run, run_batch
from tests.support.analyzer import WAYS, Analysis, Finding, Way, analyze_or_tell
from tests.support.judge import FactScore, false_errors, foretold, judge_facts


@dataclass(slots=True)
class Score:
    """Counts, and by whom they were missed."""

    raising: int = 0
    missed: list[str] = field(default_factory=list)
    silent: int = 0
    silent_missed: list[str] = field(default_factory=list)
    right: int = 0
    false_errors: list[str] = field(default_factory=list)
    false_warnings: list[str] = field(default_factory=list)
    causes: int = 0
    causes_missed: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)

    @property
    def raising_found(self) -> int:
        """How many raising programs were foretold."""
        return self.raising - len(self.missed)

    @property
    def silent_found(self) -> int:
        """How many silent faults were found."""
        return self.silent - len(self.silent_missed)

    @property
    def causes_named(self) -> int:
        """How many broken programs have a finding that touches a line to edit."""
        return self.causes - len(self.causes_missed)

    def table(self) -> Iterator[str]:
        """The counts."""
        yield f"raising programs found   {self.raising_found:>4} of {self.raising}"
        yield f"silent faults found      {self.silent_found:>4} of {self.silent}"
        yield f"causes named             {self.causes_named:>4} of {self.causes}"
        yield f"false errors             {len(self.false_errors):>4}"
        yield f"warnings on right ones   {len(self.false_warnings):>4} in {self.right} programs"
        yield f"analyzer crashed on      {len(self.crashed):>4}"

    def lists(self) -> Iterator[str]:
        """What the counts are made of."""
        for title, items in (
            ("missed raises", self.missed),
            ("missed silent faults", self.silent_missed),
            ("causes not named", self.causes_missed),
            ("false errors", self.false_errors),
            ("warnings on right programs", self.false_warnings),
            ("analyzer crashed", self.crashed),
        ):
            if items:
                yield f"\n{title}:"
                yield from (f"  {item}" for item in items)


def analyses(programs: Sequence[Labelled], way: Way, jobs: int) -> list[Analysis | str]:
    """What the analyzer says of each; a text tells how it crashed."""
    if jobs == 1:
        return list(map(_analysis, programs, repeat(way)))
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(_analysis, programs, repeat(way), chunksize=4))


def score(programs: Iterable[Labelled], said: Iterable[Analysis | str], runs: Iterable[Run | None]) -> Score:
    """Findings against labels; a run, where there is one, says which exceptions the program itself catches."""
    result = Score()
    for program, analysis, run in zip(programs, said, runs, strict=True):
        if isinstance(analysis, str):
            result.crashed.append(f"{program.name}: {analysis}")
            analysis = Analysis()
        _count(result, program, analysis, run or _labelled_run(program))
    return result


def score_facts(said: Iterable[Analysis | str], runs: Iterable[Run]) -> FactScore:
    """Claims against what torch bound."""
    result = FactScore()
    for analysis, run in zip(said, runs, strict=True):
        result += judge_facts(() if isinstance(analysis, str) else analysis.claims, run.observations)
    return result


def main() -> None:
    """Print the table of each part."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.score", description=__doc__)
    parser.add_argument("name", nargs="*", help="only programs whose name contains one of these")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--facts", action="store_true", help="run real torch and judge the facts too")
    parser.add_argument("--analyzer", choices=WAYS, default="host")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="list what the counts are made of")
    options = parser.parse_args()
    for part in [options.part] if options.part else PARTS:
        programs = list(corpus((part,), tuple(options.name)))
        if not programs:
            continue
        said = analyses(programs, options.analyzer, options.jobs)
        runs = run_batch([item.program for item in programs], options.jobs) if options.facts else None
        result = score(programs, said, runs or [None] * len(programs))
        print(f"part {part}: {len(programs)} programs")
        print(*result.table(), sep="\n")
        if options.verbose:
            print(*result.lists(), sep="\n")
        if runs:
            _print_facts(score_facts(said, runs), options.verbose)
        print()


def _print_facts(facts: FactScore, verbose: bool) -> None:
    print(*facts.table(), sep="\n")
    for wrong in facts.wrong if verbose else facts.wrong[:20]:
        print(f"  {wrong}")


def _analysis(program: Labelled, way: Way) -> Analysis | str:
    return analyze_or_tell(program.sources, way)


def _labelled_run(program: Labelled) -> Run:
    truth = program.truth
    if truth.at is None:
        return Run(truth.outcome)
    return Run(truth.outcome, Raised("", truth.message or "", truth.at.file, truth.at.number, None))


def _count(result: Score, program: Labelled, analysis: Analysis, run: Run) -> None:
    counted: list[Finding] = []
    if program.truth.at is not None and run.raised is not None:
        result.raising += 1
        finding = foretold(analysis, run.raised)
        if finding is None:
            result.missed.append(f"{program.name}:{program.truth.at.number} {program.truth.message}"[:160])
        else:
            counted.append(finding)
    for silent in program.silent:
        result.silent += 1
        found = [item for item in analysis.findings if _reports(item, silent)]
        counted += found
        if not found:
            result.silent_missed.append(
                f"{program.name} {silent.effect} {sorted(line.number for line in silent.lines)}"
            )
    if program.causes:
        result.causes += 1
        if not any(line in program.causes for item in counted for line in (item.at, *item.related)):
            result.causes_missed.append(f"{program.name} {sorted(line.number for line in program.causes)}")
    result.false_errors += [_described(program, item) for item in false_errors(analysis, run)]
    if program.is_right:
        result.right += 1
        warnings = [item for item in analysis.findings if item.severity == "warning"]
        result.false_warnings += [_described(program, item) for item in warnings]


def _reports(finding: Finding, silent: Silent) -> bool:
    return finding.effect == silent.effect and finding.at in silent.lines


def _described(program: Labelled, finding: Finding) -> str:
    return f"{program.name}:{finding.at.number} [{finding.name}] {finding.message}"


if __name__ == "__main__":
    main()
