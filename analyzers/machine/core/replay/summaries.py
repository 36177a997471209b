"""Summaries: a call is run once for each way in which it can be entered, and replayed elsewhere in the run.

While a call runs, its *recording* notes what it read, by id and in order. Once it is over, what these ids held when it
began is its *footprint*; what it left is a list of objects that it wrote, and of *effects* on the record. A later call
of the same function, one of a library from the same place in the program, is *matched* with the footprint: the
environment with the arguments stands for the environment, and what is found in one object says which ids stand for
which (see `analyzers.domain.renaming`). If everything read is the same but for names, the objects written are put into
the state under new ids, but for what nothing leads to, and the effects are repeated.

    for block in self.blocks:   # four equal blocks: the first one runs, and three are replayed
        x = block(x)

A replay hands out the same ids, visits and numbers as a run would, so that what follows is the same to the byte. Only
calls are kept that end in one way: none that raise, decide what nobody knows or join states. What they
do that no recording can tell is *opaque* (`Machine.opaque`), and so is what contains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analyzers.domain.objects import HeapObject, Instance, Tensor
from analyzers.domain.state import BLOCK_BITS, EVERYTHING, PERHAPS_CASTING, State, Taken
from analyzers.domain.values import Const, Func, Ref
from analyzers.machine.core.choices import Outcome
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.replay.recorded import also_taken
from analyzers.machine.core.replay.records import Key, Recording, Shelf, Summary
from analyzers.machine.core.replay.replays import are_alike, replayed

MOST = 4
"""Ways of entering that are kept of one function in the same modes, on arguments of the same kinds, latest first."""


def key_of(m: Machine, func: Func) -> Key | None:
    """The functions that lead to a call, and what modes are on: what has to be equal. None where it is not recorded."""
    st, extent = m.st, m.extent
    if st.packing is not None or st.saved_hooks is not False or extent.walks:
        return None
    if st.casting is not None and (st.casting != PERHAPS_CASTING or st.casts):
        return None  # which copies autocast keeps is not recorded
    if m.config.probe is not None or extent.forgets:
        return None
    frames = extent.frames
    chain: list[tuple[object, ...]]
    if func.module.startswith("<"):
        # What is made in a library is told of as made at the place that calls it.
        chain = [(f.module, f.chunk, f.node.start, f.node.end) for f in frames if not f.library or f is frames[-1]]
    else:
        chain = [(f.module, f.chunk, f.qualname, f.stands_in) for f in frames]
    return (
        func.env, len(frames), *chain, st.grad, st.inference, st.casting, st.doubtful,
        st.switches_out, st.writes_out, m.indexes.default_dtype, m.indexes.gradients_are_seen,
        m.record.supposes_counts, m.record.trains,
        extent.in_module, extent.expecting > 0, extent.hypothetical > 0, extent.enclosing_operator, extent.contested,
        extent.compared_with_none, *((loop.start, loop.end) for loop in extent.loops), any(f.handlers for f in frames),
    )  # fmt: skip


def marks_of(m: Machine) -> tuple[object, ...]:
    """What no recorded call changes: it would be opaque."""
    r, i = m.record, m.indexes
    return (
        len(r.functions), len(r.deferred), len(r.used), len(r.given_away), len(r.visited_unseen),
        r.supposes_counts, r.trains, len(i.retaining), i.gradients_are_seen, len(i.context_sites), i.default_dtype,
        len(i.held), len(i.loaded), len(i.unrecorded), len(i.passed), len(i.runs_again), len(m.ids.made),
    )  # fmt: skip


def signature(m: Machine, env: int) -> Iterator[object]:
    """What can be told at once of the arguments: a call that differs in it need not be matched."""
    for value in m.env(env).vars.values():
        found = m.st.peek(value.id) if isinstance(value, Ref) else None
        if isinstance(value, Const):
            yield (type(value.value), value.value)
        elif isinstance(found, Instance):
            yield found.cls
        elif isinstance(found, Tensor):
            yield (found.shape, found.dtype, found.requires_grad)
        else:
            yield type(value if found is None else found)


def summarised(m: Machine, func: Func, env: int, run: Callable[[], list[Outcome]]) -> list[Outcome]:
    """The outcomes of a call in the environment `env`: of one before, or of `run`, which is recorded."""
    place = (func.module, func.chunk, func.qualname, func.node.start)
    shelf = m.indexes.summaries.get(place)
    if shelf is None:
        shelf = m.indexes.summaries[place] = Shelf()
    if shelf.is_idle():
        return run()
    key = key_of(m, func)
    if key is None:
        return run()
    known = shelf.by_key.setdefault((*key, *signature(m, env)), [])
    for at, summary in enumerate(known):
        outcome = replayed(m, summary, env)
        if outcome is not None:
            shelf.at_hit = shelf.tries
            if at:
                known.insert(0, known.pop(at))
            return [outcome]
    before = m.budget.steps
    made, outcomes = recorded(m, env, run)
    shelf.note(m.budget.steps - before, made is not None)
    if made is not None:
        known.insert(0, made)
        del known[MOST:]
    return outcomes


def recorded(m: Machine, env: int, run: Callable[[], list[Outcome]]) -> tuple[Summary | None, list[Outcome]]:
    ids, extent = m.ids, m.extent
    start = m.st
    recording = Recording(start, marks_of(m))
    outer, first, visit = start.reads, ids.last, extent.visit
    before = m.budget.steps, ids.sequence, m.record.imprecisions
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
        extent.recordings[-1].take(recording)
    if (
        recording.opaque
        or EVERYTHING in recording.reads
        or len(outcomes) != 1
        or outcomes[0].raised is not None
        or marks_of(m) != recording.marks
    ):
        m.opaque()
        return None, outcomes
    end = outcomes[0].state
    if not are_alike(start, end) or not _is_one(start, end, recording):
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
        env, ids.block, first, ids.last,
        _footprint(recording, m.ids.block, first), start, m.calls(), tuple(extent.iterations), recording.loops, log,
        [(ident, end.heap[ident]) for ident in dict.fromkeys(log)], outcomes[0].value, recording.effects,
        recording.tests, visit, recording.entered, recording.passed, recording.assumed,
        m.budget.steps - before[0], before[1], ids.sequence - before[1], m.record.imprecisions - before[2],
    ), outcomes  # fmt: skip


def _is_one(one: State, other: State, recording: Recording) -> bool:
    """Whether nothing was imported or joined on the way, or assumed without notice, and the modes are the same."""
    return (
        one.modules is other.modules
        and (one.taken is other.taken or _taken(one.taken, recording) == other.taken)
        and (one.assumed is other.assumed or one.assumed.update(recording.assumed) == other.assumed)
        and one.became is other.became
        and one.modes() == other.modes()
        and one.filled == other.filled
        and one.freed == other.freed
    )


def _taken(before: Taken, recording: Recording) -> Taken:
    for loc, visit, way in recording.passed:
        if visit is None:
            before = also_taken(before, loc, way)
    return before


def _footprint(recording: Recording, block: int, first: int) -> list[tuple[object, HeapObject | None]]:
    heap, found = recording.start.heap, []
    reads = recording.reads
    for read in reads:
        ident = read[0] if type(read) is tuple else read
        assert isinstance(ident, int)
        is_own = ident > first and ident >> BLOCK_BITS == block >> BLOCK_BITS
        if is_own or (type(read) is tuple and ident in reads and read[1] != "grad"):
            continue  # it is the call's own, or read as a whole; of a whole tensor the gradient is a part for itself
        found.append((read, heap.get(ident)))
    return found
