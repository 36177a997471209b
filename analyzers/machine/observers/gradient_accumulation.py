"""What each gradient holds: the backwards since it was last cleared, and the step that used it.

A gradient is identified by its memory and how often that was written, so a write through `.data` counts too. Clipping
or scaling does not change what it holds; `zero_()` clears it; a write by unknown code makes it unknown.

    loss.backward()               # holds (backward,)
    opt.step()                    # used
    loss.backward()               # holds (backward, backward), one of which the step has used
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.domain.copies import replace
from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Instance, Storage, Tensor
from analyzers.domain.renaming import Version
from analyzers.domain.values import Ref
from analyzers.machine.autograd.tensors import Moment
from analyzers.machine.autograd.trainables import parameters_of
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import Cleared, ClearedUse, GradAccumulated, HandStep
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import (
    DataReplaced,
    GradientArrived,
    GradientDropped,
    MultipliedByZero,
    WriteBegins,
    Written,
    hears,
)

REPLACING = frozenset({"zero", "fill", "copy", "set", "?", ".data =", "backward"})
"""Writes that leave nothing of a gradient, or an unknown part of it."""


MOST = 4


NEAR = 16
"""The most steps of a trail searched for a gradient."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    """What one gradient holds. `stale`: the backward that added to what a step had already used, and that step.

    `written` counts the writes to the leaf when the last backward came: a step on another path, which has used the
    same gradient there, has not written it on this one.
    """

    backwards: tuple[Site, ...] = ()
    used: Site | None = None
    stale: tuple[Site, Site] | None = None
    cleared: Site | None = None
    before: Site | None = None
    """The last backward before the gradient was cleared, unless a step had used it."""
    written: int = -1


class GradientAccumulation:
    """What gradients hold, and the memory of the leaves that have one."""

    def __init__(self) -> None:
        self.held: dict[Moment, Accumulated] = {}
        self.by_trail: dict[Lineage, int] = {}
        """The gradients by their trails."""
        self.leaf_storages: set[int] = set()


def moment(m: Machine, grad: int) -> Moment | None:
    """A gradient's memory in its current state."""
    tensor = m.st.find(grad)
    storage = m.st.find(tensor.storage) if isinstance(tensor, Tensor) else None
    if not isinstance(tensor, Tensor) or not isinstance(storage, Storage):
        return None
    return (tensor.storage, storage.count)


def held_by(m: Machine, grad: int) -> Accumulated | None:
    """What is known about a gradient."""
    now = moment(m, grad)
    return m.notebook(GradientAccumulation).held.get(now) if now is not None else None


@hears(GradientArrived)
def _arrived(m: Machine, signal: GradientArrived) -> None:
    grad = signal.grad
    m.notebook(GradientAccumulation).leaf_storages.add(signal.storage)
    now = moment(m, grad)
    if now is None:
        return
    before = m.notebook(GradientAccumulation).held.get((now[0], now[1] - 1))
    site = m.site()
    tensor = m.tensor(Ref(grad))
    if tensor is not None and tensor.lineage is not None:
        m.notebook(GradientAccumulation).by_trail[tensor.lineage] = grad
    leaf = m.st.find(signal.storage)
    written = leaf.count if isinstance(leaf, Storage) else -1
    if signal.first:
        m.notebook(GradientAccumulation).held[now] = Accumulated((site,), written=written)
    elif before is not None:
        used = before.used if before.written != written else None
        stale = (site, used) if used is not None else before.stale
        backwards = (*before.backwards, site)[-MOST:]
        m.notebook(GradientAccumulation).held[now] = Accumulated(backwards, None, stale, written=written)
    else:
        m.notebook(GradientAccumulation).held.pop(now, None)


@hears(Written)
def _carry(m: Machine, signal: Written) -> None:
    """A write has increased a storage's count: what a gradient holds carries over, unless the write cleared it."""
    storage, count, what = signal.storage, signal.count, signal.what
    if not m.test(_is_held, Version(storage, count)):
        return
    before = m.notebook(GradientAccumulation).held[storage, count]
    if what not in REPLACING:
        m.notebook(GradientAccumulation).held[storage, count + 1] = before
    elif what == "zero":
        m.notebook(GradientAccumulation).held[storage, count + 1] = _cleared(m, before)
        if before.backwards and before.used is None:
            _note_cleared(m, before)


def _is_held(m: Machine, asked: Version) -> bool:
    return (asked.counter, asked.version) in m.notebook(GradientAccumulation, told=True).held


