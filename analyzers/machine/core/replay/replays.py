"""Replays: what a call left is said of the objects of another one that is entered alike. See `summaries`."""

from __future__ import annotations

from collections import Counter as Counted
from typing import Any

from analyzers.domain.copies import replace
from analyzers.domain.looking import Looking, Renamer
from analyzers.domain.objects import (
    VERSION_BASE,
    WRITES_KEPT,
    Counter,
    Env,
    HeapObject,
    Iterator,
    ListObj,
    Node,
    Storage,
    Tensor,
    Write,
)
from analyzers.domain.renamers import RENAMERS
from analyzers.domain.renaming import Mismatch, Renaming, Version
from analyzers.domain.state import State
from analyzers.domain.values import Value
from analyzers.machine.core.causes import Site
from analyzers.machine.core.choices import Outcome
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.replay.recorded import standing_in
from analyzers.machine.core.replay.records import Read, Summary, Writing
from analyzers.machine.core.tables import enter
from analyzers.maps import Map

SHARE = 3
"""A replay takes about a third of the time that the statements took."""


def are_alike(one: State, other: State) -> bool:
    """Whether what states know besides their heaps is the same. What a call asks of it is told by tests."""
    return (
        _same(one.among, other.among)
        and one.callbacks == other.callbacks
        and _same(one.casts, other.casts)
        and _same(one.stand_ins, other.stand_ins)
        and _same(one.given, other.given)
    )


def _same(one: Map[Any, Any], other: Map[Any, Any]) -> bool:
    return one is other or one == other


