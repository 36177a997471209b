"""Operators on tensors of unknown shape and dtype: `python -m tests.ops.hidden [NAME ...]`.

What holds for all of torch's samples of an operator should hold for a tensor of which nothing else is known: whether
the result requires grad, which operands are saved, whether a second backward raises. One operand is hidden at a time.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from tests.ops.by_analyzer import Analyzer
from tests.ops.by_torch import observe
from tests.ops.cases import Case, Flags, cases, name_of, operators
from tests.ops.seen import UNKNOWN, Seen


@dataclass(frozen=True, slots=True)
class HiddenCase(Case):
    """A case in which one operand is a tensor of unknown shape and dtype."""

    hidden: int = -1

    def made(self, number: int) -> str:
        made = super(HiddenCase, self).made(number)
        return f"torch.as_tensor(hidden.same({made})).detach()" if number == self.hidden else made


@dataclass(slots=True)
class Law:
    """What torch shows of one operator over all samples, and what is said with operand `hidden` unknown."""

    name: str
    hidden: int
    shown: dict[str, list[Any]] = field(default_factory=dict)
    said: dict[str, list[Any]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def add(self, text: str, shown: Seen, said: Seen) -> None:
        self.texts.append(text)
        claimed = dict(_facts(said))
        for fact, value in _facts(shown):
            self.shown.setdefault(fact, []).append(value)
            self.said.setdefault(fact, []).append(claimed.get(fact, UNKNOWN))

    def wrong(self) -> Iterator[str]:
        """Claims that a sample contradicts."""
        for fact, values in self.shown.items():
            for claim, value, text in zip(self.said[fact], values, self.texts, strict=False):
                if UNKNOWN not in (claim, value) and claim != value:
                    yield f"{fact}: said {claim}, torch {value}\n{text}"

    def lost(self) -> Iterator[str]:
        """What all samples have, and nothing is said about. What none has is of less use."""
        for fact, values in self.shown.items():
            if fact != "contiguous" and set(values) == {True} and set(self.said[fact]) == {UNKNOWN}:
                yield fact


def _facts(seen: Seen) -> Iterator[tuple[str, Any]]:
    flags = {found.requires_grad for found in seen.results.values() if found is not None}
    yield "requires_grad", flags.pop() if len(flags) == 1 else UNKNOWN
    layouts = {found.contiguous for found in seen.results.values() if found is not None}
    yield "contiguous", layouts.pop() if len(layouts) == 1 else UNKNOWN
    for operand in seen.operands:
        yield f"{operand.name} saved", operand.saved
    yield "keeps", seen.keeps
    yield "refuses", seen.refuses


def laws(names: Sequence[str] = (), most: int = 6) -> Iterator[Law]:
    """Those of all operators, or of these names."""
    torch.set_num_threads(1)
    analyzer = Analyzer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in operators():
            if not names or name_of(info) in names:
                yield from _laws_of(info, analyzer, most)


def _laws_of(info: Any, analyzer: Analyzer, most: int) -> Iterator[Law]:
    found: dict[int, Law] = {}
    for case in cases(info, most, 1):
        if case.form != "function":
            continue
        code = compile(case.call, case.operator, "exec")
        flags = [flags for flags in case.flags() if flags.requires and flags.grad][:1] or [Flags()]
        shown = observe(case, flags[0], code)
        if shown.raised is not None:
            continue
        for number in range(len(case.operands)):
            one = HiddenCase(case.operator, case.form, case.call, case.operands, hidden=number)
            law = found.setdefault(number, Law(case.operator, number))
            law.add(one.program(flags[0]), shown, analyzer.observe(one, flags[0]))
    yield from found.values()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.ops.hidden", description=__doc__)
    parser.add_argument("names", nargs="*", help="of operators; all by default")
    parser.add_argument("--most", type=int, default=6, help="samples of each")
    parser.add_argument("--show", action="store_true", help="print a program for each operator with something lost")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for law in laws(options.names, options.most):
        wrong, lost = list(law.wrong()), list(law.lost())
        counts["operands"] += 1
        counts["with a wrong claim"] += bool(wrong)
        counts["with a fact lost"] += bool(lost)
        for line in wrong[:1]:
            print(f"wrong {law.name} t{law.hidden}: {line}")
        if lost:
            print(f"lost  {law.name} t{law.hidden}: {'; '.join(lost)}")
            if options.show:
                print(law.texts[0])
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
