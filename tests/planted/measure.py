"""What is found of the faults planted in loops that are followed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from analyzers.host import Host
from tests.planted.plant import Planted, lines_of_backward, plants


@dataclass(frozen=True, slots=True)
class Outcome:
    """`codes` are those of the findings that the program has with the fault, and had not before."""

    path: Path
    line: int
    kind: str
    codes: tuple[str, ...]

    @property
    def found(self) -> bool:
        return bool(self.codes)


def measure(scripts: Iterable[Path], dice: random.Random) -> Iterator[Outcome]:
    """Plant a fault in each script that has a loop that is followed."""
    for path in scripts:
        outcome = plant_in(path, dice)
        if outcome is not None:
            yield outcome


def plant_in(path: Path, dice: random.Random) -> Outcome | None:
    """Plant one fault at a backward of a script; None if none of them is followed, or nothing can be planted."""
    try:
        text = path.read_text(encoding="utf-8")
        places = lines_of_backward(text)
    except (UnicodeDecodeError, SyntaxError, ValueError, OSError):
        return None
    if not places:
        return None
    followed = sorted(set(places) & _followed(path, text))
    if not followed:
        return None
    line = dice.choice(followed)
    planted: Planted = dice.choice(list(plants(text, line)))
    more = _told(path, planted.text) - _told(path, text)
    return Outcome(path, line, planted.kind, tuple(sorted(more)))


def _followed(path: Path, text: str) -> set[int]:
    """The lines of a file with a backward that is called followed."""
    host = Host()
    host.set_text(str(path), text)
    places = [told.place for told in host.snapshot().backwards(str(path)) if told.grasp == "followed"]
    data = text.encode()
    return {data[: place.start].count(b"\n") + 1 for place in places if place.path == str(path)}


def _told(path: Path, text: str) -> Counter[str]:
    """How often each rule tells an error or a warning."""
    host = Host()
    host.set_text(str(path), text)
    found = host.snapshot().findings(str(path))
    return Counter(finding.code for finding in found if finding.severity in {"error", "warning"})