def replayed(m: Machine, summary: Summary, env: int) -> Outcome | None:
    """The outcome of a call in the environment `env`, if all that `summary` read is the same but for names."""
    st, ids = m.st, m.ids
    if m.budget.steps + summary.steps // SHARE >= m.budget.patience:
        return None
    if summary.loops and m.standing() != standing_in(summary.rounds):
        return None
    renaming = Renaming(
        summary.block, summary.first, summary.last, ids.last - summary.first, summary.after,
        ids.sequence - summary.after,
    )  # fmt: skip
    renaming.via = (summary.via, m.calls())
    renaming.rounds = (summary.rounds, tuple(m.extent.iterations))
    try:
        _match(renaming, summary, env, st.heap, m.indexes.looking)
    except Mismatch:
        return None
    writing = summary.writing
    if writing is None:
        writing = summary.writing = _writing(summary, m.indexes.looking)
    value = _put(m, summary, writing, renaming)
    assumed = [
        (symbol if named is None else named.rename(renaming), outcome) for symbol, named, outcome in writing.assumed
    ]
    m.st.assumed = m.st.assumed.update(assumed)
    tests = [(ask, of if named is None else named.rename(renaming), answer) for ask, of, named, answer in writing.tests]
    if any(ask(m, of) is not answer for ask, of, answer in tests):
        m.st = st
        return None
    m.ids.next += summary.last - summary.first
    m.ids.sequence += summary.nodes
    m.spend_more(1 + summary.steps // SHARE if SHARE > 1 else summary.steps)
    _visit(m, summary, writing, renaming)
    if st.reads is not None:
        for read in summary.reading or ():
            ident = renaming.ident(read.ident)
            st.reads[ident if read.part is None else (ident, read.part)] = None
    m.record.imprecisions += summary.imprecisions
    for recording in m.extent.recordings[-1:]:
        recording.assumed.update(assumed)
    for repeat, payload, named in writing.effects:
        m.effect(repeat, payload if named is None else named.rename(renaming))
    for recording in m.extent.recordings[-1:]:
        for ask, of, answer in tests:
            recording.tests.setdefault((ask, of), answer)
    return Outcome(m.st, value)


def _visit(m: Machine, summary: Summary, writing: Writing, renaming: Renaming) -> None:
    """Number the visits of a replay, and note what they passed."""
    visits = renaming.visits
    visits[summary.visit] = m.extent.visit
    for before, tag, named, number in writing.entered:
        now = m.called_here() if before == summary.visit else tag if named is None else named.rename(renaming)
        visits[number] = m.visit(visits.get(before, before), now)
    for loc, visit, way in summary.passed:
        if visit is None:
            m.take(loc, way)
        else:
            m.pass_by(loc, visits.get(visit, visit))


class _SiteRenamer(Renamer):
    """Of a site inside of a call."""

    __slots__ = ("_site",)

    def __init__(self, site: Site) -> None:
        self._site = site

    def rename(self, renaming: Renaming) -> Any:
        site = self._site
        through, visit, rounds = renaming.through(site.via), renaming.visit(site.visit), renaming.epoch(site.iterations)
        return replace(site, via=through, visit=visit, iterations=rounds)


def _rename_site(look: Looking, site: Site) -> Renamer | None:
    del look
    return _SiteRenamer(site)


enter(RENAMERS, Site, _rename_site)


def _reading(summary: Summary, look: Looking) -> list[Read]:
    counted = Counted(summary.log)
    made: list[Read] = []
    for read, found in summary.footprint:
        ident, part = read if isinstance(read, tuple) else (read, None)
        assert isinstance(ident, int)
        looked_at = _part(found, part) if part is not None else found
        match = (
            None
            if isinstance(found, Counter | Storage) or found is None
            else look.matcher_of(found)
            if part is None
            else look.matcher(looked_at)
        )
        writes = counted[ident]
        grad = look.matcher(found.grad) if isinstance(found, Tensor) and part is None and writes else None
        made.append(Read(ident, part, found, match, grad, writes))
    return made


def _part(found: HeapObject | None, part: str) -> object:
    """What is looked at where only one part of an object was."""
    if isinstance(found, Env):
        return (found.vars.get(part), found.parent, found.open)
    return getattr(found, part, None)


TEMPORARY = (Env, Tensor, Storage, Counter, Node, ListObj, Iterator)
"""What nobody finds where nothing leads to it; of other objects the run asks which it has made."""


def _writing(summary: Summary, look: Looking) -> Writing:
    value, mentioned = look.said_of(summary.value)
    leads_to = list(mentioned)

    def said(of: Any) -> Renamer | None:
        renamer, mentioned = look.said_of(of)
        leads_to.extend(mentioned)
        return renamer

    effects = [(repeat, payload, said(payload)) for repeat, payload in summary.effects]
    assumed = [(symbol, said(symbol), outcome) for symbol, outcome in summary.assumed.items()]
    tests = [(ask, of, said(of), answer) for (ask, of), answer in summary.tests.items() if not _is_its_own(summary, of)]
    entered = [(before, tag, said(tag), number) for before, tag, number in summary.entered]
    written = dict(summary.written)
    leads_to += [ident for ident, found in written.items() if not _is_temporary(summary, ident, found)]
    renamers: dict[int, Renamer | None] = {}
    for ident in leads_to:
        found = written.get(ident)
        if found is None or ident in renamers:
            continue
        if isinstance(found, Counter | Storage):
            renamers[ident] = None
        else:
            renamers[ident], mentioned = look.renamer_of(found)
            leads_to += mentioned
    objects = [(ident, found, renamers[ident]) for ident, found in summary.written if ident in renamers]
    return Writing(
        objects, [ident for ident in summary.log if ident in renamers], value, effects, tests, entered, assumed
    )


def _is_its_own(summary: Summary, asked: object) -> bool:
    """Whether the call itself has made what it asks about: nobody else can have told anything of it."""
    if not isinstance(asked, Version) or asked.version is None:
        return False
    return summary.first < asked.version // VERSION_BASE <= summary.last


def _is_temporary(summary: Summary, ident: int, found: HeapObject) -> bool:
    """Whether an object is the call's own, and gone with it if nothing leads to it. Leaves are looked for."""
    if not summary.first < ident <= summary.last or not isinstance(found, TEMPORARY):
        return False
    return not isinstance(found, Tensor) or found.edge is not None or found.requires_grad is False


def _match(renaming: Renaming, summary: Summary, env: int, heap: Map[int, HeapObject], look: Looking) -> None:
    renaming.bind(summary.env, env)
    reading = summary.reading
    if reading is None:
        reading = summary.reading = _reading(summary, look)
    ids = renaming.ids
    for read in reading:
        ident, one = read.ident, read.found
        other_ident = ids.get(ident)
        if other_ident is None:
            renaming.bind(ident, ident)
            other_ident = ident
        other = heap.get(other_ident)
        if one is None or other is None:
            if one is not other:
                raise Mismatch
        elif isinstance(one, Counter | Storage):
            _match_counts(renaming, read, one, other)
        elif one is other:
            _match_itself(renaming, summary, read)
        elif type(one) is not type(other):
            raise Mismatch
        elif read.part is not None:
            was, now = _part(one, read.part), _part(other, read.part)
            if read.matcher is not None:
                read.matcher.match(renaming, now)
            elif was != now:
                raise Mismatch
        elif read.matcher is not None:
            read.matcher.match(renaming, other)
            if read.of_gradient is not None and isinstance(other, Tensor):
                read.of_gradient.match(renaming, other.grad)
        elif one != other:
            raise Mismatch


def _match_itself(renaming: Renaming, summary: Summary, read: Read) -> None:
    """An object that is there as it was: what it mentions stands for itself."""
    if read.matcher is None:
        return
    itself = read.itself
    if itself is None:
        alone = Renaming(summary.block, 0, 0, 0, 0, 0)
        assert read.found is not None
        read.matcher.match(alone, read.found if read.part is None else _part(read.found, read.part))
        itself = read.itself = (tuple(alone.ids), tuple(alone.trails), tuple(alone.writes))
    idents, trails, counted = itself
    for ident in idents:
        renaming.bind(ident, ident)
    for trail in trails:
        renaming.match_trail(trail, trail)
    for holder in counted:
        renaming.match_writes(holder, 0, 0)


def _match_counts(renaming: Renaming, read: Read, one: Counter | Storage, other: HeapObject) -> None:
    """Of a counter or a storage that the call has written, all of its own writes have to be remembered."""
    before: Write | None
    now: Write | None
    if isinstance(one, Counter) and isinstance(other, Counter):
        renaming.match_writes(read.ident, one.version, other.version)
        before, now = one.writes, other.writes
    elif isinstance(one, Storage) and isinstance(other, Storage):
        renaming.match_writes(read.ident, one.count, other.count)
        before, now = one.last, other.last
    else:
        raise Mismatch
    renaming.match_history(before, now)
    if read.writes and before is not None and before.length() + read.writes > WRITES_KEPT:
        raise Mismatch


def _put(m: Machine, summary: Summary, writing: Writing, renaming: Renaming) -> Value:
    """Write what the call has left; returns its result."""
    m.st = m.st.fork()
    heap = m.st.heap.mutate()
    first, last, shift, others = renaming.first, renaming.last, renaming.shift, renaming.ids
    for ident, found, named in writing.objects:
        new = found
        if named is not None:
            new = named.rename(renaming)
        elif isinstance(found, Counter):
            new = Counter(renaming.version(ident, found.version), renaming.history(ident, found.writes))
        elif isinstance(found, Storage):
            new = Storage(renaming.history(ident, found.last), found.count + renaming.writes.get(ident, 0))
        heap[ident + shift if first < ident <= last else others.get(ident, ident)] = new
    m.st.heap = heap.finish()
    log = m.st.log
    for ident in writing.log:
        log = (log[0] + 1, ident + shift if first < ident <= last else others.get(ident, ident), log)
    m.st.log = log
    return summary.value if writing.value is None else writing.value.rename(renaming)