@hears(GradientDropped)
def _dropped(m: Machine, signal: GradientDropped) -> None:
    before = held_by(m, signal.grad)
    if before is not None and before.backwards and before.used is None:
        _note_cleared(m, before)


def _cleared(m: Machine, before: Accumulated) -> Accumulated:
    if not before.backwards:
        return before
    return Accumulated(cleared=m.site(), before=before.backwards[-1] if before.used is None else None)


def _note_cleared(m: Machine, before: Accumulated) -> None:
    """Record a clearing once per place and visit, regardless of the number of parameters."""
    site = m.site()
    last = m.record.events[-1] if m.record.events else None
    if isinstance(last, Cleared) and last.site == site and last.backward == before.backwards[-1]:
        return
    m.note(Cleared(site, before.backwards[-1]))


@hears(MultipliedByZero)
def _forget(m: Machine, signal: MultipliedByZero) -> None:
    """Multiplying by zero clears a gradient, but only its finite elements."""
    now = moment(m, signal.ident)
    if now is not None:
        m.notebook(GradientAccumulation).held.pop(now, None)


def use(m: Machine, grad: int) -> Accumulated | None:
    """A step reads a gradient: record it if an earlier step has already read part of it."""
    now = moment(m, grad)
    found = m.notebook(GradientAccumulation).held.get(now) if now is not None else None
    if now is None or found is None:
        return None
    site = m.site()
    if found.stale is not None:
        m.note(GradAccumulated(found.stale[0], found.stale[1], site))
    if found.cleared is not None and not found.backwards:
        if found.before is not None:
            m.note(ClearedUse(site, found.cleared, found.before))
        return found
    m.notebook(GradientAccumulation).held[now] = replace(found, used=site, stale=None)
    return found


@hears(WriteBegins)
@hears(DataReplaced)
def _look_at_write(m: Machine, signal: WriteBegins | DataReplaced) -> None:
    """A tensor is written: if it shares a leaf's memory and a gradient went into the new value, this is a manual
    step."""
    if not m.test(_has_gradients, None):
        return
    tensor = m.st.find(signal.ident)
    if not isinstance(tensor, Tensor) or not m.test(_is_of_a_leaf, tensor.storage):
        return
    m.opaque()
    if _is_stepped(m, tensor.storage):
        return
    for grad, direct in _gradients_in(m, signal.parents):
        now = held_by(m, grad)
        if not direct and now is not None and not now.backwards:
            # Computed from it before it was cleared.
            continue
        found = use(m, grad)
        if found is not None:
            m.note(HandStep(m.site(), tensor.storage, bool(found.backwards)))


def _has_gradients(m: Machine, nothing: None) -> bool:
    """Whether any gradient arrived yet."""
    del nothing
    return bool(m.notebook(GradientAccumulation, told=True).by_trail)


def _is_of_a_leaf(m: Machine, storage: int) -> bool:
    return storage in m.notebook(GradientAccumulation, told=True).leaf_storages


def _is_stepped(m: Machine, storage: int) -> bool:
    """Whether some optimizer holds what is written: then that is no step, but an attack, say, that is taken back.

    The program's own classes of optimizers write in their steps.
    """
    if any(frame.func is not None and frame.func.node_name == "step" for frame in m.extent.frames):
        return False
    optimizers = [Ref(ident) for ident, found in m.st.made(Instance) if "param_groups" in found.attrs]
    held = (m.st.find(ident) for optimizer in optimizers for ident in parameters_of(m, optimizer))
    return any(isinstance(found, Tensor) and found.storage == storage for found in held)


def _gradients_in(m: Machine, parents: tuple[Lineage, ...]) -> Iterator[tuple[int, bool]]:
    """The gradients that a value was computed from a few steps back, and whether entirely within this statement."""
    statement = m.site().statement
    queue = [(step, True) for step in parents]
    seen: set[Lineage] = set()
    for step, direct in queue:
        if step in seen or len(seen) >= NEAR:
            continue
        seen.add(step)
        known = m.notebook(GradientAccumulation).by_trail.get(step)
        if known is not None:
            yield known, direct
            continue
        inside = direct and step.loc is not None and _within(step.loc, statement)
        queue.extend((parent, inside) for parent in step.parents)


def _within(loc: Loc, statement: Loc) -> bool:
    same = (loc.module, loc.chunk) == (statement.module, statement.chunk)
    return same and statement.start <= loc.start and loc.end <= statement.end
