"""The labelled programs: part `a` is scripts on tensors, part `b` training scripts and small packages.

- `truth.json`: what torch did.
- `silent.json`: programs that run and still go wrong: the line, the effect, and other lines equally fair to report.
- `causes.json`: the lines that a person would edit.

`*_broken` has a `*_fixed` twin; `*_ok` is right although folklore doubts it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.oracle import Program
from tests.support.analyzer import Line, Sources

CORPUS = Path(__file__).parent
PARTS = ("a", "b")


@dataclass(frozen=True, slots=True)
class Silent:
    """Harm that torch does not report: any of `lines` is a fair place to report it."""

    effect: str
    lines: frozenset[Line]
    why: str


@dataclass(frozen=True, slots=True)
class Truth:
    """How the program ends; `at` and `message` are None where it ends well."""

    outcome: str
    message: str | None
    at: Line | None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One program of the corpus and all that is known of it."""

    part: str
    name: str
    path: Path
    truth: Truth
    silent: tuple[Silent, ...]
    causes: frozenset[Line]

    @property
    def program(self) -> Program:
        """What the oracle runs."""
        return Program.at(self.path)

    @property
    def sources(self) -> Sources:
        """What the analyzer reads."""
        return Sources.at(self.path)

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong with it, loudly or in silence."""
        return self.truth.outcome == "ok" and not self.silent and "_broken" not in self.name


def corpus(parts: tuple[str, ...] = PARTS, names: tuple[str, ...] = ()) -> Iterator[Labelled]:
    """The programs of `parts`, those whose name contains one of `names` if there are any."""
    for part in parts:
        truths, silents, causes = (_read(part, label) for label in ("truth", "silent", "causes"))
        for name, truth in truths.items():
            if not names or any(wanted in name for wanted in names):
                yield _labelled(part, name, truth, silents.get(name, []), causes.get(name, []))


def _labelled(part: str, name: str, truth: dict[str, Any], silent: list[Any], causes: list[Any]) -> Labelled:
    entry = Path(name).name
    folder = CORPUS / part / name
    at = None if truth["line"] is None else Line(truth.get("file") or entry, truth["line"])
    return Labelled(
        part=part,
        name=name,
        path=folder.parent if entry == "main.py" else folder,
        truth=Truth(truth["outcome"], truth["message"], at),
        silent=tuple(_silent(item, entry) for item in silent),
        causes=frozenset(Line(file, number) for file, numbers in causes for number in numbers),
    )


def _silent(item: dict[str, Any], entry: str) -> Silent:
    file = item.get("file") or entry
    lines = {Line(file, number) for number in [item["line"], *item.get("also", [])]}
    lines |= {Line(other.get("file") or file, other["line"]) for other in item.get("accept", [])}
    return Silent(item["effect"], frozenset(lines), item["why"])


def _read(part: str, label: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((CORPUS / part / f"{label}.json").read_text(encoding="utf-8"))
    return data
