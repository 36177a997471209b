"""Memoised queries over inputs, recomputed no more than an edit demands.

An *input* is a value set from outside; each change to one makes a new *revision*. A *query* is a pure function of the
database and a key; its *memo* holds the value, which inputs and queries it read, when it was last known to hold
(`verified_at`) and when the value last changed (`changed_at`), on a clock that each new value moves on. A change marks
the memos that read it, and those that read them, as *stale*; every other memo holds without a look. A stale one is
reused if nothing it read has changed since it was verified. A query that recomputes an equal value is *backdated*: it
keeps its old `changed_at`, so those who read it need not run again.

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

An *eager* query stops the marking: it runs before anything else does, and only if its value is another one are its
readers stale. What is cheap and seldom changes is best so. Eager queries have *levels*: one may need only those of
lower levels, which run first. If its value is a mapping, a query may read one *entry* of it (`Database.entry`), and is
stale when that entry is another one:

    @query(eager=1)
    def lines(db: Database, path: str) -> Mapping[int, str]:
        return dict(enumerate(db.read(text, path).splitlines()))

    @query
    def first_word(db: Database, path: str) -> str:
        return db.entry(lines, 0, path).split()[0]      # an edit of the second line is nothing to it

Queries that need each other form a *cycle*: each of them has the value that its `on_cycle` gives, whichever was asked
first.

A query that *remembers* keeps some of its former values with what they were made of. If all that is as it was, which
undoing an edit does, the value counts again and nothing runs (`analyzers/queries/former.py`).

What is stale for long, as nobody asks for it or nothing is called so any more, is dropped.

A *snapshot* holds one revision for the thread that opened it. One thread at a time has one; a writer makes the queries
in it raise `Cancelled`, waits for it to end, and then writes. A memo is stored only when its query has ended, so what
a cancelled run had finished is kept and nothing is half done.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Concatenate, Protocol, cast, overload

from analyzers.queries.cancellation import Busy, Cancelled, CancelToken
from analyzers.queries.cycles import Frame, Open, Stack
from analyzers.queries.families import ENTRY, Asked, Cell, Input, K, P, Query, V, fallback, query_of
from analyzers.queries.former import Former, Formers
from analyzers.queries.memos import ABSENT, MISSING, Memo, Memos, Slot

LOG_LENGTH = 10_000
STALE_FOR = 1_000
"""Revisions after which a memo is dropped that has been stale for all of them."""


class _Decorator(Protocol):
    def __call__(self, function: Callable[Concatenate[Database, P], V], /) -> Query[P, V]: ...


@overload
def query(function: Callable[Concatenate[Database, P], V], /) -> Query[P, V]: ...
@overload
def query(
    *, on_cycle: Callable[P, V], capacity: int | None = None, remembers: int = 0
) -> Callable[[Callable[Concatenate[Database, P], V]], Query[P, V]]: ...
@overload
def query(*, capacity: int | None = None, eager: int = 0, remembers: int = 0) -> _Decorator: ...
def query(
    function: Callable[Concatenate[Database, P], V] | None = None,
    /,
    *,
    on_cycle: Callable[P, V] | None = None,
    capacity: int | None = None,
    eager: int = 0,
    remembers: int = 0,
) -> object:
    """Make a function of the database and a hashable key a query."""

    def make(body: Callable[Concatenate[Database, P], V]) -> Query[P, V]:
        return Query(body.__name__, body, on_cycle, capacity, eager, remembers)

    return make if function is None else make(function)


class Database(Asked):
    """The inputs, the memos, and a log of the queries that ran last."""

    def __init__(self, stale_for: int = STALE_FOR) -> None:
        self._clock = 0
        self.log: deque[tuple[str, tuple[object, ...]]] = deque(maxlen=LOG_LENGTH)
        self._inputs: dict[Cell, Slot] = {}
        self._memos = Memos(stale_for)
        self._held = self._memos.held
        self._former: Formers[Cell] = Formers()
        self._stack = Stack()
        self._frames = self._stack.frames
        self._beneath: list[Stack] = []
        self._lock = threading.RLock()
        self._tokens: list[CancelToken] = []
        self._reader: int | None = None
        self._waiting_writes = 0
        self._count_lock = threading.Lock()

    @property
    def revision(self) -> int:
        """How often an input has had another value."""
        return self._memos.revision

    @property
    def links(self) -> int:
        """Counts the changes to which cells the queries read."""
        return self._memos.links

    # --- writing ------------------------------------------------------------------------------------------------

    def set(self, family: Input[K, V], key: K, value: V) -> None:
        """Give an input a value; an equal value is no change."""
        self._write((family, (key,)), value)

    def remove(self, family: Input[K, V], key: K) -> None:
        """Take an input away: reading it raises KeyError until it is set again."""
        self._write((family, (key,)), MISSING)

    def _write(self, cell: Cell, value: object) -> None:
        if self._reader == threading.get_ident():
            raise RuntimeError("a snapshot holds its revision: write when it has ended")
        with self._count_lock:
            self._waiting_writes += 1
        try:
            with self._lock:
                if self._frames:
                    raise RuntimeError("a query may not write an input")
                slot = self._inputs.get(cell)
                old = MISSING if slot is None else slot.value
                if old is value or (old is not MISSING and value is not MISSING and old == value):
                    return
                self._memos.revision += 1
                self._clock += 1
                self._inputs[cell] = Slot(value, self._clock)
                self._memos.mark_readers(cell)
                self._memos.drop_stale()
                self.written(cell, None if value is MISSING else value)
        finally:
            with self._count_lock:
                self._waiting_writes -= 1

    def written(self, cell: Cell, value: object) -> None:
        """An input has another value, and nobody has read it yet; None where it has none any more."""

    def inputs(self) -> list[tuple[Cell, object]]:
        """The values that are set."""
        with self._lock:
            return [(cell, slot.value) for cell, slot in self._inputs.items() if slot.value is not MISSING]

    def forget(self) -> None:
        """Drop every memo; the inputs stay."""
        with self._lock:
            if self._frames:
                raise RuntimeError("a query may not drop memos")
            self._memos.clear()
            self._former.clear()

    def drop_oldest(self) -> None:
        """Drop that half of the bounded values which was used longest ago; what is asked for again runs again."""
        with self._lock:
            if self._frames:
                raise RuntimeError("a query may not drop memos")
            self._memos.drop_oldest()
            self._former.clear()

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self, family: Input[K, V], key: K) -> V:
        """The value of an input, remembered as read by the query that runs; KeyError when it has none."""
        with self._lock:
            cell: Cell = (family, (key,))
            self._stack.record(cell)
            slot = self._inputs.get(cell)
            if slot is None or slot.value is MISSING:
                raise KeyError(key)
            return cast(V, slot.value)

    def peek(self, wanted: Query[P, V], /, *args: P.args, **kwargs: P.kwargs) -> V:
        """The value of a query, of which the query that runs uses no more than it has read in another way."""
        with self._lock:
            return cast(V, self._value(cast("Query[..., object]", wanted), (wanted, args)))

    def is_current(self, wanted: Query[P, V], /, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether a query has a value that holds without a look; asked outside of queries."""
        with self._lock:
            self._settle()
            memo = self._held.get((wanted, args))
            return memo is not None and not memo.stale and memo.value is not MISSING

    def get(self, wanted: Query[P, V], /, *args: P.args, **kwargs: P.kwargs) -> V:
        return wanted(self, *args, **kwargs)

    def reads_of(self, cell: Cell) -> tuple[Cell, ...]:
        """What the value of a query came of, at first hand; nothing for an input, KeyError where there is no value."""
        if isinstance(cell[0], Input):
            return ()
        return (cast(Cell, cell[1][0]),) if cell[0] is ENTRY else self._held[cell].reads

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

    def make_way(self) -> None:
        """In the middle of a query that takes long: let those who wait ask what does not need it."""
        self.check_cancelled()
        if self._tokens and not self._beneath and (make_way := self._tokens[-1].make_way) is not None:
            make_way()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Ask in the middle of a query what it has nothing to do with; `Busy` where it has."""
        self._beneath.append(self._stack)
        self._stack = Stack()
        self._frames = self._stack.frames
        try:
            yield
        finally:
            self._stack = self._beneath.pop()
            self._frames = self._stack.frames

    def fetch(self, wanted: Query[..., object], key: tuple[object, ...]) -> object:
        with self._lock:
            self._settle()
            cell: Cell = (wanted, key)
            self._stack.record(cell)
            self._stack.check_level(wanted)
            return self._value(wanted, cell)

    def entry(self, wanted: Query[P, Mapping[K, V]], entry: K, /, *args: P.args, **kwargs: P.kwargs) -> V:
        """One entry of an eager query's value, remembered as all that was read of it; KeyError where there is none."""
        if kwargs or not wanted.eager:
            raise TypeError(f"{wanted.name} is no eager query with a key by position")
        with self._lock:
            self._settle()
            table: Cell = (wanted, args)
            self._stack.record((ENTRY, (table, entry)))
            self._stack.check_level(wanted)
            value = self._entry(table, entry).value
            if value is MISSING:
                raise KeyError(entry)
            return cast(V, value)

    # --- the engine ---------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Run the eager queries that may have another value, so that all is stale that has to be."""
        if not self._frames:
            self._stack.open.clear()
        while self._memos.unsettled and not self._frames:
            level = min(self._memos.unsettled)
            cell = next(iter(self._memos.unsettled[level]))
            try:
                self._value(query_of(cell), cell)
            except Cancelled:
                raise
            except Exception:
                # Whoever reads it meets the exception.
                self._memos.mark_readers(cell)
                for key in self._memos.entries.pop(cell, ()):
                    self._memos.mark_readers((ENTRY, (cell, key)))
            del self._memos.unsettled[level][cell]
            if not self._memos.unsettled[level]:
                del self._memos.unsettled[level]

    def _entry(self, table: Cell, key: object) -> Slot:
        value = cast("Mapping[object, object]", self._value(query_of(table), table))
        slots = self._memos.entries.setdefault(table, {})
        if key not in slots:
            slots[key] = Slot(value.get(key, MISSING), self._held[table].changed_at)
        return slots[key]

    def _value(self, wanted: Query[..., object], cell: Cell) -> object:
        self.check_cancelled()
        memo = self._held.get(cell)
        if memo is not None and not memo.stale and memo.value is not MISSING:
            self._memos.touch(wanted, cell)
            return memo.value
        for depth, frame in enumerate(self._frames):
            if frame.cell == cell:
                return self._stack.close_cycle(cell, depth)
        self._check_is_free(cell)
        if self._stack.leads_back(cell):
            return fallback(cell)
        if memo is None or not self._holds(memo, cell):
            return self._run_unless_known(wanted, cell)
        if memo.value is MISSING:
            # Evicted, and nothing that it read has changed: it runs for its value, which is no news to its readers.
            memo.value = fallback(cell) if memo.on_cycle else self._run(wanted, cell, known=memo.changed_at)
        self._memos.touch(wanted, cell)
        return memo.value

    def _check_is_free(self, cell: Cell) -> None:
        if any(stack.is_under_way(cell) for stack in self._beneath):
            raise Busy

    def _holds(self, memo: Memo, cell: Cell) -> bool:
        """Whether nothing that the memo read has changed since it was verified.

        The reads are checked in order and up to the first that changed, so each is one that the query would make
        again. What is on a cycle, or comes to one here, runs again to find out.
        """
        if memo.stale:
            if memo.on_cycle:
                return False
            self._frames.append(Frame(cell))
            try:
                if any(self._changed_at(read) > memo.verified_at for read in memo.reads):
                    return False
            finally:
                self._frames.pop()
            memo.verified_at = self._clock
            memo.stale = False
        return True

    def _changed_at(self, cell: Cell) -> int:
        if isinstance(cell[0], Input):
            slot = self._inputs.get(cell)
            return 0 if slot is None else slot.changed_at
        if cell[0] is ENTRY:
            return self._entry_changed_at(*cell[1])
        memo = self._held.get(cell)
        if memo is not None and not memo.stale:
            return memo.changed_at
        if self._stack.is_under_way(cell):
            return self._clock + 1
        self._check_is_free(cell)
        if memo is not None and self._holds(memo, cell):
            return memo.changed_at
        self.check_cancelled()
        if self._stack.leads_back(cell):
            return self._clock + 1
        try:
            self._run_unless_known(query_of(cell), cell)
        except (Cancelled, RecursionError):
            raise
        except Exception:
            # Whoever reads it runs again and meets the exception there.
            return self._clock + 1
        memo = self._held.get(cell)
        return self._clock + 1 if memo is None or memo.stale else memo.changed_at

    def _entry_changed_at(self, table: object, key: object) -> int:
        try:
            return self._entry(cast(Cell, table), key).changed_at
        except (Cancelled, RecursionError):
            raise
        except Exception:
            return self._clock + 1

    def _run_unless_known(self, wanted: Query[..., object], cell: Cell) -> object:
        """The value of a query that has to run, unless it was the same from all the same."""
        if not wanted.remembers:
            return self._run(wanted, cell)
        for former in self._former.of(wanted, cell):
            if self._is_as_it_was(cell, former):
                now = self._clock = self._clock + 1
                self._memos.store([cell], [Memo(former.value, former.reads, now, now, former.made_at, on_cycle=False)])
                self._former.keep(wanted, former, self.revision, wanted.remembers)
                return former.value
        value = self._run(wanted, cell)
        memo = self._held.get(cell)
        if memo is not None and not (memo.on_cycle or memo.stale):
            present = tuple([self._present(read) for read in memo.reads])
            if all(one is not MISSING for one in present):
                former = Former(cell, memo.value, memo.made_at, memo.reads, present)
                self._former.keep(wanted, former, self.revision, wanted.remembers)
        return value

    def _is_as_it_was(self, cell: Cell, former: Former[Cell]) -> bool:
        """Whether all that a former value was made of is what it was; asked for in order, as by the query itself."""
        frame = Frame(cell)
        self._frames.append(frame)
        try:
            for read, was in zip(former.reads, former.read, strict=True):
                if isinstance(read[0], Query):
                    self._value(read[0], read)
                now = self._present(read)
                if now is MISSING or (now is not was and now != was):
                    return False
        except (Cancelled, RecursionError):
            raise
        except Exception:
            return False
        finally:
            self._frames.pop()
        return not frame.on_cycle

    def _present(self, cell: Cell) -> object:
        """The value that a cell has, and of a query that remembers, whose values are large, when it was made: `ABSENT`
        for an input or entry without a value, `MISSING` where it is not known."""
        if isinstance(cell[0], Input):
            slot = self._inputs.get(cell)
            return ABSENT if slot is None or slot.value is MISSING else slot.value
        if cell[0] is ENTRY:
            value = self._entry(cast(Cell, cell[1][0]), cell[1][1]).value
            return ABSENT if value is MISSING else value
        memo = self._held.get(cell)
        if memo is None or memo.stale:
            return MISSING
        return memo.made_at if query_of(cell).remembers else memo.value

    def _run(self, wanted: Query[..., object], cell: Cell, known: int | None = None) -> object:
        self.log.append((wanted.name, cell[1]))
        frame = Frame(cell)
        self._frames.append(frame)
        try:
            value = wanted.function(self, *cell[1])
        except Cancelled:
            raise
        except BaseException:
            # An older value is none to be compared with: somebody may have gone on with the failure.
            self._memos.drop(cell)
            self._memos.unlink(cell, frame.reads)
            raise
        finally:
            self._frames.pop()
        if frame.on_cycle:
            value = fallback(cell)
        reads = tuple(frame.reads)
        if heads := frame.heads - {cell}:
            # Its cycle is still open below: until that ends, another path into the cycle has to find it open too.
            below = self._frames[-1]
            frame.members[cell] = value, reads
            below.members |= frame.members
            self._stack.open[cell] = Open(heads, frame.members)
            return value
        for member in frame.members:
            self._stack.open.pop(member, None)
        now = self._clock = self._clock + 1
        stored = [Memo(mine, its, now, now, now, on_cycle=True) for mine, its in frame.members.values()]
        stored.append(Memo(value, reads, now, now if known is None else known, now, frame.on_cycle))
        self._memos.store([*frame.members, cell], stored)
        return value
