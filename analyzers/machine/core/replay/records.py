"""What is kept of calls: recordings in progress, and summaries of those that are over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from analyzers.domain.lineage import Lineage, Loc, Round
from analyzers.domain.looking import Matcher, Renamer
from analyzers.domain.objects import HeapObject
from analyzers.domain.state import State
from analyzers.domain.values import Value

Effect: TypeAlias = tuple[Callable[[Any, Any], None], Any]
"""What is done again on a replay, with what, all ids in it renamed."""


Test: TypeAlias = tuple[Callable[[Any, Any], bool], Any]
"""A question about the record, and of what it is asked."""


Passed: TypeAlias = tuple[Loc, "int | None", object]
"""A statement that was passed, and on which visit; or, without one, a condition and the way that was taken there."""


Key: TypeAlias = tuple[object, ...]


@dataclass(slots=True)
class Recording:
    """A call in progress; `reads` are ids, and parts of objects as pairs of id and name, in the order in which they
    were first read."""

    start: State
    marks: tuple[object, ...]
    reads: dict[object, None] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    tests: dict[Test, bool] = field(default_factory=dict)
    """What was asked of the record, and the answers."""
    entered: list[tuple[int, object, int]] = field(default_factory=list)
    """The visits that began: in which other one, as what, and the number."""
    passed: list[Passed] = field(default_factory=list)
    assumed: dict[object, bool] = field(default_factory=dict)
    loops: bool = False
    """Whether a loop ran in it whose rounds hang on those of the loops around it."""
    opaque: bool = False

    def take(self, inner: Recording) -> None:
        """Add what a call told, or what else was recorded for itself, on the way of this one."""
        self.effects += inner.effects
        self.entered += inner.entered
        self.passed += inner.passed
        self.assumed |= inner.assumed
        for test, answer in inner.tests.items():
            self.tests.setdefault(test, answer)


@dataclass(slots=True)
class Summary:
    """What a call read and left. Ids from `first` to `last` are its own."""

    env: int
    block: int
    first: int
    last: int
    footprint: list[tuple[object, HeapObject | None]]
    start: State
    via: tuple[Loc, ...]
    rounds: tuple[Round, ...]
    loops: bool
    log: list[int]
    written: list[tuple[int, HeapObject]]
    value: Value
    effects: list[Effect]
    tests: dict[Test, bool]
    visit: int
    entered: list[tuple[int, object, int]]
    passed: list[Passed]
    assumed: dict[object, bool]
    steps: int
    after: int
    nodes: int
    imprecisions: int
    reading: list[Read] | None = None
    """The footprint, once somebody asks."""
    writing: Writing | None = None
    """What it left, once somebody wants it."""


@dataclass(slots=True)
class Read:
    """One object of a footprint, or a part of it, and how another is matched with it. `itself`: the ids and trails in
    it, and what it counts the writes of, which stand for themselves where it is there as it was."""

    ident: int
    part: str | None
    found: HeapObject | None
    matcher: Matcher | None
    of_gradient: Matcher | None
    """Of a tensor that the call writes: the whole of it is written, with its gradient."""
    writes: int
    itself: tuple[tuple[int, ...], tuple[Lineage, ...], tuple[int, ...]] | None = None


@dataclass(slots=True)
class Writing:
    """How what a call left is said of other objects; None where it stays as it is. Without what is gone."""

    objects: list[tuple[int, HeapObject, Renamer | None]]
    log: list[int]
    value: Renamer | None
    effects: list[tuple[Callable[[Any, Any], None], Any, Renamer | None]]
    tests: list[tuple[Callable[[Any, Any], bool], Any, Renamer | None, bool]]
    entered: list[tuple[int, object, Renamer | None, int]]
    assumed: list[tuple[object, Renamer | None, bool]]


FEW_STEPS = 4
"""A call of fewer statements is not worth a replay."""

PATIENCE = 400
"""How many calls of a function are recorded in vain before its calls are run as they come: more than there are of a
layer in one round of training, as those of the next may be like them."""


@dataclass(slots=True)
class Shelf:
    """The summaries of one function."""

    by_key: dict[Key, list[Summary]] = field(default_factory=dict)
    at_hit: int = 0
    """How many had been recorded when one was replayed for the last time."""
    tries: int = 0
    """Calls that were recorded."""
    small: int = 0
    """Those that took few steps."""

    def is_idle(self) -> bool:
        """Whether there is nothing to gain: its calls are small, or never alike."""
        return (self.tries >= 2 and self.small == self.tries) or self.tries - self.at_hit > PATIENCE

    def note(self, steps: int, made: bool) -> None:
        self.tries += 1
        self.small += made and steps < FEW_STEPS
