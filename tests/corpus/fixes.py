"""`python -m tests.corpus.fixes [--part a|b] [-v] [NAME...]`: the analyzer's fixes, applied and run.

Of every finding on a broken program the first safe fix, else the first, is applied to a copy, which torch runs and the
analyzer reads again. The copy *runs* when it ends well, without an exception that the program did not have; where the
finding tells of silent harm that shows in gradients or parameters, something else must be learnt as well, unless all
that learns is out of sight in functions. It is *clean* when the finding is gone and no other has come. It is *as meant*
when it learns what the twin learns that a person set right: a fix may do well otherwise, so this is told and not asked
for. On a right program a fix must change nothing.
"""

from __future__ import annotations

import argparse
import ast
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.corpus.labels import PARTS, Labelled, corpus
from tests.oracle import Program, Run, run_batch
from tests.support.analyzer import Analysis, Edit, Finding, Sources, analyze_or_tell

LEARNT = frozenset(
    {
        "no-effect-assignment",
        "grad-none",
        "no-gradient-flows",
        "param-not-updated",
        "wrong-gradient",
        "grad-accumulates",
    }
)
"""The effects that show in a gradient or a parameter."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A finding, and the fix of it that is tried, if there is one."""

    program: Labelled
    finding: Finding
    before: Analysis
    edits: tuple[Edit, ...] | None
    safe: bool

    @property
    def fatal(self) -> bool:
        """Whether the finding is of an error."""
        return self.finding.severity == "error"

    @property
    def described(self) -> str:
        """The program, the line and the rule."""
        safe = "safe" if self.safe else "offered" if self.edits is not None else "no fix"
        return f"{self.program.name}:{self.finding.at.number} [{self.finding.code} {self.finding.name}] {safe}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a fix: a text says what is wrong, None that nothing is."""

    trial: Trial
    runs: str | None
    clean: str | None
    as_meant: bool


@dataclass(slots=True)
class Row:
    """Counts of one rule."""

    findings: int = 0
    offered: int = 0
    run: int = 0
    clean: int = 0
    as_meant: int = 0
    safe: int = 0
    safe_run: int = 0

    def add(self, trial: Trial, verdict: Verdict | None) -> None:
        """One more finding."""
        self.findings += 1
        if verdict is not None:
            self.offered += 1
            self.run += verdict.runs is None
            self.clean += verdict.clean is None
            self.as_meant += verdict.as_meant
            self.safe += trial.safe
            self.safe_run += trial.safe and verdict.runs is None

    def cells(self) -> str:
        """The counts, under the heading of the table."""
        of_safe = f"{self.safe_run} of {self.safe}"
        numbers = (self.findings, self.offered, self.run, self.clean, self.as_meant)
        return "".join(f"{number:>9}" for number in numbers) + f"{of_safe:>12}"


HEADING = f"{'rule':<42}{'findings':>9}{'offered':>9}{'run':>9}{'clean':>9}{'as meant':>9}{'safe run':>12}"


@dataclass(slots=True)
class Result:
    """The table and what it is made of."""

    rows: dict[str, Row] = field(default_factory=dict)
    errors: Row = field(default_factory=Row)
    everything: Row = field(default_factory=Row)
    without: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)
    harmed: list[str] = field(default_factory=list)

    def add(self, trial: Trial, verdict: Verdict | None) -> None:
        """One more finding on a broken program."""
        name = f"{trial.finding.code} {trial.finding.name}"
        for row in (self.rows.setdefault(name, Row()), self.everything, *([self.errors] if trial.fatal else [])):
            row.add(trial, verdict)
        if verdict is None:
            self.without.append(trial.described)
        elif verdict.runs is not None:
            self.wrong.append(f"{trial.described}: {verdict.runs}")
        elif verdict.clean is not None:
            self.unclean.append(f"{trial.described}: {verdict.clean}")

    def table(self) -> Iterator[str]:
        """The counts by rule."""
        yield HEADING
        for name, row in sorted(self.rows.items()):
            yield f"{name:<42}{row.cells()}"
        yield f"{'errors':<42}{self.errors.cells()}"
        yield f"{'all':<42}{self.everything.cells()}"

    def lists(self) -> Iterator[str]:
        """What falls short, by name."""
        for title, items in (
            ("no fix", self.without),
            ("fixed, and still wrong", self.wrong),
            ("fixed, and still reported or reported anew", self.unclean),
            ("right programs that a fix changes", self.harmed),
        ):
            if items:
                yield f"\n{title}:"
                yield from (f"  {item}" for item in items)


