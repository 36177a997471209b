"""Memoised queries over inputs, recomputed no more than an edit demands.

An *input* is a value set from outside; each change to one makes a new *revision*. A *query* is a pure function of the
database and a key; its *memo* holds the value, which inputs and queries it read, the revision in which it was last
known to hold (`verified_at`) and the one in which the value last changed (`changed_at`). A memo is reused while
nothing it read has changed since it was verified. A query that recomputes an equal value is *backdated*: it keeps its
old `changed_at`, so those who read it need not run again.

    text = Input[str, str]("text")

    @query
    def line_count(db: Database, path: str) -> int:
        return db.read(text, path).count("\\n")

    @query
    def is_long(db: Database, path: str) -> bool:
        return line_count(db, path) > 100

    db.set(text, "a.py", "x\\n")
    is_long(db, "a.py")             # runs both
    db.set(text, "a.py", "y\\n")
    is_long(db, "a.py")             # runs line_count, which is backdated; is_long does not run

Queries that need each other form a *cycle*: each of them has the value that its `on_cycle` gives, whichever was asked
first.

A *snapshot* holds one revision for the thread that opened it. One thread at a time has one; a writer makes the queries
in it raise `Cancelled`, waits for it to end, and then writes. A memo is stored only when its query has ended, so what
a cancelled run had finished is kept and nothing is half done.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")

LOG_LENGTH = 10_000


class Cancelled(Exception):  # noqa: N818  (a request, not a fault)
    """The work in progress is no longer wanted."""


class CancelToken:
    """Says, from any thread, that a piece of work is no longer wanted."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        if self._event.is_set():
            raise Cancelled


@dataclass(frozen=True, eq=False)
class Input(Generic[K, V]):
    """A family of inputs, one for each key."""

    name: str


@dataclass(frozen=True, eq=False)
class Query(Generic[P, V]):
    """A memoised function. `on_cycle` gives its value where it needs itself; `capacity` bounds the values kept."""

    name: str
    function: Callable[Concatenate[Database, P], V]
    on_cycle: Callable[P, V] | None
    capacity: int | None

    def __call__(self, db: Database, /, *args: P.args, **kwargs: P.kwargs) -> V:
        if kwargs:
            raise TypeError(f"{self.name} takes its key by position")
        return cast(V, db.fetch(cast("Query[..., object]", self), args))


class _Decorator(Protocol):
    def __call__(self, function: Callable[Concatenate[Database, P], V], /) -> Query[P, V]: ...


@overload
def query(function: Callable[Concatenate[Database, P], V], /) -> Query[P, V]: ...
@overload
def query(
    *, on_cycle: Callable[P, V], capacity: int | None = None
) -> Callable[[Callable[Concatenate[Database, P], V]], Query[P, V]]: ...
@overload
def query(*, capacity: int | None) -> _Decorator: ...
def query(
    function: Callable[Concatenate[Database, P], V] | None = None,
    /,
    *,
    on_cycle: Callable[P, V] | None = None,
    capacity: int | None = None,
) -> object:
    """Make a function of the database and a hashable key a query."""

    def make(body: Callable[Concatenate[Database, P], V]) -> Query[P, V]:
        return Query(body.__name__, body, on_cycle, capacity)

    return make if function is None else make(function)


class CycleError(Exception):
    """A query needs its own value, and nothing on the cycle says what to take for it."""


# An input or a query, with its key.
_Cell = tuple[object, tuple[object, ...]]


@dataclass(slots=True)
class _Slot:
    value: object
    changed_at: int


@dataclass(slots=True)
class _Memo:
    """`value` is `_MISSING` once evicted; what was read still tells whether it changed."""

    value: object
    reads: tuple[_Cell, ...]
    verified_at: int
    changed_at: int
    on_cycle: bool


@dataclass(slots=True)
class _Frame:
    """A query that runs or is being verified. `heads` are the queries below it on the stack that it leads back to;
    `members` are finished queries on a cycle through it, whose memos wait for it to end; `was_on_cycle` says, of a
    query that is being verified, that its memo is that of a cycle."""

    cell: _Cell
    reads: dict[_Cell, None] = field(default_factory=dict)
    heads: set[_Cell] = field(default_factory=set)
    members: dict[_Cell, tuple[object, tuple[_Cell, ...]]] = field(default_factory=dict)
    on_cycle: bool = False
    was_on_cycle: bool = False


