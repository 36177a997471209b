"""Copies that copy a tensor onto itself: weights that were to be kept, and share memory with those that are trained.

best = net.state_dict()              # no copy
...
net.load_state_dict(best)            # and what is loaded is what is there
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Ref
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import CopiedOntoItself
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import DataReplaced, Loaded, Written, WrittenFrom, hears
from analyzers.syntax import nodes as n


@dataclass(slots=True)
class Scaled:
    """The last tensor that was multiplied in place, and the statement and its visit."""

    ident: int = -1
    statement: tuple[Loc, int] | None = None


def _was_scaled(m: Machine, ident: int, here: tuple[Loc, int]) -> bool:
    scaled = m.notebook(Scaled)
    return (scaled.ident, scaled.statement) == (ident, here)


@dataclass(slots=True)
class MemoryTaken:
    """By tensor, the last `t.data = ...`."""

    at: dict[int, Site] = field(default_factory=dict)


@hears(DataReplaced)
def _taken(m: Machine, signal: DataReplaced) -> None:
    m.effect(_note_taken, (signal.ident, m.site()))


def _note_taken(m: Machine, taken: tuple[int, Site]) -> None:
    ident, site = taken
    m.notebook(MemoryTaken, told=True).at[ident] = site


@hears(WrittenFrom)
def _written(m: Machine, signal: WrittenFrom) -> None:
    """`a.copy_(b)` and `a.lerp_(b, w)` do nothing where both are one memory; `a.mul_(d).add_(b)` averages."""
    if m.frame.library:
        return
    site = m.site()
    here = (site.statement, site.visit)
    if signal.what == "mul_":
        scaled = m.notebook(Scaled)
        scaled.ident, scaled.statement = signal.target, here
        return
    if signal.source is None or not isinstance(m.user_frame().node, n.Call):
        return  # `states[i] = states[i].detach()`, of which nobody knows whether it is a list
    if signal.what == "add_" and not _was_scaled(m, signal.target, here):
        return
    if _are_one(tensor_at(m, signal.target), tensor_at(m, signal.source)):
        m.note(CopiedOntoItself(site, signal.what, _made(m, signal.target, signal.source)))


class LastWrites:
    """By memory, the last object that was there when it was written."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}


@hears(Written)
def _changed(m: Machine, signal: Written) -> None:
    m.effect(_note_write, (signal.storage, m.ids.last))


def _note_write(m: Machine, written: tuple[int, int]) -> None:
    """`written` is a storage, and the last id by then."""
    m.notebook(LastWrites, told=True).of[written[0]] = written[1]


@hears(Loaded)
def _loaded(m: Machine, signal: Loaded) -> None:
    target, source = m.tensor(signal.target), m.tensor(signal.source)
    if target is None or source is None or not _are_one(target, source):
        return
    assert isinstance(signal.target, Ref)
    assert isinstance(signal.source, Ref)
    if m.notebook(LastWrites).of.get(source.storage, -1) < signal.source.id:
        return  # nothing changed since it was kept, and what is loaded was to be there
    m.note(CopiedOntoItself(m.site(), "load_state_dict", _made(m, signal.target.id, signal.source.id)))


def _are_one(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are surely the same elements of the same memory; of a view nobody may know which it has."""
    if a.storage != b.storage or a.offset is None:
        return False
    return (a.shape, a.offset, a.strides) == (b.shape, b.offset, b.strides)


def _made(m: Machine, target: int, source: int) -> Lineage | None:
    """The trail of the one that was kept: the first that is no parameter. Of two parameters, where one took over
    the memory of the other."""
    kept = [ident for ident in (target, source) if not tensor_at(m, ident).parameter]
    if kept:
        return tensor_at(m, min(kept)).lineage
    replaced = m.notebook(MemoryTaken).at
    site = replaced.get(target) or replaced.get(source)
    return None if site is None else Lineage("data", site.loc, (), None, site.via)
