"""What methods that nobody knows return: of presumed models, and of the batches of a loader."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import is_module, weights
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.entries.likely_data import is_loaded, note_loaded, tensor_for, unfreeze
from analyzers.machine.objects.attributes import call_method
from analyzers.syntax.roles import computes


def of_batch(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What a method of a batch returns, `batch.pop("labels")`, is a part of it."""
    if not isinstance(func.symbol, tuple) or not is_loaded(m, func.symbol) or reach_of(*args.all()):
        return None
    part = Unknown(None, m.fresh(), m.trail("?", m.parents([func])), func.reach)
    note_loaded(m, part)
    return part


class PartsTaken:
    """By the symbols of what methods of models returned, these models."""

    def __init__(self) -> None:
        self.of: dict[object, int] = {}


def method_of_model(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What a method returns that nobody knows, if it computes as the model does: `vae.encode(x)`. So does what a method
    returns that is asked for a part, `model.get_input_embeddings()`, when it is called; and whatever a frozen model
    does with tensors. Any other may add parameters that learn: `unet.add_adapter(...)`."""
    taken = m.notebook(PartsTaken).of
    match func.symbol:
        case (int(owner), str(name)) if is_module(m, Ref(owner)):
            pass
        case symbol if symbol in taken:
            owner, name = taken[symbol], "forward"
        case _:
            return None
    if computes(name) or (_is_frozen(m, Ref(owner)) and any(_is_data(m, value) for value in args.pos)):
        likely = [_likely_tensor(m, value) for value in args.pos]
        if any(m.tensor(value) is not None for value in likely):
            return call_method(m, Ref(owner), "forward", Args(likely))
    if computes(name):
        return None
    if name.startswith("get_") and all(isinstance(value, Const) for value in args.all()):
        part = Unknown(None, m.fresh(), m.trail("?", m.parents([func])), func.reach)
        taken[part.symbol] = owner
        return part
    if not name.startswith(("save", "print", "push", "get_", "num_")):
        unfreeze(m, Ref(owner))
    return None


def _is_frozen(m: Machine, model: Ref) -> bool:
    return all(tensor_at(m, ident).requires_grad is False for ident in weights(m, model))


def _is_data(m: Machine, value: Value) -> bool:
    return m.tensor(value) is not None or (isinstance(value, Unknown) and is_loaded(m, value.symbol))


def _likely_tensor(m: Machine, value: Value) -> Value:
    found = tensor_for(m, value, keeps=True) if isinstance(value, Unknown) else None
    return value if found is None else found
