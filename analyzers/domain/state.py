"""The machine's memory at one moment: a heap, the grad mode, and the assumptions made so far.

A state is cheap to fork: its maps are persistent, so a fork shares everything and a write copies a path, not the heap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import ClassObj, HeapObject, Instance
from analyzers.domain.truth import Truth
from analyzers.domain.values import Func, Value
from analyzers.maps import Map

T = TypeVar("T")

Taken: TypeAlias = "Map[Loc, object]"
"""By place, which of several ways was taken there: of a condition whether it came out true, of `if` and
its `elif`s `UNLIKELY` where nobody means it to come out so, else a number."""

UNLIKELY = "unlikely"
"""Two or more conditions on one name, none of which holds, and no `else`: whoever wrote them met no such case. Or what
nobody knows is found to be empty: `index >= len(files)` in the first round."""

BLOCK_BITS = 32
"""Ids carry the number of the run that made them in their upper bits, so runs of different modules never collide."""


Log: TypeAlias = "tuple[Any, ...]"
"""The ids written so far, latest first: length, id, and the rest. Forks share their common past."""

ROOT: Log = (0, 0, None)

PERHAPS_CASTING = "?"
"""The `casting` of a state that may be under autocast for a device that the tensors may be on."""


EVERYTHING = 0
"""Stands for all ids where what is read is noted."""


def touched(a: State, b: State) -> Collection[int]:
    """The ids that either state has written since they were one, the last written first."""
    ids: dict[int, None] = {}
    x: Log | None = a.log
    y: Log | None = b.log
    while x is not y:
        if x is not None and (y is None or x[0] >= y[0]):
            ids[x[1]] = None
            x = x[2]
        elif y is not None:
            ids[y[1]] = None
            y = y[2]
    return ids.keys()


def written_apart(a: State, b: State) -> tuple[set[int], set[int]]:
    """The ids that each of two states has written since they were one."""
    ours: set[int] = set()
    theirs: set[int] = set()
    x: Log | None = a.log
    y: Log | None = b.log
    while x is not y:
        if x is not None and (y is None or x[0] >= y[0]):
            ours.add(x[1])
            x = x[2]
        elif y is not None:
            theirs.add(y[1])
            y = y[2]
    return ours, theirs


def written_since(log: Log, then: Log | None) -> set[int] | None:
    """The ids written between two moments of one state; None where the earlier is not known to be of its past."""
    if then is None:
        return None
    ids: set[int] = set()
    at: Log | None = log
    while at is not None and at is not then:
        if at[0] <= then[0]:
            return None
        ids.add(at[1])
        at = at[2]
    return ids


@dataclass(slots=True, frozen=True, eq=False)
class Became:
    """What stands for two leaves since ways met: the leaf, and the two. `before` is what was noted earlier, of both
    ways where these met again. Nothing is copied then, as hardly anybody asks."""

    noted: tuple[int, int, int] | None
    before: tuple[Became, ...]

    def by_leaf(self) -> dict[int, list[int]]:
        """By leaf, those that became one with it, and what stands for them."""
        found: dict[int, list[int]] = {}
        seen = {self}
        left = [self]
        while left:
            step = left.pop()
            if step.noted is not None:
                target, i, j = step.noted
                for one, other in ((i, target), (j, target), (target, i), (target, j)):
                    found.setdefault(one, []).append(other)
            fresh = [each for each in step.before if each not in seen]
            seen.update(fresh)
            left += fresh
        return found


def may_meet(a: Map[object, bool], b: Map[object, bool]) -> bool:
    """Whether two moments may lie on one way: nothing was assumed of one condition at both, and differently."""
    fewer, more = (a, b) if len(a) <= len(b) else (b, a)
    return fewer is more or all(more.get(symbol, outcome) is outcome for symbol, outcome in fewer.items())


def in_both(a: Taken, b: Taken) -> Taken:
    """The ways that were taken alike."""
    return a if a is b else Map({loc: way for loc, way in a.items() if b.get(loc) == way})


LOST = Instance("?", Map(), True)
"""What a reference into a run that was given up on an import cycle points to: an object of which nothing is known."""


class State:
    """`doubtful` says that an earlier statement may have raised already, so that nothing later is certain.

    `saved_hooks`: something else is kept in the place of saved tensors; `packing` are the hooks that put it there.
    `casting` is the type that autocast converts to, `?` where it may do so; `casts` are the copies that it keeps.

    `switches_out`: unknown code has got hold of what changes grad mode, and so any context manager that it gives may.

    `writes_out`: the same of a function that writes what it is passed, and so any call of unknown code may.

    `filled` and `freed` are the moments at which an unknown backward last came by all gradients and all nodes.

    `callbacks` are the functions that unknown code was passed, and may call whenever it runs: of each definition the
    last on a way, so that a join may have several.

    `taken`: the ways that were taken where nobody could decide, as far as all that lead to here share them.

    `among`: of some unknown values, by their symbols, which constants they may be; a join keeps those of both sides.

    `stand_ins`: by the symbols of unknown values, the tensors that a presumed run takes them for.

    `given`: by the symbols of unknown objects, what their methods were passed in a presumed run, and may return.

    `became`: which leaves became one where ways met, and what stands for them since.

    `frozen` are the heaps of imported modules by run number, read where `heap` has nothing newer.

    `reads` is where what is read is noted while a call is recorded, else None."""

    __slots__ = (
        "among",
        "assumed",
        "became",
        "callbacks",
        "casting",
        "casts",
        "doubtful",
        "filled",
        "freed",
        "frozen",
        "given",
        "grad",
        "heap",
        "inference",
        "kinds",
        "log",
        "modules",
        "packing",
        "reads",
        "saved_hooks",
        "stand_ins",
        "switches_out",
        "taken",
        "writes_out",
    )

    def __init__(self) -> None:
        self.heap: Map[int, HeapObject] = Map()
        self.frozen: dict[int, Map[int, HeapObject]] = {}
        self.grad: Truth = True
        self.inference: Truth = False
        self.assumed: Map[object, bool] = Map()
        self.among: Map[object, frozenset[object]] = Map()
        self.callbacks: tuple[Func, ...] = ()
        self.modules: Map[str, int] = Map()
        self.saved_hooks: Truth = False
        self.packing: tuple[Value, Value] | None = None
        self.casting: str | None = None
        self.casts: Map[int, int] = Map()
        self.doubtful = False
        self.switches_out = False
        self.writes_out = False
        self.stand_ins: Map[object, int] = Map()
        self.given: Map[object, tuple[int, ...]] = Map()
        self.became: Became | None = None
        self.taken: Taken = Map()
        self.log: Log = ROOT
        self.filled: Log | None = None
        self.freed: Log | None = None
        self.reads: dict[object, None] | None = None
        self.kinds: dict[type, tuple[Log, list[int]]] = {}
        """By kind, the ids of its objects at some moment, for all states."""

    def fork(self) -> State:
        other = State.__new__(State)
        other.heap = self.heap
        other.frozen = self.frozen
        other.grad = self.grad
        other.inference = self.inference
        other.assumed = self.assumed
        other.among = self.among
        other.callbacks = self.callbacks
        other.modules = self.modules
        other.saved_hooks = self.saved_hooks
        other.packing = self.packing
        other.casting = self.casting
        other.casts = self.casts
        other.doubtful = self.doubtful
        other.switches_out = self.switches_out
        other.writes_out = self.writes_out
        other.stand_ins = self.stand_ins
        other.given = self.given
        other.became = self.became
        other.taken = self.taken
        other.log = self.log
        other.filled = self.filled
        other.freed = self.freed
        other.reads = self.reads
        other.kinds = self.kinds
        return other

    def modes(self) -> tuple[object, ...]:
        """What is on, and what unknown code has got hold of."""
        return (
            self.grad, self.inference, self.doubtful, self.switches_out, self.writes_out, self.casting,
            self.saved_hooks, self.packing,
        )  # fmt: skip

    def give_away(self, other: State) -> None:
        """Unknown code has got what it got on the way to another state, too."""
        self.switches_out = self.switches_out or other.switches_out
        self.writes_out = self.writes_out or other.writes_out
        if self.callbacks != other.callbacks:
            self.callbacks = (*(one for one in other.callbacks if one not in self.callbacks), *self.callbacks)

    def forget_writes(self) -> None:
        """From here on nothing counts as written before: other runs begin with this state."""
        self.log, self.reads, self.kinds = ROOT, None, {}

    def note_one(self, target: int, i: int, j: int) -> None:
        """From here on `target` is the leaf `i` of one way and the leaf `j` of another."""
        self.became = Became((target, i, j), () if self.became is None else (self.became,))

    def get(self, ident: int) -> HeapObject:
        if self.reads is not None:
            self.reads[ident] = None
        if ident in self.heap:
            return self.heap[ident]
        found = self._imported(ident)
        return LOST if found is None else found

    def find(self, ident: int) -> HeapObject | None:
        if self.reads is not None:
            self.reads[ident] = None
        return self.peek(ident)

    def _imported(self, ident: int) -> HeapObject | None:
        block = self.frozen.get(ident >> BLOCK_BITS)
        return block[ident] if block is not None and ident in block else None

    def part(self, ident: int, name: str) -> HeapObject | None:
        """An object of which the caller looks at one part only: a variable of an environment, a field of a node."""
        if self.reads is not None:
            self.reads[ident, name] = None
        return self.peek(ident)

    def peek(self, ident: int) -> HeapObject | None:
        """An object that is looked at without notice."""
        return self.heap[ident] if ident in self.heap else self._imported(ident)

    def _read_all(self) -> None:
        if self.reads is not None:
            self.reads[EVERYTHING] = None

    def is_library(self, found: Instance) -> bool:
        """Whether an object is of a class that the program does not define."""
        cls = self.find(found.cls) if isinstance(found.cls, int) else None
        return not isinstance(cls, ClassObj) or cls.module.startswith("<")

    def put(self, ident: int, value: HeapObject) -> None:
        self.heap = self.heap.set(ident, value)
        self.log = (self.log[0] + 1, ident, self.log)

    def written(self, then: Log) -> list[tuple[int, HeapObject]]:
        """The objects written since a moment of this state's past."""
        self._read_all()
        ids = written_since(self.log, then)
        return [(ident, self.heap[ident]) for ident in self.in_order(self.heap if ids is None else ids)]

    def since(self, then: Log | None, kind: type[T]) -> list[tuple[int, T]]:
        """The objects of one kind written since a moment of this state's past, all if there was none."""
        ids = written_since(self.log, then)
        if ids is None:
            return self.made(kind)
        self._read_all()
        found = {ident: value for ident in ids if isinstance(value := self.heap[ident], kind)}
        return [(ident, found[ident]) for ident in self.in_order(found)]

    def made(self, kind: type[T]) -> list[tuple[int, T]]:
        """The objects of one kind that this run made or wrote, in order."""
        self._read_all()
        heap, known = self.heap, self.kinds.get(kind)
        written = None if known is None else written_since(self.log, known[0])
        if known is None or written is None:
            idents = self.in_order([ident for ident, value in heap.items() if isinstance(value, kind)])
        else:
            new = [ident for ident in written.difference(known[1]) if isinstance(heap.get(ident), kind)]
            idents = self.in_order([*known[1], *new]) if new else known[1]
        self.kinds[kind] = self.log, idents
        return [(ident, value) for ident in idents if isinstance(value := heap[ident], kind)]

    def in_order(self, ids: Iterable[int]) -> list[int]:
        """The ids in the order in which their objects were made, those of imported modules first.

        The order of ids themselves, or of the heap, depends on what else was analyzed before.
        """
        ranks = {block: rank for rank, block in enumerate(self.frozen)}
        own: list[int] = []
        imported: list[tuple[int, int]] = []
        for ident in ids:
            rank = ranks.get(ident >> BLOCK_BITS)
            if rank is None:
                own.append(ident)
            else:
                imported.append((rank, ident))
        return [*(ident for _, ident in sorted(imported)), *sorted(own)]

    def update(self, ident: int, kind: type[T], change: Callable[[T], HeapObject]) -> None:
        """Replace the object at `ident` by what `change` makes of it, if it is of `kind`."""
        old = self.get(ident)
        if isinstance(old, kind):
            self.put(ident, change(old))
