"""The analyzer beside torch, operator by operator: `python -m tests.ops.coverage [NAME ...] [--rest] [--table]`.

Each of torch's sample inputs is called as a function, a method, in place, as an operator and with `out=`, with several
choices of what requires grad, with grad mode on and off; and everything that the call left behind is compared
(`tests.ops.seen`). An operator *agrees* if all its samples do; it is *wrong* where a claim of ours is not what torch
did, and *unknown* where nothing worse than that is so.
"""

from __future__ import annotations

import argparse
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tests.ops.by_analyzer import Analyzer
from tests.ops.by_torch import has_free_shapes, observe
from tests.ops.cases import Case, Flags, Tally, cases, name_of, operators
from tests.ops.extras import BY_HAND
from tests.ops.seen import Difference, compare

VERDICTS = ("crash", "wrong", "missed", "unknown", "agrees", "no sample")


@dataclass(slots=True)
class Operator:
    """What was found about one entry of `op_db`."""

    name: str
    programs: int = 0
    agreeing: int = 0
    found: list[tuple[Difference, str]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def verdict(self) -> str:
        kinds = {difference.kind for difference, _ in self.found}
        if not self.programs:
            return "no sample"
        return next((verdict for verdict in VERDICTS if verdict in kinds), "agrees")


def judge(info: Any, analyzer: Analyzer, most: int, *, quick: bool = False, rest: bool = False) -> Operator:
    """Every case of one operator, under all its flags; `quick`: of one dtype, where all that can requires grad."""
    operator = Operator(name_of(info))
    for case in cases(info, most, 1) if quick else cases(info, most, tally=operator.tally, rest=rest):
        code = compile(case.call, case.operator, "exec")
        free = has_free_shapes(case, code)
        for flags in list(case.flags())[:2][-1:] if quick else case.flags():
            differences = list(_differences(analyzer, case, flags, code, free))
            operator.programs += 1
            operator.agreeing += not differences
            operator.found += [(difference, case.program(flags)) for difference in differences]
    return operator


def _differences(analyzer: Analyzer, case: Case, flags: Flags, code: Any, free_shapes: bool) -> Iterator[Difference]:
    truth = observe(case, flags, code)
    truth.free_shapes = free_shapes
    try:
        said = analyzer.observe(case, flags)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
        yield Difference("crash", "crash", text)
        return
    yield from compare(said, truth)


def judge_all(
    names: Sequence[str] = (), most: int = 12, *, quick: bool = False, rest: bool = False
) -> Iterator[Operator]:
    """All operators, or those of these names."""
    torch.set_num_threads(1)
    analyzer = Analyzer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in operators():
            if not names or info.name in names or name_of(info) in names:
                yield judge(info, analyzer, most, quick=quick, rest=rest)


def report(found: Sequence[Operator], show: int) -> Iterator[str]:
    """The operators that do not agree, what is amiss with each, and the shares."""
    for verdict in VERDICTS[:-2]:
        for operator in found:
            if operator.verdict == verdict:
                yield f"{verdict:<8} {operator.name:<44} {operator.agreeing}/{operator.programs}"
                yield from _details(operator, show)
    ours = [operator for operator in found if operator.name.endswith(BY_HAND)]
    theirs = [operator for operator in found if operator not in ours]
    for whose, part in (("torch's", theirs), ("our own", ours)):
        if part:
            yield from _shares(part, whose)


def _shares(found: Sequence[Operator], whose: str) -> Iterator[str]:
    counts = Counter(operator.verdict for operator in found)
    judged = len(found) - counts["no sample"]
    programs, agreeing = sum(o.programs for o in found), sum(o.agreeing for o in found)
    yield f"{whose} samples: " + ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS)
    yield f"  {100 * counts['agrees'] / max(1, judged):.1f}% of {judged} operators agree on all samples"
    yield f"  {100 * agreeing / max(1, programs):.1f}% of {programs} programs agree"


def table(found: Sequence[Operator]) -> Iterator[str]:
    """Every operator by name: its verdict, its programs, the share of torch's samples that were run, and the forms."""
    for operator in sorted(found, key=lambda operator: operator.name):
        tally = operator.tally
        programs = f"{operator.agreeing}/{operator.programs} programs"
        samples = f"{tally.spelled}/{tally.given} samples"
        forms = ", ".join(f"{form} {count}" for form, count in tally.forms.items())
        yield f"{operator.name:<44} {operator.verdict:<9} {programs:<20} {samples:<18} {forms}"
    given, spelled = sum(o.tally.given for o in found), sum(o.tally.spelled for o in found)
    yield f"{100 * spelled / max(1, given):.1f}% of {given} samples were run"


def _details(operator: Operator, show: int) -> Iterator[str]:
    kinds = Counter((d.kind, d.field) for d, _ in operator.found)
    yield "         " + ", ".join(f"{kind} {field} {count}" for (kind, field), count in sorted(kinds.items()))
    order = sorted(operator.found, key=lambda item: (VERDICTS.index(item[0].kind), len(item[1])))
    shown: set[tuple[str, str]] = set()
    for difference, text in order:
        if len(shown) < show and (difference.kind, difference.field) not in shown:
            shown.add((difference.kind, difference.field))
            yield f"    {difference.kind} {difference.field}: {difference.detail[:600]}"
            yield "        " + text.removeprefix("import torch\n").rstrip().replace("\n", "\n        ")


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--missing", action="store_true", help="list the operators that do not agree, without programs")
    parser.add_argument("--samples", type=int, default=12, help="how many samples of each operator run in all forms")
    parser.add_argument("--rest", action="store_true", help="run all other samples too, each once")
    parser.add_argument("--show", type=int, default=2, help="how many programs to show for an operator")
    parser.add_argument("--table", action="store_true", help="list all operators by name, and what was run of each")
    options = parser.parse_args()
    start = time.monotonic()
    found = list(judge_all(options.names, options.samples, rest=options.rest))
    if options.table:
        print("\n".join(table(found)))
    print("\n".join(report(found, 0 if options.missing else options.show)))
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
