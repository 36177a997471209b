"""Unknown code may change whatever it can reach: the walk over everything reachable."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import Counter, Edge, HeapObject, Instance, Node, Tensor
from analyzers.domain.state import written_since
from analyzers.domain.values import BoundBuiltin, Builtin, Const, Func, Method, Partial, Ref, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.parts import Doubted
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import PACKERS, SWITCHES, mode_of, model_of
from analyzers.machine.core.replay.records import Recording
from analyzers.machine.core.signals import NodeReached, tell

FEW = 32
"""Objects that are gone through each time."""

MOST = 4000
"""The most objects visited from one value."""


def writes_in_place(name: str) -> bool:
    """Whether a function of torch by this name writes its first argument: `add_` does, `__add__` does not."""
    return name.endswith("_") and not name.endswith("__")


def havoc_value(m: Machine, value: Value, seen: set[int] | None = None) -> None:
    """`seen` is what has been gone through already, of several values that unknown code has at once."""
    match value:
        case Const():  # as most are
            pass
        case Ref(id=ident):
            _havoc_reach(m, (ident,), seen)
        case Func():
            PORTS.python.escaped(m, value)
        case Method(func=func, receiver=receiver):
            PORTS.python.escaped(m, func)
            havoc_value(m, receiver, seen)
        case Builtin(name=name):
            m.st.switches_out = m.st.switches_out or name in SWITCHES
            m.st.writes_out = m.st.writes_out or writes_in_place(name)
            if name in PACKERS and m.st.saved_hooks is False and not m.config.presumes:
                m.st.saved_hooks = None
        case BoundBuiltin(receiver=receiver, name=name):
            if writes_in_place(name):
                havoc_written(m, receiver, seen)
                lose_sizes(m, receiver)
            else:
                havoc_value(m, receiver, seen)
        case Partial(func=func, args=args, kwargs=kwargs):
            seen = set() if seen is None else seen
            for part in (func, *args, *(v for _, v in kwargs)):
                havoc_value(m, part, seen)
        case _:
            _havoc_reach(m, reach_of(value), seen)


def _havoc_reach(m: Machine, reach: tuple[int, ...], seen: set[int] | None) -> None:
    if seen:
        havoc_all(m, reach, seen)
        return
    seen = set() if seen is None else seen
    if reach and not _changes_nothing(m, reach, seen):
        _havoc_and_note(m, reach, seen)


def havoc_all(m: Machine, idents: Iterable[int], seen: set[int]) -> None:
    for ident in idents:
        if ident not in seen:
            havoc_object(m, ident, seen)


def _havoc_and_note(m: Machine, reach: tuple[int, ...], seen: set[int]) -> None:
    """Note what was read, asked and told if nothing was written: it is not gone through again while it stays as it
    is."""
    outer, before, recording = m.st.reads, m.st.log, Recording(m.st, ())
    m.st.reads = recording.reads
    m.extent.recordings.append(recording)
    try:
        havoc_all(m, reach, seen)
    finally:
        m.extent.recordings.pop()
        m.st.reads = outer
        if outer is not None:
            outer.update(recording.reads)
        if m.extent.recordings:
            m.extent.recordings[-1].take(recording)
    if m.st.log is not before or len(seen) < FEW or recording.entered or recording.passed or recording.assumed:
        return
    idents = {
        ident for read in recording.reads if isinstance(ident := read[0] if isinstance(read, tuple) else read, int)
    }
    counters = [found for ident in idents if isinstance(found := m.st.peek(ident), Counter)]
    versions, retaining = {found.version for found in counters}, set(m.indexes.retaining)
    m.indexes.doubted[reach] = Doubted(before, recording, idents, frozenset(seen), versions, retaining, _had(m))


def _changes_nothing(m: Machine, reach: tuple[int, ...], seen: set[int]) -> bool:
    """Whether unknown code has had these before, and may have done all to them that it may do now."""
    known = m.indexes.doubted.get(reach)
    written = None if known is None else written_since(m.st.log, known.log)
    if known is None or written is None or not written.isdisjoint(known.read):
        return False
    if known.had != _had(m) or not known.versions.isdisjoint(m.indexes.versions_kept):
        return False
    for ident in m.indexes.retaining - known.retaining:
        found = m.st.peek(ident)
        if isinstance(found, Tensor) and found.edge is not None and found.edge.node in known.visited:
            return False
    if any(ask(m, of) is not answer for (ask, of), answer in known.recording.tests.items()):
        return False
    m.indexes.doubted[reach] = replace(known, log=m.st.log)
    seen |= known.visited
    _do_again(m, known)
    return True


def _do_again(m: Machine, known: Doubted) -> None:
    """Tell the calls in progress of what was not gone through again."""
    was = known.recording
    if was.opaque:
        m.opaque()
    if m.st.reads is not None:
        m.st.reads.update(was.reads)
    if m.extent.recordings:
        m.extent.recordings[-1].take(Recording(was.start, (), tests=was.tests, effects=was.effects))
    for ident in m.st.in_order(known.visited):
        node = m.st.peek(ident)
        if isinstance(node, Node):
            tell(m, NodeReached(ident, node))


def _had(m: Machine) -> tuple[object, ...]:
    """What unknown code has got, as far as the state knows, and what is being forgotten."""
    return m.st.switches_out, m.st.writes_out, m.st.saved_hooks, m.st.callbacks, m.extent.forgets


def havoc_written(m: Machine, value: Value, seen: set[int] | None = None) -> None:
    """What an unknown value may be is written in place, which may give it another place in the graph: anything that
    is held by what it was made of."""
    seen = set() if seen is None else seen
    before = frozenset(seen)
    havoc_value(m, value, seen)
    for ident in m.st.in_order(dict.fromkeys((*reach_of(value), *(seen - before)))):
        found = m.st.find(ident)
        around = (found.base, found.perhaps_of) if isinstance(found, Tensor) else ()
        for written in (ident, *around):
            if written is not None:
                havoc_object(m, written, seen)
                m.st.update(written, Tensor, lambda t: replace(t, edge=t.edge and Edge()))


def havoc_target(m: Machine, value: Value) -> None:
    """The same of a target of `out=`, which may be resized, too."""
    havoc_written(m, value)
    lose_sizes(m, value)


def havoc_places(m: Machine, idents: Iterable[int]) -> None:
    """Tensors have been written in place, or detached, so that they lie elsewhere in the graph."""
    for ident in m.st.in_order(idents):
        found = m.st.find(ident)
        if isinstance(found, Tensor) and not found.parameter:
            m.st.put(ident, replace(found, requires_grad=None, edge=found.edge and Edge()))
            for around in (found.base, found.perhaps_of):
                if around is not None:
                    m.st.update(around, Tensor, lambda t: replace(t, edge=t.edge and Edge()))


def lose_sizes(m: Machine, value: Value) -> None:
    for ident in reach_of(value):
        m.st.update(ident, Tensor, lambda t: replace(t, shape=None, contiguous=None, strides=None, offset=None))


def havoc_object(m: Machine, ident: int, seen: set[int]) -> None:
    if ident in seen or len(seen) > MOST:
        return
    seen.add(ident)
    m.budget.doubted += 1
    found = m.st.find(ident)
    if found is not None:
        if isinstance(found, Instance) and mode_of(m, Ref(ident)) is not None:
            m.st.switches_out = True
        model_of(found).havoc(m, ident, found, seen)


def put(m: Machine, ident: int, found: HeapObject, doubted: HeapObject) -> None:
    """Write the doubted object only if it differs: every object that two states have written must be compared at their
    join."""
    if doubted != found:
        m.st.put(ident, doubted)


def lend(m: Machine, ident: int) -> None:
    """Unknown code has an object, and is presumed to keep what it holds."""
    m.effect(_note_lent, ident)


def _note_lent(m: Machine, ident: int) -> None:
    m.indexes.lent.add(ident)


def is_lent(m: Machine, ident: int) -> bool:
    """Whether unknown code had an object that is presumed to be as it was: it may have been given more."""
    return m.test(_was_lent, ident)


def _was_lent(m: Machine, ident: int) -> bool:
    return ident in m.indexes.lent
