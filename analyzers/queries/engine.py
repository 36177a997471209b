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
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from analyzers.queries.former import Former, Formers

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")

LOG_LENGTH = 10_000
STALE_FOR = 1_000
"""Revisions after which a memo is dropped that has been stale for all of them."""


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


class Input(Generic[K, V]):
    """A family of inputs, one for each key."""

    def __init__(self, name: str) -> None:
        self.name = name


class Query(Generic[P, V]):
    """A memoised function. `on_cycle` gives its value where it needs itself; `capacity` bounds the values kept; `eager`
    is the level of an eager query, 0 of another; `remembers` bounds the former values kept, of all keys together."""

    def __init__(
        self,
        name: str,
        function: Callable[Concatenate[Database, P], V],
        on_cycle: Callable[P, V] | None,
        capacity: int | None,
        eager: int,
        remembers: int,
    ) -> None:
        self.name = name
        self.function = function
        self.on_cycle = on_cycle
        self.capacity = capacity
        self.eager = eager
        self.remembers = remembers

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


class CycleError(Exception):
    """A query needs its own value, and nothing on the cycle says what to take for it."""


# An input or a query, with its key; or an entry of a query's value: `_ENTRY`, the query's cell and the entry's key.
Cell = tuple[object, tuple[object, ...]]

_ENTRY = "entry"


@dataclass(slots=True)
class _Slot:
    value: object | None
    changed_at: int


@dataclass(slots=True)
class _Memo:
    """`value` is `_MISSING` once evicted; what was read still tells whether it changed. Unless `stale`, it holds.
    `made_at` is when the value was made, also of a former one that counts again since `changed_at`."""

    value: object | None
    reads: tuple[Cell, ...]
    verified_at: int
    changed_at: int
    made_at: int
    on_cycle: bool
    stale: bool = False


@dataclass(slots=True)
class _Frame:
    """A query that runs or is being verified. `heads` are the queries below it on the stack that it leads back to;
    `members` are finished queries on a cycle through it, whose memos wait for it to end."""

    cell: Cell
    reads: dict[Cell, None] = field(default_factory=dict)
    heads: set[Cell] = field(default_factory=set)
    members: dict[Cell, tuple[object, tuple[Cell, ...]]] = field(default_factory=dict)
    on_cycle: bool = False


@dataclass(slots=True)
class _Open:
    """A query that has ended on a cycle while that is open. As long as the `heads`, to which it leads back, are under
    way, to run it again would lead there again. `members` are what waits for them, the query among it."""

    heads: set[Cell]
    members: dict[Cell, tuple[object, tuple[Cell, ...]]]


_MISSING = object()
_ABSENT = object()


