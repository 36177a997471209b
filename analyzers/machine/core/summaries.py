"""Summaries: a call is run once for each way in which it can be entered, and replayed elsewhere in the run.

While a call runs, its *recording* notes what it read, by id and in order. Once it is over, what these ids held when it
began is its *footprint*; what it left is a list of objects that it wrote, and of *effects* on the record. A later call
of the same function, from the same place in the program, is *matched* with the footprint: the environment with the
arguments stands for the environment, and what is found in one object says which ids stand for which (see
`analyzers.domain.renaming`). If everything read is the same but for names, the objects written are put into the state
under new ids, and the effects are repeated.

    for block in self.blocks:   # four equal blocks: the first one runs, and three are replayed
        x = block(x)

A replay hands out the same ids, visits and numbers as a run would, so that what follows is the same to the byte. Only
calls are kept that end in one way: none that raise, note an event, decide what nobody knows or join states. What they
do that no recording can tell is *opaque* (`Machine.opaque`), and so is what contains it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from immutables import Map

from analyzers.domain.objects import WRITES_KEPT, Counter, Env, HeapObject, Node, Storage, Write
from analyzers.domain.renaming import Mismatch, Renaming
from analyzers.domain.state import EVERYTHING, State
from analyzers.domain.values import Func, Value
from analyzers.machine.core.choices import Outcome

if TYPE_CHECKING:
    from analyzers.domain.lineage import Loc
    from analyzers.machine.core.machine import Machine

Effect: TypeAlias = "tuple[Callable[[Machine, Any], None], Any]"
"""What is done again on a replay, with what, all ids in it renamed."""


Test: TypeAlias = "tuple[Callable[[Machine, Any], bool], Any]"
"""A question about the record, and of what it is asked."""


@dataclass(slots=True)
class Recording:
    """A call in progress; `reads` are ids, and parts of objects as pairs of id and name, in the order in which they
    were first read."""

    start: State
    marks: tuple[object, ...]
    visits: int
    """How many there were before: its own come after them."""
    reads: dict[object, None] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    tests: dict[Test, bool] = field(default_factory=dict)
    """What was asked of the record, and the answers."""
    opaque: bool = False


@dataclass(slots=True)
class Summary:
    """What a call read and left. Ids from `first` to `last` are its own."""

    env: int
    first: int
    last: int
    footprint: list[tuple[object, HeapObject | None]]
    start: State
    rounds: tuple[object, ...]
    log: list[int]
    written: list[tuple[int, HeapObject]]
    value: Value
    effects: list[Effect]
    tests: dict[Test, bool]
    visit: int
    visits: list[tuple[int, object]]
    first_visit: int
    passed: list[tuple[Loc, int]]
    steps: int
    after: int
    nodes: int
    imprecisions: int


MOST = 6
"""Ways of entering that are kept of one function at one place, the latest used first."""

Key: TypeAlias = tuple[object, ...]


def key_of(m: Machine, func: Func) -> Key | None:
    """Where a call stands in the program and what modes are on: what has to be equal. None where it is not recorded."""
    st, extent = m.st, m.extent
    if st.casting is not None or st.packing is not None or st.saved_hooks is not False or extent.walks:
        return None
    if st.filled is not None or st.freed is not None or st.callbacks or m.config.probe is not None or extent.forgets:
        return None
    frames = extent.frames
    chain = [(f.module, f.chunk, f.node.start, f.node.end) for f in frames if not f.library or f is frames[-1]]
    return (
        func.module, func.chunk, func.qualname, len(frames), *chain, st.grad, st.inference, st.doubtful, st.switches_out,
        st.writes_out, m.indexes.default_dtype, m.indexes.gradients_are_seen, m.record.supposes_counts, m.record.trains,
        extent.expecting > 0, extent.hypothetical > 0, extent.enclosing_operator, extent.contested,
        extent.compared_with_none, len(extent.loops), sum(index > 0 for _, index in extent.iterations),
        any(f.handlers for f in frames),
    )  # fmt: skip


def marks_of(m: Machine) -> tuple[object, ...]:
    """What no recorded call changes: it would be opaque."""
    r, i = m.record, m.indexes
    return (
        len(r.events), len(r.functions), len(r.deferred), len(r.used), len(r.given_away), len(r.visited_unseen),
        r.supposes_counts, r.trains, len(i.retaining), i.gradients_are_seen, len(i.context_sites), i.default_dtype,
        len(i.held), len(i.loaded), len(i.unrecorded), len(i.passed), len(i.runs_again), len(m.ids.made),
        len(m.extent.picking),
    )  # fmt: skip


def _unchanged(one: State, other: State) -> bool:
    return (
        one.frozen is other.frozen
        and _same(one.among, other.among)
        and one.callbacks == other.callbacks
        and _same(one.modules, other.modules)
        and _same(one.casts, other.casts)
        and _same(one.stand_ins, other.stand_ins)
        and _same(one.given, other.given)
    )


def _same(one: Map[Any, Any], other: Map[Any, Any]) -> bool:
    return one is other or one == other


def summarised(m: Machine, func: Func, env: int, run: Callable[[], list[Outcome]]) -> list[Outcome]:
    """The outcomes of a call in the environment `env`: of one before, or of `run`, which is recorded."""
    key = key_of(m, func)
    if key is None:
        m.opaque()
        return run()
    known = m.indexes.summaries.setdefault(key, [])
    for at, summary in enumerate(known):
        outcome = replayed(m, summary, env)
        if outcome is not None:
            if at:
                known.insert(0, known.pop(at))
            return [outcome]
    summary_made, outcomes = recorded(m, env, run)
    if summary_made is not None:
        known.insert(0, summary_made)
        del known[MOST:]
    return outcomes


def recorded(m: Machine, env: int, run: Callable[[], list[Outcome]]) -> tuple[Summary | None, list[Outcome]]:
    ids, extent = m.ids, m.extent
    start = m.st
    recording = Recording(start, marks_of(m), len(ids.visits))
    outer, first, before = start.reads, ids.last, (len(ids.visits), m.budget.steps, ids.sequence, m.record.imprecisions)
    passed_before, visit = len(m.record.passed), extent.visit
    m.st = start.fork()
    m.st.reads = recording.reads
    extent.recordings.append(recording)
    try:
        outcomes = run()
    except BaseException:
        m.opaque()
        if outer is not None:
            outer.update(recording.reads)
        raise
    finally:
        extent.recordings.pop()
    for outcome in outcomes:
        outcome.state.reads = outer
    if outer is not None:
        outer.update(recording.reads)
    if extent.recordings:
        parent = extent.recordings[-1]
        parent.effects += recording.effects
        for test, answer in recording.tests.items():
            parent.tests.setdefault(test, answer)
    if recording.opaque or EVERYTHING in recording.reads or len(outcomes) != 1 or outcomes[0].raised is not None or marks_of(m) != recording.marks:
        m.opaque()
        return None, outcomes
    end = outcomes[0].state
    if not _unchanged(start, end) or end.taken is not start.taken or end.assumed is not start.assumed or _modes(start) != _modes(end):
        m.opaque()
        return None, outcomes
    log: list[int] = []
    at = end.log
    while at is not start.log:
        if at is None or at[0] <= start.log[0]:
            m.opaque()
            return None, outcomes
        log.append(at[1])
        at = at[2]
    log.reverse()
    return Summary(
        env, first, ids.last,
        _footprint(recording, m.ids.block, first), start, tuple(extent.iterations), log,
        [(ident, end.heap[ident]) for ident in dict.fromkeys(log)], outcomes[0].value, recording.effects,
        recording.tests, visit, list(islice(ids.visits, before[0], None)), before[0],
        list(islice(m.record.passed, passed_before, None)), m.budget.steps - before[1], before[2],
        ids.sequence - before[2], m.record.imprecisions - before[3],
    ), outcomes  # fmt: skip


def _modes(state: State) -> tuple[object, ...]:
    return (
        state.grad, state.inference, state.doubtful, state.switches_out, state.writes_out, state.casting,
        state.saved_hooks, state.packing, state.filled, state.freed,
    )  # fmt: skip


def _footprint(recording: Recording, block: int, first: int) -> list[tuple[object, HeapObject | None]]:
    heap, found = recording.start.heap, []
    reads = recording.reads
    for read in reads:
        ident = read[0] if type(read) is tuple else read
        assert isinstance(ident, int)
        if (ident > first and ident >> 32 == block >> 32) or (ident is not read and ident in reads):
            continue
        found.append((read, heap.get(ident)))
    return found


def replayed(m: Machine, summary: Summary, env: int) -> Outcome | None:
    """The outcome of a call in the environment `env`, if all that `summary` read is the same but for names."""
    st, ids = m.st, m.ids
    if not _unchanged(st, summary.start) or m.budget.steps + summary.steps >= m.budget.patience:
        return None
    renaming = Renaming(
        summary.first, summary.last, ids.last - summary.first, summary.after, ids.sequence - summary.after
    )
    renaming.rounds = (summary.rounds, tuple(m.extent.iterations))
    try:
        _match(renaming, summary, env, st.heap)
    except Mismatch:
        return None
    tests = {(ask, renaming.of(of)): answer for (ask, of), answer in summary.tests.items()}
    if any(ask(m, of) is not answer for (ask, of), answer in tests.items()):
        return None
    moved = len(ids.visits) - summary.first_visit
    visits: dict[tuple[int, object], int] = {}
    for before, tag in summary.visits:
        visits[_moved(before, summary, moved, m.extent.visit), renaming.of(tag)] = len(ids.visits) + len(visits) + 1
    if not ids.visits.keys().isdisjoint(visits):
        return None
    if st.reads is not None:
        for read, _ in summary.footprint:
            st.reads[(renaming.ident(read[0]), read[1]) if isinstance(read, tuple) else renaming.ident(read)] = None
    ids.visits.update(visits)
    for loc, visit in summary.passed:
        m.record.passed[loc, _moved(visit, summary, moved, m.extent.visit)] = st.taken
    m.record.imprecisions += summary.imprecisions
    value = _put(m, summary, renaming)
    for repeat, payload in summary.effects:
        m.effect(repeat, renaming.of(payload))
    for recording in m.extent.recordings[-1:]:
        for test, answer in tests.items():
            recording.tests.setdefault(test, answer)
    return Outcome(m.st, value)


def _moved(visit: int, summary: Summary, moved: int, now: int) -> int:
    return visit + moved if visit > summary.first_visit else now if visit == summary.visit else visit


def _match(renaming: Renaming, summary: Summary, env: int, heap: Map[int, HeapObject]) -> None:
    renaming.bind(summary.env, env)
    before, ids = summary.start.heap, renaming.ids
    for read, one in summary.footprint:
        part = None
        ident = read
        if type(read) is tuple:
            ident, part = read
        assert isinstance(ident, int)
        other_ident = ids.get(ident)
        if other_ident is None:
            renaming.bind(ident, ident)
            other_ident = ident
        other = heap.get(other_ident)
        if one is None or other is None:
            if one is not other:
                raise Mismatch
        elif part is not None:
            _match_part(renaming, one, other, part)
        elif isinstance(one, Counter):
            if not isinstance(other, Counter) or _is_cut(summary, ident, one.writes, other.writes):
                raise Mismatch
            renaming.match_writes(ident, one.version, other.version)
            renaming.match_history(one.writes, other.writes)
        elif isinstance(one, Storage):
            if not isinstance(other, Storage) or _is_cut(summary, ident, one.last, other.last):
                raise Mismatch
            renaming.match_writes(ident, one.count, other.count)
            renaming.match_history(one.last, other.last)
        else:
            renaming.match(one, other)
    del before


def _is_cut(summary: Summary, holder: int, one: Write | None, other: Write | None) -> bool:
    """Whether only the last writes are remembered of something that the call writes."""
    if holder not in summary.log:
        return False
    made = summary.log.count(holder)
    return any(write is not None and write.length() + made > WRITES_KEPT for write in (one, other))


def _match_part(renaming: Renaming, one: HeapObject, other: HeapObject, part: str) -> None:
    if type(one) is not type(other):
        raise Mismatch
    if isinstance(one, Env) and isinstance(other, Env):
        renaming.match(one.vars.get(part), other.vars.get(part))
        renaming.match(one.parent, other.parent)
        if one.open is not other.open:
            raise Mismatch
    elif isinstance(one, Node):
        renaming.match(getattr(one, part), getattr(other, part))


def _put(m: Machine, summary: Summary, renaming: Renaming) -> Value:
    """Write what the call has left; returns its result."""
    m.st = m.st.fork()
    heap = m.st.heap.mutate()
    for ident, found in summary.written:
        new: HeapObject
        if isinstance(found, Counter):
            new = Counter(renaming.version(ident, found.version), renaming.history(ident, found.writes))
        elif isinstance(found, Storage):
            count = found.count + renaming.writes.get(ident, 0)
            new = Storage(renaming.history(ident, found.last), count)
        else:
            new = renaming.of(found)
        heap[renaming.ident(ident)] = new
    m.st.heap = heap.finish()
    log = m.st.log
    for ident in summary.log:
        log = (log[0] + 1, renaming.ident(ident), log)
    m.st.log = log
    value: Value = renaming.of(summary.value)
    m.ids.next += summary.last - summary.first
    m.ids.sequence += summary.nodes
    m.spend_more(summary.steps)
    return value