_MISSING = object()


class Database:
    """The inputs, the memos, and a log of the queries that ran last."""

    def __init__(self) -> None:
        self.revision = 0
        self.log: deque[tuple[str, tuple[object, ...]]] = deque(maxlen=LOG_LENGTH)
        self._inputs: dict[_Cell, _Slot] = {}
        self._memos: dict[_Cell, _Memo] = {}
        self._recent: dict[object, OrderedDict[_Cell, None]] = {}
        self._stack: list[_Frame] = []
        self._lock = threading.RLock()
        self._tokens: list[CancelToken] = []
        self._reader: int | None = None
        self._waiting_writes = 0
        self._count_lock = threading.Lock()

    # --- writing ------------------------------------------------------------------------------------------------

    def set(self, family: Input[K, V], key: K, value: V) -> None:
        """Give an input a value; an equal value is no change."""
        self._write((family, (key,)), value)

    def remove(self, family: Input[K, V], key: K) -> None:
        """Take an input away: reading it raises KeyError until it is set again."""
        self._write((family, (key,)), _MISSING)

    def _write(self, cell: _Cell, value: object) -> None:
        if self._reader == threading.get_ident():
            raise RuntimeError("a snapshot holds its revision: write when it has ended")
        with self._count_lock:
            self._waiting_writes += 1
        try:
            with self._lock:
                if self._stack:
                    raise RuntimeError("a query may not write an input")
                slot = self._inputs.get(cell)
                old = _MISSING if slot is None else slot.value
                if old is value or (old is not _MISSING and value is not _MISSING and old == value):
                    return
                self.revision += 1
                self._inputs[cell] = _Slot(value, self.revision)
        finally:
            with self._count_lock:
                self._waiting_writes -= 1

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self, family: Input[K, V], key: K) -> V:
        """The value of an input, remembered as read by the query that runs; KeyError when it has none."""
        with self._lock:
            cell: _Cell = (family, (key,))
            self._record(cell)
            slot = self._inputs.get(cell)
            if slot is None or slot.value is _MISSING:
                raise KeyError(key)
            return cast(V, slot.value)

    def get(self, wanted: Query[P, V], /, *args: P.args, **kwargs: P.kwargs) -> V:
        return wanted(self, *args, **kwargs)

    @contextmanager
    def snapshot(self, token: CancelToken | None = None) -> Iterator[int]:
        """Hold one revision until the block ends. Queries in it raise Cancelled once `token` is cancelled or another
        thread waits to write."""
        with self._lock:
            outer, self._reader = self._reader, threading.get_ident()
            self._tokens.append(token or CancelToken())
            try:
                yield self.revision
            finally:
                self._tokens.pop()
                self._reader = outer

    def check_cancelled(self) -> None:
        """Raise Cancelled if the snapshot is no longer wanted; a long query calls this as it goes."""
        if self._tokens:
            if self._waiting_writes:
                raise Cancelled
            for token in self._tokens:
                token.check()

    def fetch(self, wanted: Query[..., object], key: tuple[object, ...]) -> object:
        """The value of a query; `Query.__call__` is the typed way here."""
        with self._lock:
            cell: _Cell = (wanted, key)
            self._record(cell)
            return self._value(wanted, cell)

    # --- the engine ---------------------------------------------------------------------------------------------

    def _record(self, cell: _Cell) -> None:
        if self._stack:
            self._stack[-1].reads[cell] = None

    def _value(self, wanted: Query[..., object], cell: _Cell) -> object:
        self.check_cancelled()
        for depth, frame in enumerate(self._stack):
            if frame.cell == cell:
                return self._close_cycle(cell, depth)
        memo = self._memos.get(cell)
        if memo is None or not self._holds(memo, cell):
            return self._run(wanted, cell)
        if memo.value is _MISSING:
            # Evicted, and nothing that it read has changed: it runs for its value, which is no news to its readers.
            memo.value = _fallback(cell) if memo.on_cycle else self._run(wanted, cell, known=memo.changed_at)
        self._touch(wanted, cell)
        return memo.value

    def _close_cycle(self, cell: _Cell, depth: int) -> object:
        """The query `cell` at `depth` of the stack leads back to itself: every query from there on is on the cycle."""
        for frame in self._stack[depth:]:
            if _query_of(frame.cell).on_cycle is None:
                names = [_query_of(one.cell).name for one in self._stack[depth:]]
                raise CycleError(" -> ".join([*names, names[0]]))
            frame.on_cycle = True
            frame.heads.add(cell)
        return _fallback(cell)

    def _holds(self, memo: _Memo, cell: _Cell) -> bool:
        """Whether nothing that the memo read has changed since it was verified.

        The reads are checked in order and up to the first that changed, so each is one that the query would make
        again. If one leads back to a query under way, there is a cycle: nothing has changed if all on it were on one
        before, as their values are fallbacks then as now, and else they run again to find it.
        """
        if memo.verified_at != self.revision:
            frame = _Frame(cell, was_on_cycle=memo.on_cycle)
            self._stack.append(frame)
            try:
                if any(self._changed_at(read) > memo.verified_at for read in memo.reads):
                    return False
            finally:
                self._stack.pop()
            # While its cycle is open below, it holds only if those below do.
            if not frame.heads - {cell}:
                memo.verified_at = self.revision
        return True

    def _changed_at(self, cell: _Cell) -> int:
        if isinstance(cell[0], Input):
            slot = self._inputs.get(cell)
            return 0 if slot is None else slot.changed_at
        for depth, frame in enumerate(self._stack):
            if frame.cell == cell:
                return self._cycle_changed_at(cell, depth)
        memo = self._memos.get(cell)
        if memo is not None and self._holds(memo, cell):
            return memo.changed_at
        self.check_cancelled()
        try:
            self._run(_query_of(cell), cell)
        except (Cancelled, RecursionError):
            raise
        except Exception:
            # Whoever reads it runs again and meets the exception there.
            return self.revision
        memo = self._memos.get(cell)
        return self.revision if memo is None or memo.verified_at != self.revision else memo.changed_at

    def _cycle_changed_at(self, cell: _Cell, depth: int) -> int:
        if not all(frame.was_on_cycle for frame in self._stack[depth:]):
            return self.revision
        for frame in self._stack[depth:]:
            frame.heads.add(cell)
        return 0

    def _run(self, wanted: Query[..., object], cell: _Cell, known: int | None = None) -> object:
        self.log.append((wanted.name, cell[1]))
        frame = _Frame(cell)
        self._stack.append(frame)
        try:
            value = wanted.function(self, *cell[1])
        finally:
            self._stack.pop()
        if frame.on_cycle:
            value = _fallback(cell)
        reads = tuple(frame.reads)
        if frame.heads - {cell}:
            # Its cycle is still open below: until that ends, another path into the cycle has to find it open too.
            below = self._stack[-1]
            below.members |= {**frame.members, cell: (value, reads)}
            return value
        for member, (member_value, member_reads) in frame.members.items():
            self._store(member, _Memo(member_value, member_reads, self.revision, self.revision, True))
        changed_at = self.revision if known is None else known
        self._store(cell, _Memo(value, reads, self.revision, changed_at, frame.on_cycle))
        return value

    def _store(self, cell: _Cell, memo: _Memo) -> None:
        """Keep a memo, backdated if its value is the old one. On a cycle it may be the same fallback for the sake of
        another cycle, which is news to those who were on the first."""
        old = self._memos.get(cell)
        if old is not None and not (old.on_cycle or memo.on_cycle or old.value is _MISSING) and old.value == memo.value:
            memo.changed_at = old.changed_at
        self._memos[cell] = memo
        self._touch(_query_of(cell), cell)

    def _touch(self, wanted: Query[..., object], cell: _Cell) -> None:
        if wanted.capacity is None:
            return
        recent = self._recent.setdefault(wanted, OrderedDict())
        recent[cell] = None
        recent.move_to_end(cell)
        if len(recent) > wanted.capacity:
            evicted, _ = recent.popitem(last=False)
            self._memos[evicted].value = _MISSING


def _query_of(cell: _Cell) -> Query[..., object]:
    return cast("Query[..., object]", cell[0])


def _fallback(cell: _Cell) -> object:
    on_cycle = _query_of(cell).on_cycle
    return None if on_cycle is None else on_cycle(*cell[1])