def trials(program: Labelled, analysis: Analysis) -> Iterator[Trial]:
    """What is tried of a program: one fix of each finding."""
    for finding in analysis.findings:
        chosen = next((index for index, safe in enumerate(finding.safe) if safe), 0)
        edits = finding.fixes[chosen] if finding.fixes else None
        yield Trial(program, finding, analysis, edits, bool(finding.safe) and finding.safe[chosen])


def measure(programs: Sequence[Labelled], jobs: int = 2) -> Result:
    """The fixes of all findings on `programs`, applied and judged."""
    with ProcessPoolExecutor(jobs) as pool:
        said = pool.map(_analysis, [program.sources for program in programs], chunksize=4)
        tried = [t for program, analysis in zip(programs, said, strict=True) for t in trials(program, analysis)]
        fixed = [t for t in tried if t.edits is not None]
        with tempfile.TemporaryDirectory() as folder:
            copies = [_copy(Path(folder, str(index)).resolve(), t) for index, t in enumerate(fixed)]
            again = list(pool.map(_analysis, copies, chunksize=4))
            after = run_batch([_program(t, copy) for t, copy in zip(fixed, copies, strict=True)], jobs)
    known = list({item.name: item for item in [*programs, *_twins(programs)]}.values())
    before = dict(zip((item.name for item in known), run_batch([i.program for i in known], jobs), strict=True))
    verdicts: dict[int, Verdict] = {}
    for t, reread, run in zip(fixed, again, after, strict=True):
        verdicts[id(t)] = _verdict(t, reread, before[t.program.name], run, before.get(_twin(t.program)))
    result = Result()
    for t in tried:
        if not t.program.is_right:
            result.add(t, verdicts.get(id(t)))
        elif (verdict := verdicts.get(id(t))) is not None and not verdict.as_meant:
            result.harmed.append(t.described)
    return result


def main() -> None:
    """Print the table of each part."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.fixes", description=__doc__)
    parser.add_argument("name", nargs="*", help="only programs whose name contains one of these")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="list what falls short")
    options = parser.parse_args()
    for part in [options.part] if options.part else PARTS:
        programs = list(corpus((part,), tuple(options.name)))
        if programs:
            result = measure(programs, options.jobs)
            print(f"part {part}: {len(programs)} programs", *result.table(), sep="\n")
            if options.verbose:
                print(*result.lists(), sep="\n")
            print()


def _analysis(sources: Sources) -> Analysis:
    said = analyze_or_tell(sources)
    return Analysis() if isinstance(said, str) else said


def _copy(folder: Path, trial: Trial) -> Sources:
    """The program with its fix, on the disk."""
    texts = trial.program.sources.edited(trial.edits or ())
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Sources(folder, texts)


def _program(trial: Trial, copy: Sources) -> Program:
    return Program(str(copy.root), trial.program.program.entry)


def _twin(program: Labelled) -> str:
    """The program as a person set it right; a right one is its own twin."""
    return program.name if program.is_right else program.name.replace("_broken", "_fixed")


def _twins(programs: Iterable[Labelled]) -> list[Labelled]:
    wanted = {_twin(program) for program in programs}
    return [item for item in corpus() if item.name in wanted]


def _verdict(trial: Trial, again: Analysis, before: Run, after: Run, twin: Run | None) -> Verdict:
    as_meant = twin is not None and (after.outcome, after.learnt) == (twin.outcome, twin.learnt)
    return Verdict(trial, _fault(trial, before, after), _unclean(trial, again), as_meant)


def _fault(trial: Trial, before: Run, after: Run) -> str | None:
    """What is wrong with the run of a fixed program."""
    for name, text in trial.program.sources.edited(trial.edits or ()).items():
        try:
            ast.parse(text)
        except SyntaxError as error:
            return f"{name} does not parse: {error}"
    if after.outcome != "ok":
        said = after.raised and f"{after.raised.exception}: {after.raised.message} ({after.raised.line})"
        return f"{after.outcome} {said or ''}"
    if Counter(item.message for item in after.caught) - Counter(item.message for item in before.caught):
        return "an exception is caught that was not there"
    if trial.finding.effect in LEARNT and before.outcome == "ok" and before.learnt and _shown(before) == _shown(after):
        return "nothing else is learnt"
    return None


def _shown(run: Run) -> tuple[object, ...]:
    """What shows harm: what is learnt, and which names hold tensors, as one that held a missing gradient does not."""
    return run.learnt, {(item.scope, item.name) for item in run.observations}


def _unclean(trial: Trial, again: Analysis) -> str | None:
    """What the analyzer still says, or says anew, of a fixed program."""
    left = Counter(item.code for item in trial.before.findings) - Counter([trial.finding.code])
    # What is no more than a remark may come up once a program gets further.
    more = Counter(item.code for item in again.findings if item.severity != "info") - left
    return f"reported: {', '.join(sorted(more))}" if more else None


if __name__ == "__main__":
    main()
