"""`python -m tests.blinding.understood --count 2000 --seed 7 --kind data`: what is told with all of a kind hidden.

Of programs that raise what is told when nothing is hidden, how much is told, and as what, of the same with all data
hidden (or models, or lengths). Of programs that run, how many get an error, or a warning. Left out, and counted, is
what nobody knows of what is hidden: what torch says of sizes and dtypes, and what it no longer says once the hidden
tensors have a graph, as they may be what a model returned.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.blinding.measure import contradicted, judged
from tests.blinding.parts import KINDS, without
from tests.blinding.programs import known
from tests.differential.generate import LEVELS, generate
from tests.oracle import Pool, Program, Raised, Run
from tests.support.analyzer import Analysis
from tests.support.judge import foretold, matches

OF_SIZES_AND_DTYPES = frozenset({
    "backward-on-non-scalar", "gradient-shape-mismatch", "overlapping-memory-written", "requires-grad-on-integer",
})  # fmt: skip


@dataclass(slots=True)
class Understood:
    """`told` counts the programs that raise, by what is said once something is hidden: `error`, `warning`, `other` (for
    another reason) or `nothing`; `left_out` those that raise for a size or a dtype, by rule, or `for want of a graph`;
    `effects` the silent faults by whether they are still told."""

    told: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    effects: Counter[bool] = field(default_factory=Counter)
    running: int = 0
    wrong: list[tuple[str, str]] = field(default_factory=list)
    warned: list[tuple[str, str]] = field(default_factory=list)
    missed: list[tuple[str, str]] = field(default_factory=list)
    lost: list[tuple[str, str]] = field(default_factory=list)

    def add(self, text: str, before: Analysis | str, after: Analysis | str, run: Run, learnt: Run) -> None:
        """One more program; `text` is what it is with something hidden, `run` what torch does with it, and `learnt`
        what it does where that has a graph."""
        if isinstance(before, str) or isinstance(after, str) or run.outcome not in ("ok", "raises"):
            return
        if run.outcome == "ok":
            self._add_running(text, before, after, run)
        elif run.raised is not None:
            known_as = foretold(before, run.raised)
            if known_as is not None and known_as.name in OF_SIZES_AND_DTYPES:
                self.left_out[known_as.name] += 1
            elif known_as is not None and not _raises_so(learnt, run.raised):
                self.left_out["for want of a graph"] += 1
            elif known_as is not None:
                self._add_raising(text, after, run.raised)

    def _add_raising(self, text: str, after: Analysis, raised: Raised) -> None:
        said = _said(after, raised)
        self.told[said] += 1
        if said in ("other", "nothing"):
            self.missed.append((text, f"{said}: {raised.message[:80]}"))

    def _add_running(self, text: str, before: Analysis, after: Analysis, run: Run) -> None:
        self.running += 1
        expected = {(finding.code, finding.at.number) for finding in before.findings}
        said = {(finding.code, finding.at.number) for finding in after.findings}
        for code, line in expected:
            self.effects[(code, line) in said] += 1
            if (code, line) not in said:
                self.lost.append((text, f"{line}: {code}"))
        self.wrong += [(text, item.detail) for item in contradicted(text, after, run)][:1]
        new = [f for f in after.findings if f.severity == "warning" and (f.code, f.at.number) not in expected]
        self.warned += [(text, f"{f.at.number}: {f.code} {f.message}") for f in new][:1]

    def table(self) -> Iterator[str]:
        raising, silent = sum(self.told.values()), sum(self.effects.values())
        counts = "  ".join(f"{kind} {self.told[kind]}" for kind in ("error", "warning", "other", "nothing"))
        told = self.told["error"] + self.told["warning"]
        yield f"raises   {raising:>5}  told {told / max(1, raising):.1%}  ({counts})"
        yield f"left out {self.left_out.total():>4}  " + "  ".join(f"{n} {c}" for n, c in self.left_out.most_common())
        yield f"silent   {silent:>5}  told {self.effects[True] / max(1, silent):.1%}"
        yield f"running  {self.running:>5}  with an error {len(self.wrong)}, with a warning {len(self.warned)}"


def _raises_so(run: Run, raised: Raised) -> bool:
    """Whether a run ends with the same exception, on the same line. Messages quote names of nodes and versions."""
    other = run.raised
    return other is not None and (other.exception, other.line) == (raised.exception, raised.line)


def _said(said: Analysis, raised: Raised) -> str:
    severities = {finding.severity for finding in said.findings if matches(finding, raised)}
    return "error" if "error" in severities else "warning" if severities else "other" if said.findings else "nothing"


def pairs(seed: int, count: int, kind: str) -> Iterator[tuple[str, str]]:
    """The project's own programs, and `count` random ones, as they are and with all of a kind hidden."""
    texts = [
        *known(),
        *(generate(number, random.Random(number).choice(LEVELS)) for number in range(seed, seed + count)),
    ]
    for text in texts:
        hidden = without(text, kind)
        if hidden is not None:
            yield text, hidden


def understand(programs: Iterable[tuple[str, str]], jobs: int) -> Understood:
    found = Understood()
    with Pool(jobs) as pool:
        for batch in judged(programs, jobs):
            texts = [hidden.replace("hidden.same(", "hidden.learnt(") for hidden, _, _, _ in batch]
            for one, learnt in zip(batch, pool.run([Program.from_text(text) for text in texts]), strict=True):
                found.add(*one, learnt)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.blinding.understood", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="of random programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, default="data")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=0, help="how many programs of each kind to print")
    options = parser.parse_args()
    found = understand(pairs(options.seed, options.count, options.kind), options.jobs)
    print(*found.table(), sep="\n")
    for title, programs in (
        ("wrong", found.wrong),
        ("missed", found.missed),
        ("lost", found.lost),
        ("new", found.warned),
    ):
        for text, detail in sorted(programs, key=lambda pair: len(pair[0]))[: options.show]:
            print(f"\n## {title}: {detail}\n\n{text}", end="")


if __name__ == "__main__":
    main()
