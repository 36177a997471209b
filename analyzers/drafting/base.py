"""Defines what a rule is and what it reads.

A rule reads the events that the machine recorded and writes findings; it never touches the machine. A *draft* is a
finding as the rule wrote it; `judge` turns the drafts of a run into judgements, and merges what several visits or
callers found at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.state import UNLIKELY, Taken
from analyzers.machine.core.causes import Plain, Raised
from analyzers.machine.core.events import Binding, CutShort, Event, Presumption
from analyzers.report import Effect, Place, Severity
from analyzers.syntax import nodes as n

E = TypeVar("E")


class Places(Protocol):
    """Where chunks lie, and what they say."""

    def place(self, loc: Loc) -> Place: ...

    def text(self, loc: Loc) -> str: ...

    def chunk(self, loc: Loc) -> n.Chunk: ...

    def imported_as(self, module: str, dotted: str) -> str | None:
        """The name under which a file imports a module, at its top."""

    def statements(self, module: str) -> Iterator[n.Chunk]:
        """The chunks of the statements of a file, in their order."""

    def source(self, module: str) -> bytes:
        """The text of a file; a query that reads it is rerun after every edit of that file."""


class Run(Protocol):
    """One run of the machine, as rules see it."""

    @property
    def events(self) -> tuple[Event, ...]: ...

    @property
    def bindings(self) -> tuple[Binding, ...]: ...

    @property
    def passed(self) -> Mapping[tuple[Loc, int], Taken]: ...

    @property
    def presumptions(self) -> tuple[Presumption, ...]: ...

    @property
    def out_of_fuel(self) -> bool:
        """Whether the run stopped before the program's end."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What the file has at a place, comments and all; further lines that begin with `was` begin with `now`.

    If it is replaced at its old place, its trailing comment goes with it.
    """

    loc: Loc
    was: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True)
class Indented:
    """The existing text, except that further lines that begin with `was` begin with `now`."""

    was: str
    now: str


Change: TypeAlias = tuple[Loc, str | Indented | tuple[Moved | str, ...]]
"""A place, and what replaces the text there."""


@dataclass(frozen=True, slots=True)
class FixDraft:
    title: str
    safe: bool
    edits: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding at `loc`. For what torch raises, `event` is the exception; severity follows from its certainty."""

    loc: Loc
    message: str
    event: Raised | None = None
    effect: Effect | None = None
    severity: Severity = "warning"
    related: tuple[tuple[Loc, str], ...] = ()
    fixes: tuple[FixDraft, ...] = ()
    advice: str = ""
    """What to do, where no edit is known."""


