"""What a call or a statement did: the difference between the states before and after it.

Nothing here knows what a backward or an optimizer is; gradients that came, versions that went up, flags that were set
and nodes that were freed are all there is to see, whoever did it.

    opt.step()        # writes `model.weight`, `model.bias` in place
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import VERSION_BASE, Counter, HeapObject, Node, Storage, Tensor
from analyzers.domain.state import State, touched
from analyzers.domain.values import NONE, Ref, Value
from analyzers.graph.build import Places, place_of
from analyzers.machine.autograd.trainables import parameters_of
from analyzers.machine.core.events import BackwardCall, OptimizerMade
from analyzers.machine.core.machine import Machine
from analyzers.report import Change, ChangeKind, Place


@dataclass(slots=True)
class _Difference:
    """Objects that were there before and are others now, by id: what they were and what they are."""

    before: State
    after: State
    is_counted: Callable[[Tensor], bool]
    tensors: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    counters: dict[int, tuple[Counter, Counter]] = field(default_factory=dict)
    storages: dict[int, tuple[Storage, Storage]] = field(default_factory=dict)
    nodes: list[tuple[Node, Node]] = field(default_factory=list)

    def add(self, ident: int, old: HeapObject, new: HeapObject) -> None:
        match old, new:
            case Tensor(), Tensor():
                self.tensors[ident] = old, new
            case Counter(), Counter():
                self.counters[ident] = old, new
            case Storage(), Storage():
                self.storages[ident] = old, new
            case Node(), Node():
                self.nodes.append((old, new))


def changes_between(
    before: State, after: State, names: Mapping[int, str], is_counted: Callable[[Tensor], bool]
) -> tuple[Change, ...]:
    """What is different in the state after; tensors without a name are left out.

    Of tensors that are counted as torch does, the versions are told.
    """
    found = _Difference(before, after, is_counted)
    for ident in after.in_order(touched(before, after)):
        old, new = before.find(ident), after.find(ident)
        if old is not None and new is not None and old is not new:
            found.add(ident, old, new)
    grouped: dict[tuple[ChangeKind, bool, str], list[str]] = {}
    for kind, sure, how, subject in (
        *_gradients(found, names), *_flags(found, names), *_writes(found, names), *_freed(found), *_modes(before, after)
    ):  # fmt: skip
        subjects = grouped.setdefault((kind, sure, how), [])
        if subject and subject not in subjects:
            subjects.append(subject)
    return tuple(Change(kind, tuple(subjects), sure, how) for (kind, sure, how), subjects in grouped.items())


_Row = tuple[ChangeKind, bool, str, str]


def _gradients(found: _Difference, names: Mapping[int, str]) -> Iterator[_Row]:
    for ident, name in names.items():
        now = found.after.find(ident)
        then = found.before.find(ident)
        if not isinstance(now, Tensor) or not isinstance(then, Tensor):
            continue
        yield from _gradient(found, then.grad, now.grad, name)


def _gradient(found: _Difference, then: Value, now: Value, name: str) -> Iterator[_Row]:
    if then == now:
        held = found.after.find(now.id) if isinstance(now, Ref) else None
        counters = found.counters.get(held.counter) if isinstance(held, Tensor) else None
        if counters is not None and counters[0] != counters[1]:
            how = _written_by(*counters)
            yield ("accumulated", True, "", name) if how == "backward" else ("gradient-written", True, how, name)
    elif now == NONE:
        yield "cleared", True, "", name
    elif isinstance(now, Ref):
        yield ("gradient" if then == NONE else "accumulated"), True, "", name
    elif isinstance(then, Ref) or then == NONE:
        yield "gradient", False, "", name


def _flags(found: _Difference, names: Mapping[int, str]) -> Iterator[_Row]:
    for ident, (old, new) in found.tensors.items():
        name = names.get(ident, "")
        if not name:
            continue
        if old.edge is None and new.edge is not None and new.requires_grad:
            yield "attached", True, "", name
        elif old.requires_grad is not new.requires_grad and new.requires_grad is not None:
            yield ("requires-grad" if new.requires_grad else "requires-no-grad"), True, "", name


def _writes(found: _Difference, names: Mapping[int, str]) -> Iterator[_Row]:
    for ident, name in names.items():
        tensor = found.after.find(ident)
        if not isinstance(tensor, Tensor) or found.before.find(ident) is None:
            continue
        counters, storages = found.counters.get(tensor.counter), found.storages.get(tensor.storage)
        if counters is not None and counters[0] != counters[1]:
            yield "written", True, _versions(*counters) if found.is_counted(tensor) else "", name
        elif storages is not None and storages[0].count != storages[1].count:
            yield "hidden-write", True, "", name


def _versions(old: Counter, new: Counter) -> str:
    if old.version is None or new.version is None or max(old.version, new.version) >= VERSION_BASE:
        return ""
    return f"version {old.version} to {new.version}"


def _written_by(old: Counter, new: Counter) -> str:
    """The last writer, as far as it is known."""
    return new.writes.what if new.writes is not None and new.writes is not old.writes else ""


def _freed(found: _Difference) -> Iterator[_Row]:
    for old, new in found.nodes:
        if old.freed is False and new.freed is not False and (new.saved or new.kind == "copy-slices"):
            yield "freed", new.freed is True, "", " | ".join(new.names) or new.what


def _modes(before: State, after: State) -> Iterator[_Row]:
    if before.grad is not after.grad and after.grad is not None:
        yield ("grad-on" if after.grad else "grad-off"), True, "", ""


def last_backward(m: Machine, loc: Loc) -> BackwardCall | None:
    """The last backward that ran at a place."""
    backwards = (event for event in reversed(m.record.events) if isinstance(event, BackwardCall))
    return next((event for event in backwards if event.site.loc == loc), None)


def unreached(m: Machine, backward: BackwardCall, names: Mapping[int, str], places: Places) -> Iterator[Change]:
    """What optimizers hold, requires grad, and has got none from a backward that is known to its end."""
    if backward.unknown:
        return
    for optimizer in dict.fromkeys(event.optimizer for event in m.record.events if isinstance(event, OptimizerMade)):
        missing = []
        for ident in parameters_of(m, Ref(optimizer)):
            found = m.st.find(ident)
            if ident not in backward.reached and isinstance(found, Tensor) and found.requires_grad is not False:
                missing.append(names.get(ident, "a parameter without a name"))
        if missing:
            yield Change("unreached", tuple(missing), place=made_at(m, optimizer, places))


def made_at(m: Machine, optimizer: int, places: Places) -> Place | None:
    event = next((e for e in m.record.events if isinstance(e, OptimizerMade) and e.optimizer == optimizer), None)
    return None if event is None else place_of(places, event.site.loc)
