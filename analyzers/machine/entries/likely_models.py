"""Models that nobody knows: what stands for them, and for their parts."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, Instance, ListObj, Tensor
from analyzers.domain.values import NONE, Ref, Unknown, Value
from analyzers.machine.autograd.accumulation import with_gradient_perhaps
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.partly_frozen import is_held
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import is_module, weights
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import parts_given
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter.linking import library_call
from analyzers.machine.objects.attributes import set_attribute


def stands_in(m: Machine, value: Value) -> bool:
    """Whether this stands for a model that nobody knows."""
    found = m.obj(value)
    cls = m.st.get(found.cls) if isinstance(found, Instance) and isinstance(found.cls, int) else None
    return isinstance(cls, ClassObj) and cls.module.startswith("<prelude>/presumed/")


def set_trained(m: Machine, model: Value, requires: truth.Truth) -> None:
    """Whether the parameters of a presumed model require grad, as long as the program itself has not said so."""
    for ident in weights(m, model):
        m.st.update(ident, Tensor, lambda t: replace(t, requires_grad=requires) if t.requires_grad is not False else t)


def make_model(m: Machine, parts: Sequence[str] = (), made_as: str = "Model") -> Value:
    """A model that nobody knows, with such parts; `made_as` is the class that stands for it."""
    model = library_call(m, f"presumed.{made_as}", Args())
    for part in parts:
        set_attribute(m, model, part, make_model(m))
    found = m.obj(model)
    if isinstance(found, Instance) and isinstance(model, Ref):
        m.st.put(model.id, Instance(found.cls, found.attrs, True))
        for ident in weights(m, model):
            m.notebook(PresumedParameters).made.add(ident)
            m.st.put(ident, _of_unknown_past(m, ident, tensor_at(m, ident)))
    return model


def whole_of(m: Machine, value: Value) -> tuple[Ref, ...]:
    """The models that something unknown is a part of: `block` of `block = model.layers[-1]`, or of a list of such."""
    reach = list(value.reach) if isinstance(value, Unknown) else []
    for ident in reach:
        found = m.st.find(ident)
        if isinstance(found, ListObj):
            inner = reach_of(*found.items, *(() if found.rest is None else (found.rest,)))
            reach += [one for one in inner if one not in reach]
    return tuple(Ref(ident) for ident in reach if stands_in(m, Ref(ident)))


def take_over(m: Machine, model: Value, value: Unknown) -> None:
    """Modules that were set on something before it was taken for a model are parts of it: a new head."""
    for ident in parts_given(m, value):
        if is_module(m, Ref(ident)):
            add_part(m, model, Ref(ident))


def add_part(m: Machine, model: Value, part: Value) -> None:
    """Under a name that nobody uses."""
    set_attribute(m, model, f"<part {m.fresh()}>", part)


def flag_as_part(m: Machine, owner: Value, part: Value) -> None:
    """A part of a model learns if all of that does, and is frozen if all of that is: in no optimizer, then."""
    whole = [tensor_at(m, ident) for ident in weights(m, owner)]
    flags = {tensor.requires_grad for tensor in whole}
    if flags == {False} and not any(is_held(m, ident) for ident in weights(m, owner)):
        for ident in weights(m, part):
            m.st.update(ident, Tensor, lambda t: replace(t, requires_grad=False, lineage=whole[0].lineage))
    else:
        set_trained(m, part, True if flags == {True} else None)


def _of_unknown_past(m: Machine, ident: int, tensor: Tensor) -> Tensor:
    """A parameter of what was there before it was taken for a model: a backward of this run may have reached it."""
    shapeless = replace(tensor, shape=None)
    return with_gradient_perhaps(ident, shapeless) if m.record.trains else shapeless


def replace_head(m: Machine, model: Ref) -> None:
    """A library's model gets a new head: a part that no optimizer made so far knows, and that learns."""
    head = make_model(m)
    for ident in weights(m, head):
        m.st.update(ident, Tensor, lambda t: replace(t, requires_grad=True, grad=NONE))
    add_part(m, model, head)
