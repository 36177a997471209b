"""Weights of models that nobody knows: `model.head.weight`, `model.get_input_embeddings().weight`."""

from __future__ import annotations

import re

from analyzers.domain.copies import replace
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import weights
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import GUESSES, Guess
from analyzers.machine.core.signals import OwnAttributeSet, tell
from analyzers.machine.entries.likely_data import is_weight, stand_in
from analyzers.machine.entries.likely_methods import model_with
from analyzers.machine.libraries.torch.unknown_tensors import tensors_have
from analyzers.machine.objects.attributes import call_method


def weight_for(m: Machine, value: Unknown) -> Ref | None:
    """The parameter that stands for a weight of a presumed model: one of those for which that model's own stands."""
    if not m.config.presumes or not is_weight(value.symbol):
        return None
    known, model = stand_in(m, value), model_with(m, value.symbol)
    many = weights(m, Ref(model)) if model is not None else []
    flags = {tensor_at(m, ident).requires_grad for ident in many}
    if known is not None and flags == {False} and tensor_at(m, known.id).requires_grad is True:
        # The model was frozen since, or this weight was told to learn.
        m.st.update(known.id, Tensor, lambda t: replace(t, requires_grad=None))
    if known is not None or not many:
        return known
    made = m.new_tensor(None, "float32", requires_grad=None, parameter=True, lineage=tensor_at(m, many[0]).lineage)
    requires = flags.pop() if len(flags) == 1 else None
    m.st.update(made.id, Tensor, lambda t: replace(t, requires_grad=requires, grad=Unknown(), aliases=tuple(many)))
    m.notebook(PresumedParameters).made.add(made.id)
    m.st.stand_ins = m.st.stand_ins.set(value.symbol, made.id)
    return made


def held_for(m: Machine, value: Unknown) -> Ref | None:
    """What stands for an attribute of a presumed model that is used as a tensor: a parameter, or a buffer."""
    match value.symbol:
        case (_, str(name)) if m.config.presumes and not name.startswith("["):
            known = stand_in(m, value)
            if known is not None or model_with(m, value.symbol) is None:
                return known
            made = m.new_tensor(None, "float32", requires_grad=None, lineage=m.trail(name, ()))
            m.st.update(made.id, Tensor, lambda t: replace(t, grad=Unknown(), presumed=True))
            m.st.stand_ins = m.st.stand_ins.set(value.symbol, made.id)
            return made
    return None


_PARTS = re.compile(
    r"(?:\w+_)?(?:backbone|bert|blocks?|body|classifier|decoder|embeddings|encoder|extractor|fc|features|heads?|layers?|"
    r"model|neck|pooler|resnet|roberta|stem|transformer|trunk|unet|vae|vit)\d*"
)
"""Attributes of models that are modules, by the names that people give them."""


class PartGuess(Guess):
    """`model.encoder.requires_grad = False` sets an attribute of a module, and freezes nothing."""

    def set_attribute(self, m: Machine, owner: Unknown, name: str, value: Value) -> bool:
        match owner.symbol:
            case (_, str(part)) if name == "requires_grad" and m.config.presumes and _PARTS.fullmatch(part):
                if model_with(m, owner.symbol) is None:
                    return False
                m.presume(f"`{part}` is a module")
                tell(m, OwnAttributeSet(name, module=True))
                return True
        return False


GUESSES.insert(0, PartGuess())

_OF_MODULES = frozenset(
    {"bfloat16", "cpu", "cuda", "double", "float", "half", "requires_grad_", "share_memory_", "to", "type"}
)


def method_of_held(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What `model.scale.exp()` returns: only tensors have such a method, and it is passed nothing that computes."""
    match func.symbol:
        case ((_, str()) as owner, str(name)) if tensors_have(name) and name not in _OF_MODULES:
            if all(isinstance(value, Const) for value in args.all()):
                held = held_for(m, Unknown(None, owner, func.lineage, func.reach))
                return None if held is None else call_method(m, held, name, args)
    return None
