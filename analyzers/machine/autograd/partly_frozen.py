"""Presumed models of which the program has frozen some parameters, nobody knows which.

One parameter stands for many (`stands_for_many`), so its flag is unknown once some of them are frozen. When the
parameters are listed again, it is told apart: from then on it stands for those that are frozen, and a new one beside it
for those that learn. An optimizer that was made before holds both, and leaves it as it is.
"""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import DictObj, Instance, Tensor
from analyzers.domain.values import Const, Ref, Value
from analyzers.machine.autograd.accumulation import with_gradient_perhaps
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import members
from analyzers.machine.core.events import OptimizerMade
from analyzers.machine.core.machine import Machine


class PartlyFrozen:
    """By parameters that stand for many, the trails of those of them that are frozen."""

    def __init__(self) -> None:
        self.trails: dict[int, Lineage] = {}


def note_partly_frozen(m: Machine, ident: int) -> None:
    """Some of those for which this parameter stands are frozen, from here on or still."""
    if m.config.presumes:
        m.notebook(PartlyFrozen).trails.setdefault(ident, _frozen(m, tensor_at(m, ident)))


def tell_apart(m: Machine, module: Value) -> None:
    """Give the parameters of a module that learn a stand-in of their own, beside those that are frozen."""
    if not m.config.presumes or not m.test(_are_some_frozen, None):
        return
    trails = m.notebook(PartlyFrozen).trails
    for table, ident in _own_parameters(m, module) if trails else ():
        if ident in trails and tensor_at(m, ident).requires_grad is None and not is_held(m, ident):
            _add_beside(m, table, ident, trails[ident])


def _are_some_frozen(m: Machine, nothing: None) -> bool:
    del nothing
    return bool(m.notebook(PartlyFrozen, told=True).trails)


def unfreeze_some(m: Machine, module: Value) -> list[tuple[int, Lineage]] | None:
    """Some of a module's parameters learn again, though all of them were frozen: what stands for them, where no
    optimizer holds them yet, and their trails until now. None if nothing stands for such.

    Those are told apart from the rest while no optimizer was made; later, what learns again is all that was frozen.
    """
    found: list[tuple[int, Lineage]] = []
    own = _own_parameters(m, module)
    for table, ident in own:
        if tensor_at(m, ident).requires_grad is not False or is_held(m, ident):
            continue
        trail = _frozen(m, tensor_at(m, ident))
        if m.record.trains:
            m.st.update(ident, Tensor, lambda t: replace(t, requires_grad=True))
            found.append((ident, trail))
        elif not any(of == table and tensor_at(m, other).requires_grad for of, other in own):
            found.append((_add_beside(m, table, ident, trail), trail))
    return found if found or any(tensor_at(m, ident).requires_grad for _, ident in own) else None


def _frozen(m: Machine, tensor: Tensor) -> Lineage:
    if tensor.requires_grad is False and tensor.lineage is not None:
        return tensor.lineage
    parents = () if tensor.lineage is None else (tensor.lineage,)
    return Lineage("requires_grad", m.here(), parents, "frozen", m.via())


def _own_parameters(m: Machine, module: Value) -> list[tuple[int, int]]:
    """The parameters that stand for many, each with the table in which it stands."""
    made = m.notebook(PresumedParameters).made
    found: list[tuple[int, int]] = []
    for _, part in members(m, module, "_modules"):
        owner = m.obj(part)
        table = owner.attrs.get("_parameters") if isinstance(owner, Instance) else None
        held = m.obj(table) if isinstance(table, Ref) else None
        if isinstance(table, Ref) and isinstance(held, DictObj):
            idents = [value.id for value in held.items.values() if isinstance(value, Ref)]
            found += [(table.id, ident) for ident in idents if ident in made]
    return found


def is_held(m: Machine, ident: int) -> bool:
    """Whether an optimizer was made with a parameter."""
    return any(isinstance(event, OptimizerMade) and ident in event.parameters for event in m.record.events)


def _add_beside(m: Machine, table: int, ident: int, trail: Lineage) -> int:
    """A parameter that learns, beside one that stands for frozen ones from here on."""
    tensor = tensor_at(m, ident)
    made = m.new_tensor(None, "float32", requires_grad=True, parameter=True, lineage=tensor.lineage)
    m.notebook(PresumedParameters).made.add(made.id)
    if m.record.trains:
        m.st.put(made.id, with_gradient_perhaps(made.id, tensor_at(m, made.id)))
    m.st.put(ident, replace(tensor, requires_grad=False, lineage=trail))
    key = Const(f"<learning {ident}>")
    m.st.update(table, DictObj, lambda d: replace(d, items=d.items.set(key, made), order=(*d.order, key)))
    return made.id
