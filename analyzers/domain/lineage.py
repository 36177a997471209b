"""Where a value came from: a trail of steps, each with the place in the program that took it.

A trail explains; it never decides. Two values that differ only in their lineage are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class Loc:
    """Bytes `start` to `end` of the chunk `chunk` of the module `module` (a path)."""

    module: str
    chunk: str
    start: int
    end: int


Round: TypeAlias = tuple[Loc, int]
"""An iteration of the loop at a place, counted from zero."""

BLURRED = 1_000_000
"""The iteration that stands for all later ones has this number and, added to it, how many were run before."""


def is_blurred(index: int) -> bool:
    return index >= BLURRED


def number_of(index: int) -> int:
    """The number of an iteration, from one; of those that stand for all later ones that of the first."""
    return 1 + index % BLURRED


Cut: TypeAlias = Literal[
    "detach",
    "data",
    "no-grad",
    "inference",
    "left-torch",
    "no-derivative",
    "integer",
    "frozen",
    "rewrapped",
    "leaf-copy",
]


@dataclass(slots=True, eq=False)
class Lineage:
    """One step: `what` names the operation, `parents` are the trails of what it was made from.

    `cut` says that a value with a graph went in and one without came out, and how. `attached`: what came out surely
    requires grad; `doubted`: nobody knows whether it does; `perhaps_cut`: how a graph ended there, if one went in, as
    nobody knows.
    """

    what: str
    loc: Loc | None
    parents: tuple[Lineage, ...] = ()
    cut: Cut | None = None
    via: tuple[Loc, ...] = ()
    attached: bool = False
    doubted: bool = False
    perhaps_cut: Cut | None = None

    def walk(self, limit: int = 4000) -> Iterator[Lineage]:
        """The trail, nearest steps first, each once."""
        seen: set[int] = set()
        queue: list[Lineage] = [self]
        for step in queue:
            if id(step) in seen:
                continue
            seen.add(id(step))
            yield step
            if len(seen) > limit:
                return
            queue.extend(step.parents)


NEAREST = 60
"""Steps of a trail that are looked at for a graph."""


PART = "part"
"""The step that takes an attribute, or what has a name as its key, of a presumed model's result."""

FIRST, BESIDE = "first part", "later part"
"""The steps that unpack a presumed model's result: any item may be without a graph, as the loss may be another."""


def graph_trail(lineage: Lineage) -> list[Lineage]:
    """The nearest steps of a trail along which a graph goes on."""
    seen: dict[Lineage, None] = {}
    queue = [lineage]
    for step in queue:
        if step in seen or step.cut or step.perhaps_cut or _leaves_graph(step.what):
            continue
        seen[step] = None
        if len(seen) >= NEAREST:
            break
        if step.what != "?":
            # What an unknown function makes of its arguments need not hold their graph.
            queue.extend(step.parents)
    return list(seen)


def _leaves_graph(what: str) -> bool:
    """Whether an operation gives nothing with a graph, whatever it is given: some are given no more than sizes."""
    return what in {"data", "detach", "item", "tolist", "numpy"} or what.endswith("_like") or what.startswith("new_")


def lost_at(lineage: Lineage | None) -> Loc | None:
    """Where a call that nobody knows comes into a trail: the farthest one."""
    steps = [] if lineage is None else [step.loc for step in lineage.walk() if step.what == "?"]
    return next((loc for loc in reversed(steps) if loc is not None and not loc.module.startswith("<")), None)
