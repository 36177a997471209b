"""`python -m tests.mutants [options] FOLDER|FILE...`: how much of what breaks in public training scripts is foretold.

Each script is run as it is, and so is each of its mutants; the analyzer sees the texts only. Counted is:

    raises    by an error or a warning on the line where torch raises: the innermost of the script's own, or any of them
    loses     by a finding that the original has not
    alters    the same, where the operator puts the training step out of order
    grows     the same
    nothing   false is each finding above a hint that the original has not
    errors    false is each error on a line that ran, in an original or a mutant, that torch does not bear out
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.mutants.label import Label, label
from tests.mutants.mutate import Mutant, mutants
from tests.mutants.record import Frame, Job, Run
from tests.support.analyzer import Finding, findings

ORDER = "drop_zero_grad drop_all_zero_grad step_before_backward stepped_before_backward drop_step written_data"
"""Operators whose mutants train wrongly where their gradients have other sizes; others compute something else."""


class Torch:
    """The process that runs scripts: one job at a time, while the analyzer is at work here."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.mutants.worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, job: Job) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(asdict(job)) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Run:
        assert self.process.stdout
        return Run.from_json(json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


@dataclass(slots=True)
class Verdict:
    """One mutant, or an original (whose operator is empty)."""

    script: str
    operator: str
    line: int
    label: Label
    what: str
    found: bool
    found_anywhere: bool
    new: list[str] = field(default_factory=list)
    """Findings above a hint that the original has not."""
    hints: list[str] = field(default_factory=list)
    false_errors: list[str] = field(default_factory=list)
    failed: str = ""
    """The analyzer's own failure."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script and how it is called."""

    path: Path
    arguments: tuple[str, ...]


def judge_script(torch: Torch, script: Script, sample: int, steps: int, seconds: int) -> Iterator[Verdict]:
    """The original's verdict, then those of its mutants; none where the script does not train here."""
    text = script.path.read_text(encoding="utf-8")
    path = str(script.path)
    original = _run(torch, Job(path, text, script.arguments, seconds, steps))
    if original.outcome not in {"ended", "stopped"} or not original.backwards:
        return
    torch.start(Job(path, text, script.arguments, seconds, steps * 8, lines=True))
    known = _analyzed(script.path, text)
    whole = torch.answer()
    first = Verdict(path, "", 0, "nothing", whole.outcome, True, True)
    if isinstance(known, str):
        first.failed = known
        known = []
    first.new = [str(_shown(finding)) for finding in known if finding.severity != "info"]
    first.false_errors = _false_errors(known, whole, path)
    yield first
    chosen = mutants(text)
    random.Random(path).shuffle(chosen)
    for mutant in chosen[:sample]:
        job = Job(path, mutant.text, script.arguments, seconds, steps)
        torch.start(job)
        said = _analyzed(script.path, mutant.text)
        run = torch.answer()
        if not isinstance(said, str) and _unforetold(said, run, path):
            run.lines = _run(torch, replace(job, lines=True)).lines
        verdict = _verdict(path, mutant, original, run, known, said)
        if verdict.label == "nothing" and verdict.new:
            # Some harm shows late: both run on.
            longer = _run(torch, replace(job, text=text, steps=steps * 8)), _run(torch, replace(job, steps=steps * 8))
            verdict.label = label(*longer)
        yield verdict


def _run(torch: Torch, job: Job) -> Run:
    torch.start(job)
    return torch.answer()


def _analyzed(path: Path, text: str, seconds: int = 60) -> list[Finding] | str:
    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return list(findings(path, text))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _verdict(
    path: str, mutant: Mutant, original: Run, run: Run, known: list[Finding], said: list[Finding] | str
) -> Verdict:
    outcome = label(original, run)
    last = run.frames[-1] if run.frames else Frame("", 0)
    what = f"{run.exception}: {run.message[:70]} at {Path(last.path).name}:{last.line}" if outcome == "raises" else ""
    verdict = Verdict(path, mutant.operator, mutant.line, outcome, what, False, False)
    if isinstance(said, str):
        verdict.failed = said
        return verdict
    new = _new(known, said)
    verdict.new = [_shown(finding) for finding in new if finding.severity != "info"]
    verdict.hints = [_shown(finding) for finding in new if finding.severity == "info"]
    if outcome == "raises":
        lines = {(frame.path, frame.line) for frame in run.frames}
        places = {_place(path, finding) for finding in new}
        verdict.found = (last.path, last.line) in places
        verdict.found_anywhere = bool(lines & places)
    else:
        verdict.found = verdict.found_anywhere = bool(new)
    verdict.false_errors = _false_errors(said, run, path)
    return verdict


def _new(known: Iterable[Finding], said: Iterable[Finding]) -> list[Finding]:
    """What is said of the mutant and not of the original, wherever its lines are now."""
    before = Counter((finding.code, finding.message) for finding in known)
    new: list[Finding] = []
    for finding in said:
        if before[finding.code, finding.message]:
            before[finding.code, finding.message] -= 1
        else:
            new.append(finding)
    return new


def _false_errors(said: Iterable[Finding], run: Run, path: str) -> list[str]:
    """Errors on lines that ran to their end. The line where a run stopped is nobody's fault."""
    ran = {(frame.path, frame.line) for frame in run.lines}
    ends = {(frame.path, frame.line) for frame in run.frames}
    if run.outcome != "raised":
        ends = {(run.lines[-1].path, run.lines[-1].line)} if run.lines and run.outcome != "ended" else set()
    errors = [finding for finding in said if finding.severity == "error" and finding.raises]
    certain = [finding for finding in errors if not (finding.raises and finding.raises.caught)]
    return [_shown(finding) for finding in certain if _place(path, finding) in ran - ends]


def _unforetold(said: Iterable[Finding], run: Run, path: str) -> bool:
    """Whether there is an error on a line where the run did not stop: then it matters which lines ran."""
    ends = {(frame.path, frame.line) for frame in run.frames}
    return any(finding.severity == "error" and _place(path, finding) not in ends for finding in said)


def _place(path: str, finding: Finding) -> tuple[str, int] | None:
    """The file and the line where a finding says that torch raises."""
    at = finding.raises.at if finding.raises else None
    return None if at is None else (str(Path(path).parent / at.file), at.number)


def _shown(finding: Finding) -> str:
    raises = f", raises {finding.raises.at.number}" if finding.raises else ""
    return f"{finding.code} {finding.severity} {finding.at.number}{raises}: {finding.message}"


def scripts_in(places: list[Path], arguments: dict[str, list[str]]) -> Iterator[Script]:
    """Files that call `backward`, with the arguments whose key ends their path."""
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            if ".backward(" in path.read_text(encoding="utf-8", errors="replace"):
                given = next((words for end, words in arguments.items() if str(path).endswith(end)), [])
                yield Script(path.resolve(), tuple(given))


def table(verdicts: list[Verdict]) -> str:
    """The figures, in all and by operator."""
    originals = [verdict for verdict in verdicts if not verdict.operator]
    broken = [verdict for verdict in verdicts if verdict.operator and verdict.label != "unclear"]
    lines = [f"scripts {len(originals)}, mutants {len(broken)}"]
    groups = {
        name: [v for v in broken if v.label == name] for name in ("raises", "loses", "alters", "grows", "nothing")
    }
    groups["alters"] = [verdict for verdict in groups["alters"] if verdict.operator in ORDER.split()]
    for name, group in groups.items():
        if name == "nothing":
            lines.append(f"nothing    {len(group)}, with new findings {sum(bool(v.new) for v in group)}")
        else:
            found, anywhere = sum(v.found for v in group), sum(v.found_anywhere for v in group)
            lines.append(f"{name:10} {found}/{len(group)} found, on any line {anywhere}")
    lines.append(
        f"false errors: originals {sum(bool(v.false_errors) for v in originals)}, "
        f"mutants {sum(bool(v.false_errors) for v in verdicts if v.operator)}"
    )
    lines.append(f"failures of the analyzer: {sum(bool(v.failed) for v in verdicts)}")
    for operator in sorted({verdict.operator for verdict in broken}):
        row = [f"  {operator:26}"]
        for name, group in groups.items():
            mine = [verdict for verdict in group if verdict.operator == operator]
            if mine:
                count = sum(bool(v.new) for v in mine) if name == "nothing" else sum(v.found for v in mine)
                row.append(f"{name} {count}/{len(mine)}")
        lines.append("  ".join(row))
    return "\n".join(lines)


def main() -> None:
    """Print the table; `--out` keeps the verdicts, one line of JSON each."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("places", nargs="+", type=Path, metavar="FOLDER|FILE")
    parser.add_argument("--arguments", type=Path, help="JSON: the end of a script's path, and its arguments")
    parser.add_argument("--sample", type=int, default=1000, help="mutants of each script")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20, help="CPU time of each run")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    given: dict[str, Any] = json.loads(options.arguments.read_text()) if options.arguments else {}
    torch = Torch()
    verdicts: list[Verdict] = []
    for script in scripts_in(options.places, given):
        for verdict in judge_script(torch, script, options.sample, options.steps, options.seconds):
            verdicts.append(verdict)
            if options.out:
                with options.out.open("a") as out:
                    out.write(json.dumps(asdict(verdict)) + "\n")
    torch.close()
    print(table(verdicts))