@dataclass(frozen=True, slots=True)
class RaisedAt:
    """What torch raises, and where."""

    loc: Loc
    exception: str
    message: str
    certain: bool
    caught: bool
    expected: bool
    iteration: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """A finding in the machine's own places."""

    code: str
    name: str
    severity: Severity
    message: str
    loc: Loc
    raises: RaisedAt | None
    effect: Effect | None
    related: tuple[tuple[Loc, str], ...]
    fixes: tuple[FixDraft, ...]
    assumes: tuple[tuple[Loc, str], ...] = ()
    advice: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What two judgements of one fault have in common."""
        return self.code, self.loc, self.raises and self.raises.loc


@dataclass(slots=True)
class Facts:
    """Everything one run left behind, by kind of event."""

    run: Run
    places: Places
    by_kind: dict[type, list[Event]] = field(default_factory=dict)
    messages: dict[tuple[Loc, int], set[str]] = field(default_factory=dict)
    """By statement and visit, what is raised there on one way or another."""

    def __post_init__(self) -> None:
        for event in self.run.events:
            self.by_kind.setdefault(type(event), []).append(event)
        for raised in self.of(Raised):
            self.messages.setdefault((raised.site.statement, raised.site.visit), set()).add(raised.message)

    def of(self, kind: type[E]) -> Sequence[E]:
        return self.by_kind.get(kind, [])  # type: ignore[return-value]

    def raised(self, cause: type[E]) -> Iterator[tuple[Raised, E]]:
        """The exceptions with a cause of one kind, with that cause."""
        for event in self.of(Raised):
            if isinstance(event.cause, cause):
                yield event, event.cause

    def saying(self, *starts: str) -> Iterator[tuple[Raised, Lineage | None]]:
        """The exceptions whose message starts with one of these, with the trail of the tensor at fault, if any."""
        for event in self.of(Raised):
            if event.message.startswith(starts):
                yield event, getattr(event.cause, "lineage", None)

    def is_certain(self, event: Raised) -> bool:
        """Whether, on the visit of `event`, every path through its statement ends in it, and in nothing else."""
        visit = event.site.statement, event.site.visit
        return event.sure and visit not in self.run.passed and len(self.messages[visit]) == 1

    def conditions_of(self, event: Raised) -> Iterator[tuple[Loc, bool]]:
        """How undecided conditions came out on the way to `event`, and not on all that pass its statement on its visit.

        What came out alike on the others, too, is granted by whoever reaches the statement."""
        others = self.run.passed.get((event.site.statement, event.site.visit))
        if others is not None:
            for loc, way in event.taken.items():
                if isinstance(way, bool) and others.get(loc) is not way:
                    yield loc, way

    def is_unlikely(self, event: Raised) -> bool:
        """Whether a condition came out as nobody means it to on the way to `event`; others pass its statement."""
        others = self.run.passed.get((event.site.statement, event.site.visit))
        return others is not None and any(
            way == UNLIKELY and others.get(loc) != UNLIKELY for loc, way in event.taken.items()
        )

    def may_be_kept_from(self, event: Raised) -> bool:
        """Whether an undecided condition of the same function may keep the calls that raise from this statement: it
        raises on one of its ways alone, and other calls of the function come through it."""
        return bool(self.ways_shared(event))

    def ways_shared(self, event: Raised) -> list[tuple[Loc, bool]]:
        """The ways of undecided conditions of the same function that all calls take which raise from this statement,
        where others come through it."""
        site = event.site
        visit = site.statement, site.visit
        if not any(place == site.statement and other != site.visit for place, other in self.run.passed):
            return []
        alike = [one.taken for one in self.of(Raised) if (one.site.statement, one.site.visit) == visit]
        return [
            (loc, way)
            for loc, way in event.taken.items()
            if isinstance(way, bool)
            and (loc.module, loc.chunk) == (site.loc.module, site.loc.chunk)
            and all(taken.get(loc) is way for taken in alike)
        ]

    @property
    def saw_the_end(self) -> bool:
        """Whether the run reached the program's end, so that what it did not see does not happen at all."""
        is_cut = self.run.out_of_fuel or self.of(CutShort)
        return not is_cut and not any(
            not event.caught and not self.is_only_possible(event) for event in self.of(Raised)
        )

    def is_only_possible(self, event: Raised) -> bool:
        """An exception from the library's own checks, on a path that may never be taken."""
        if not isinstance(event.cause, Plain) or event.cause.note != "library" or self.is_certain(event):
            return False
        return not (event.sure and self._is_made_under(event, event.cause.lineage))

    def _is_made_under(self, event: Raised, made: Lineage | None) -> bool:
        """Whether what is at fault was made in the body of the one `if` that all hangs on, and raises after it."""
        conditions = list(self.conditions_of(event))
        if made is None or made.loc is None or made.what == "?" or len(conditions) != 1:
            return False
        [(loc, holds)] = conditions
        if not holds or (loc.module, loc.chunk) != (made.loc.module, made.loc.chunk):
            return False
        nodes = [node for node in n.walk(self.places.chunk(loc).body) if isinstance(node, n.If | n.IfExp)]
        entered = [node.body for node in nodes if (node.test.start, node.test.end) == (loc.start, loc.end)]
        parts = [part for body in entered for part in ([body] if isinstance(body, n.Node) else body)]
        around = [part for part in parts if part.start <= made.loc.start < part.end]
        raised = (
            event.site.loc.start if (event.site.loc.module, event.site.loc.chunk) == (loc.module, loc.chunk) else -1
        )
        return bool(around) and not any(part.start <= raised < part.end for part in parts)

    def text(self, loc: Loc) -> str:
        return self.places.text(loc)


Check = Callable[[Facts], Iterator[Draft]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`doc` is the page: the module's docstring. `check` is None for a rule about comments, which no run shows.

    `settles`: the codes of rules whose findings follow from one of this rule, at its place or one that it tells of.
    """

    code: str
    name: str
    summary: str
    check: Check | None
    doc: str
    settles: tuple[str, ...] = ()
