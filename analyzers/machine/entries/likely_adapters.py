"""Models with adapters, as `peft` makes and loads them."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Ref, Unknown, Value
from analyzers.machine.autograd.trainables import is_module, members
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import unknown_call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers
from analyzers.machine.entries.likely_identity import module_of
from analyzers.machine.entries.likely_models import make_model, replace_head, stands_in


@answers("autograd_machine.with_adapters")
def _with_adapters(m: Machine, args: Args) -> Value:
    """A model that was loaded with its adapters: it learns in part, or not at all."""
    model = args.get(0, "model")
    if not m.config.presumes:
        return _unpresumed(m, model)
    whole = _whole(m, model)
    _set_all(m, whole, None)
    return whole


@answers("autograd_machine.add_adapters")
def _add_adapters(m: Machine, args: Args) -> Value:
    """A model that is frozen, and gets adapters that learn. Where they go in a model of the program nobody knows."""
    model = args.get(0, "model")
    if not m.config.presumes:
        return _unpresumed(m, model)
    whole = _whole(m, model)
    if isinstance(whole, Ref) and stands_in(m, whole):
        _set_all(m, whole, False)
        replace_head(m, whole)
    else:
        _set_all(m, whole, None)
    return whole


def _unpresumed(m: Machine, model: Value) -> Value:
    m.record.unresolved.data = True
    return unknown_call(m, Unknown(), Args([model]))


def _whole(m: Machine, model: Value) -> Value:
    known = model if is_module(m, model) else module_of(m, model) if isinstance(model, Unknown) else None
    m.presume("this is a model with adapters")
    return known if known is not None else make_model(m)


def _set_all(m: Machine, model: Value, requires: bool | None) -> None:
    for _, value in members(m, model, "_parameters"):
        if isinstance(value, Ref):
            m.st.update(value.id, Tensor, lambda t: replace(t, requires_grad=requires))
