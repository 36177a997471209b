"""Weights of models that nobody knows: `model.head.weight`, `model.get_input_embeddings().weight`."""

from __future__ import annotations

from dataclasses import replace

from analyzers.domain.objects import Tensor
from analyzers.domain.values import Ref, Unknown
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import weights
from analyzers.machine.core.machine import Machine
from analyzers.machine.entries.likely_data import is_weight, stand_in
from analyzers.machine.entries.likely_methods import model_with


def weight_for(m: Machine, value: Unknown) -> Ref | None:
    """The parameter that stands for a weight of a presumed model: one of those for which that model's own stands."""
    if not m.config.presumes or not is_weight(value.symbol):
        return None
    known = stand_in(m, value)
    if known is not None:
        return known
    model = model_with(m, value.symbol)
    many = weights(m, Ref(model)) if model is not None else []
    if not many:
        return None
    flags = {tensor_at(m, ident).requires_grad for ident in many}
    made = m.new_tensor(None, "float32", requires_grad=None, parameter=True, lineage=tensor_at(m, many[0]).lineage)
    requires = flags.pop() if len(flags) == 1 else None
    m.st.update(made.id, Tensor, lambda t: replace(t, requires_grad=requires, grad=Unknown(), aliases=tuple(many)))
    m.notebook(PresumedParameters).made.add(made.id)
    m.st.stand_ins = m.st.stand_ins.set(value.symbol, made.id)
    return made