class Database:
    """The inputs, the memos, and a log of the queries that ran last."""

    def __init__(self, stale_for: int = STALE_FOR) -> None:
        self.revision = 0
        self._stale_for = stale_for
        self._clock = 0
        self.log: deque[tuple[str, tuple[object, ...]]] = deque(maxlen=LOG_LENGTH)
        self._inputs: dict[Cell, _Slot] = {}
        self._memos: dict[Cell, _Memo] = {}
        self._readers: dict[Cell, set[Cell]] = {}
        self._entries: dict[Cell, dict[object, _Slot]] = {}
        self._unsettled: dict[int, dict[Cell, None]] = {}
        self._stale: OrderedDict[Cell, int] = OrderedDict()
        """The revisions in which memos became stale, the latest at the end."""
        self._recent: dict[object, OrderedDict[Cell, None]] = {}
        self._former: Formers[Cell] = Formers()
        self._stack: list[_Frame] = []
        self._open: dict[Cell, _Open] = {}
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

    def _write(self, cell: Cell, value: object) -> None:
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
                self._clock += 1
                self._inputs[cell] = _Slot(value, self._clock)
                self._mark_readers(cell)
                self._drop_stale()
        finally:
            with self._count_lock:
                self._waiting_writes -= 1

    def forget(self) -> None:
        """Drop every memo; the inputs stay."""
        with self._lock:
            if self._stack:
                raise RuntimeError("a query may not drop memos")
            for kept in (self._memos, self._readers, self._entries, self._unsettled, self._recent, self._stale):
                kept.clear()
            self._former.clear()

    def drop_oldest(self) -> None:
        """Drop that half of the bounded values which was used longest ago; what is asked for again runs again."""
        with self._lock:
            if self._stack:
                raise RuntimeError("a query may not drop memos")
            for recent in self._recent.values():
                for _ in range(len(recent) // 2):
                    self._evict(recent)
            self._former.clear()

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self, family: Input[K, V], key: K) -> V:
        """The value of an input, remembered as read by the query that runs; KeyError when it has none."""
        with self._lock:
            cell: Cell = (family, (key,))
            self._record(cell)
            slot = self._inputs.get(cell)
            if slot is None or slot.value is _MISSING:
                raise KeyError(key)
            return cast(V, slot.value)

    def peek(self, wanted: Query[P, V], /, *args: P.args, **kwargs: P.kwargs) -> V:
        """The value of a query, of which the query that runs uses no more than it has read in another way."""
        with self._lock:
            return cast(V, self._value(cast("Query[..., object]", wanted), (wanted, args)))

    def get(self, wanted: Query[P, V], /, *args: P.args, **kwargs: P.kwargs) -> V:
        return wanted(self, *args, **kwargs)

    def reads_of(self, cell: Cell) -> tuple[Cell, ...]:
        """What the value of a query came of, at first hand; nothing for an input, KeyError where there is no value."""
        if isinstance(cell[0], Input):
            return ()
        return (cast(Cell, cell[1][0]),) if cell[0] is _ENTRY else self._memos[cell].reads

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
            self._settle()
            cell: Cell = (wanted, key)
            self._record(cell)
            self._check_level(wanted)
            return self._value(wanted, cell)

    def entry(self, wanted: Query[P, Mapping[K, V]], entry: K, /, *args: P.args, **kwargs: P.kwargs) -> V:
        """One entry of an eager query's value, remembered as all that was read of it; KeyError where there is none."""
        if kwargs or not wanted.eager:
            raise TypeError(f"{wanted.name} is no eager query with a key by position")
        with self._lock:
            self._settle()
            table: Cell = (wanted, args)
            self._record((_ENTRY, (table, entry)))
            self._check_level(wanted)
            value = self._entry(table, entry).value
            if value is _MISSING:
                raise KeyError(entry)
            return cast(V, value)

    # --- the engine ---------------------------------------------------------------------------------------------

    def _record(self, cell: Cell) -> None:
        if self._stack:
            self._stack[-1].reads[cell] = None

    def _check_level(self, wanted: Query[P, V]) -> None:
        """An eager query that read another of its level might read it before it has settled."""
        if wanted.eager:
            for frame in self._stack:
                above = _query_of(frame.cell)
                if 0 < above.eager <= wanted.eager:
                    raise TypeError(f"{above.name} is eager and reads {wanted.name}, which is not of a lower level")

    def _mark_readers(self, cell: Cell) -> None:
        """What read a cell is stale, and what read that, up to eager queries: these wait for `_settle`."""
        marking = [cell]
        while marking:
            for reader in self._readers.get(marking.pop(), ()):
                memo = self._memos.get(reader)
                if memo is not None and not memo.stale:
                    memo.stale = True
                    if level := _query_of(reader).eager:
                        self._unsettled.setdefault(level, {})[reader] = None
                    else:
                        self._note_stale(reader)
                        marking.append(reader)

    def _note_stale(self, cell: Cell) -> None:
        self._stale[cell] = self.revision
        self._stale.move_to_end(cell)

    def _drop_stale(self) -> None:
        """Drop what has been stale for long; whoever asks for it, or has read it, runs again."""
        while self._stale:
            cell, since = next(iter(self._stale.items()))
            if self.revision - since < self._stale_for:
                break
            del self._stale[cell]
            memo = self._memos.get(cell)
            if memo is not None and memo.stale and not self._is_relied_on(cell):
                self._drop(cell)

    def _is_relied_on(self, cell: Cell) -> bool:
        """Whether a memo that holds has read a cell: it would not be told of what that cell hears of."""
        readers = (self._memos.get(reader) for reader in self._readers.get(cell, ()))
        return any(memo is not None and not memo.stale for memo in readers)

    def _drop(self, cell: Cell) -> None:
        memo = self._memos.pop(cell, None)
        if memo is not None:
            self._unlink(cell, memo.reads)
            self._recent.get(cell[0], OrderedDict()).pop(cell, None)

    def _unlink(self, cell: Cell, reads: Iterable[Cell]) -> None:
        """Forget that a query has read cells, and the entries that nobody reads now."""
        for read in reads:
            readers = self._readers.get(read, set())
            readers.discard(cell)
            if not readers:
                self._readers.pop(read, None)
                if read[0] is _ENTRY:
                    table, entry = read[1]
                    self._entries.get(cast(Cell, table), {}).pop(entry, None)

    def _settle(self) -> None:
        """Run the eager queries that may have another value, so that all is stale that has to be."""
        if not self._stack:
            self._open.clear()
        while self._unsettled and not self._stack:
            level = min(self._unsettled)
            cell = next(iter(self._unsettled[level]))
            try:
                self._value(_query_of(cell), cell)
            except Cancelled:
                raise
            except Exception:
                # Whoever reads it meets the exception.
                self._mark_readers(cell)
                for key in self._entries.pop(cell, ()):
                    self._mark_readers((_ENTRY, (cell, key)))
            del self._unsettled[level][cell]
            if not self._unsettled[level]:
                del self._unsettled[level]

    def _entry(self, table: Cell, key: object) -> _Slot:
        value = cast("Mapping[object, object]", self._value(_query_of(table), table))
        slots = self._entries.setdefault(table, {})
        if key not in slots:
            slots[key] = _Slot(value.get(key, _MISSING), self._memos[table].changed_at)
        return slots[key]

    def _value(self, wanted: Query[..., object], cell: Cell) -> object:
        self.check_cancelled()
        memo = self._memos.get(cell)
        if memo is not None and not memo.stale and memo.value is not _MISSING:
            self._touch(wanted, cell)
            return memo.value
        for depth, frame in enumerate(self._stack):
            if frame.cell == cell:
                return self._close_cycle(cell, depth)
        if self._leads_back(cell):
            return _fallback(cell)
        if memo is None or not self._holds(memo, cell):
            return self._run_unless_known(wanted, cell)
        if memo.value is _MISSING:
            # Evicted, and nothing that it read has changed: it runs for its value, which is no news to its readers.
            memo.value = _fallback(cell) if memo.on_cycle else self._run(wanted, cell, known=memo.changed_at)
        self._touch(wanted, cell)
        return memo.value

    def _close_cycle(self, cell: Cell, depth: int) -> object:
        """The query `cell` at `depth` of the stack leads back to itself: every query from there on is on the cycle."""
        for frame in self._stack[depth:]:
            if _query_of(frame.cell).on_cycle is None:
                names = [_query_of(one.cell).name for one in self._stack[depth:]]
                raise CycleError(" -> ".join([*names, names[0]]))
            frame.on_cycle = True
            frame.heads.add(cell)
        return _fallback(cell)

    def _heads_of(self, cell: Cell) -> list[int]:
        """Where on the stack the heads of a query are that has ended on an open cycle; none of any other."""
        ended = self._open.get(cell)
        if ended is None:
            return []
        under_way = {frame.cell: depth for depth, frame in enumerate(self._stack)}
        # A head that has ended on a cycle itself leads on to its own heads.
        seen = {cell}
        while over := [head for head in ended.heads if head not in under_way]:
            for head in over:
                leading_on = self._open.get(head)
                if leading_on is None:
                    return []
                seen.add(head)
                ended.heads = (ended.heads | leading_on.heads) - seen
                ended.members |= leading_on.members
        return [under_way[head] for head in ended.heads]

    def _leads_back(self, cell: Cell) -> bool:
        """Whether a query has ended on an open cycle; then those who ask are on that cycle too."""
        depths = self._heads_of(cell)
        for depth in depths:
            self._close_cycle(self._stack[depth].cell, depth)
        if depths:
            self._stack[-1].members |= self._open[cell].members
        return bool(depths)

    def _holds(self, memo: _Memo, cell: Cell) -> bool:
        """Whether nothing that the memo read has changed since it was verified.

        The reads are checked in order and up to the first that changed, so each is one that the query would make
        again. What is on a cycle, or comes to one here, runs again to find out.
        """
        if memo.stale:
            if memo.on_cycle:
                return False
            self._stack.append(_Frame(cell))
            try:
                if any(self._changed_at(read) > memo.verified_at for read in memo.reads):
                    return False
            finally:
                self._stack.pop()
            memo.verified_at = self._clock
            memo.stale = False
        return True

    def _changed_at(self, cell: Cell) -> int:
        if isinstance(cell[0], Input):
            slot = self._inputs.get(cell)
            return 0 if slot is None else slot.changed_at
        if cell[0] is _ENTRY:
            return self._entry_changed_at(*cell[1])
        memo = self._memos.get(cell)
        if memo is not None and not memo.stale:
            return memo.changed_at
        if any(frame.cell == cell for frame in self._stack):
            return self._clock + 1
        if memo is not None and self._holds(memo, cell):
            return memo.changed_at
        self.check_cancelled()
        if self._leads_back(cell):
            return self._clock + 1
        try:
            self._run_unless_known(_query_of(cell), cell)
        except (Cancelled, RecursionError):
            raise
        except Exception:
            # Whoever reads it runs again and meets the exception there.
            return self._clock + 1
        memo = self._memos.get(cell)
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
                self._store([cell], [_Memo(former.value, former.reads, now, now, former.made_at, on_cycle=False)])
                self._former.keep(wanted, former, self.revision, wanted.remembers)
                return former.value
        value = self._run(wanted, cell)
        memo = self._memos.get(cell)
        if memo is not None and not (memo.on_cycle or memo.stale):
            present = tuple([self._present(read) for read in memo.reads])
            if all(one is not _MISSING for one in present):
                former = Former(cell, memo.value, memo.made_at, memo.reads, present)
                self._former.keep(wanted, former, self.revision, wanted.remembers)
        return value

    def _is_as_it_was(self, cell: Cell, former: Former[Cell]) -> bool:
        """Whether all that a former value was made of is what it was; asked for in order, as by the query itself."""
        frame = _Frame(cell)
        self._stack.append(frame)
        try:
            for read, was in zip(former.reads, former.read, strict=True):
                if isinstance(read[0], Query):
                    self._value(read[0], read)
                now = self._present(read)
                if now is _MISSING or (now is not was and now != was):
                    return False
        except (Cancelled, RecursionError):
            raise
        except Exception:
            return False
        finally:
            self._stack.pop()
        return not frame.on_cycle

    def _present(self, cell: Cell) -> object:
        """The value that a cell has, and of a query that remembers, whose values are large, when it was made: `_ABSENT`
        for an input or entry without a value, `_MISSING` where it is not known."""
        if isinstance(cell[0], Input):
            slot = self._inputs.get(cell)
            return _ABSENT if slot is None or slot.value is _MISSING else slot.value
        if cell[0] is _ENTRY:
            value = self._entry(cast(Cell, cell[1][0]), cell[1][1]).value
            return _ABSENT if value is _MISSING else value
        memo = self._memos.get(cell)
        if memo is None or memo.stale:
            return _MISSING
        return memo.made_at if _query_of(cell).remembers else memo.value

    def _run(self, wanted: Query[..., object], cell: Cell, known: int | None = None) -> object:
        self.log.append((wanted.name, cell[1]))
        frame = _Frame(cell)
        self._stack.append(frame)
        try:
            value = wanted.function(self, *cell[1])
        except Cancelled:
            raise
        except BaseException:
            # An older value is none to be compared with: somebody may have gone on with the failure.
            self._drop(cell)
            self._unlink(cell, frame.reads)
            raise
        finally:
            self._stack.pop()
        if frame.on_cycle:
            value = _fallback(cell)
        reads = tuple(frame.reads)
        if heads := frame.heads - {cell}:
            # Its cycle is still open below: until that ends, another path into the cycle has to find it open too.
            below = self._stack[-1]
            frame.members[cell] = value, reads
            below.members |= frame.members
            self._open[cell] = _Open(heads, frame.members)
            return value
        for member in frame.members:
            self._open.pop(member, None)
        now = self._clock = self._clock + 1
        stored = [_Memo(mine, its, now, now, now, on_cycle=True) for mine, its in frame.members.values()]
        stored.append(_Memo(value, reads, now, now if known is None else known, now, frame.on_cycle))
        self._store([*frame.members, cell], stored)
        return value

    def _store(self, cells: Sequence[Cell], memos: Sequence[_Memo]) -> None:
        """Keep memos: that of a query, or those of a cycle together."""
        olds = [self._memos.get(cell) for cell in cells]
        self._memos.update(zip(cells, memos, strict=True))
        for cell, memo, old in zip(cells, memos, olds, strict=True):
            self._link(cell, memo, old)
        # A memo that read what failed is stale from the start, and so are those on its cycle.
        if any(self._is_unsettled(read) for memo in memos for read in memo.reads):
            for cell, memo in zip(cells, memos, strict=True):
                memo.stale = True
                self._note_stale(cell)
        for cell, memo, old in zip(cells, memos, olds, strict=True):
            self._touch(_query_of(cell), cell)
            if old is not None and not self._backdate(memo, old) and _query_of(cell).eager:
                self._mark_readers(cell)
                self._compare_entries(cell, memo)

    def _link(self, cell: Cell, memo: _Memo, old: _Memo | None) -> None:
        """Note who reads what."""
        before = () if old is None else old.reads
        if before != memo.reads:
            for read in memo.reads:
                self._readers.setdefault(read, set()).add(cell)
            self._unlink(cell, set(before).difference(memo.reads))

    def _is_unsettled(self, cell: Cell) -> bool:
        if not isinstance(cell[0], Query):
            return False
        memo = self._memos.get(cell)
        return memo is None or memo.stale

    def _backdate(self, memo: _Memo, old: _Memo) -> bool:
        """Whether a memo's value is the old one; it is then no news. On a cycle it may be the same fallback for the
        sake of another cycle, which is news to those who were on the first."""
        if memo.changed_at == old.changed_at:
            memo.made_at = old.made_at
            return True
        if not (old.on_cycle or memo.on_cycle or old.value is _MISSING) and old.value == memo.value:
            memo.changed_at, memo.made_at = old.changed_at, old.made_at
            return True
        return False

    def _compare_entries(self, cell: Cell, memo: _Memo) -> None:
        value = cast("Mapping[object, object]", memo.value)
        for key, slot in self._entries.get(cell, {}).items():
            new = value.get(key, _MISSING)
            if new is not slot.value and new != slot.value:
                slot.value, slot.changed_at = new, memo.changed_at
                self._mark_readers((_ENTRY, (cell, key)))

    def _touch(self, wanted: Query[..., object], cell: Cell) -> None:
        if wanted.capacity is None:
            return
        recent = self._recent.setdefault(wanted, OrderedDict())
        recent[cell] = None
        recent.move_to_end(cell)
        if len(recent) > wanted.capacity:
            self._evict(recent)

    def _evict(self, recent: OrderedDict[Cell, None]) -> None:
        oldest, _ = recent.popitem(last=False)
        if oldest in self._memos:
            self._memos[oldest].value = _MISSING


def _query_of(cell: Cell) -> Query[..., object]:
    return cast("Query[..., object]", cell[0])


def _fallback(cell: Cell) -> object:
    on_cycle = _query_of(cell).on_cycle
    return None if on_cycle is None else on_cycle(*cell[1])
