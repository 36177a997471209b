"""What methods that nobody knows return: of presumed models, and of the batches of a loader."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import is_module, weights
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import note_given, own_object
from analyzers.machine.core.machine import Machine
from analyzers.machine.entries.likely_data import (
    Batches,
    is_batch,
    is_class_outside,
    is_loaded,
    note_batch,
    note_loaded,
    tensor_for,
    unfreeze,
)
from analyzers.machine.entries.likely_models import replace_head, stands_in
from analyzers.machine.objects.attributes import call_method
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import computes


def of_batch(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What a method of a batch returns, `batch.pop("labels")`, is a part of it."""
    if not isinstance(func.symbol, tuple) or not is_loaded(m, func.symbol) or reach_of(*args.all()):
        return None
    part = Unknown(None, m.fresh(), m.trail("?", m.parents([func])), func.reach)
    note_loaded(m, part)
    if func.symbol[-1] in {"get", "pop"}:
        note_batch(m, Unknown(None, func.symbol), [part])
    if func.symbol[-1] in {"items", "values"} and is_batch(m, func.symbol):
        m.notebook(Batches).listings.add(part.symbol)
    return part


def moved_to(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What `weights.to(other)` returns where `other` is a tensor: modules are moved to devices only."""
    if not isinstance(func.symbol, tuple) or func.symbol[-1] != "to":
        return None
    if not any(m.tensor(value) is not None for value in args.pos):
        return None
    likely = tensor_for(m, Unknown(None, func.symbol[0], func.lineage, func.reach), keeps=False)
    return None if likely is None else call_method(m, likely, "to", args)


class PartsTaken:
    """By the symbols of parts of models, these models: what a method returned, an item of `model.blocks`."""

    def __init__(self) -> None:
        self.of: dict[object, int] = {}


def note_part(m: Machine, value: Unknown, item: Unknown) -> bool:
    """Note that an item is a part of a model, if what is iterated over is."""
    owner = model_with(m, value.symbol) if m.config.presumes else None
    if owner is None or item.symbol is None:
        return False
    m.notebook(PartsTaken).of[item.symbol] = owner
    return True


def model_with(m: Machine, symbol: object) -> int | None:
    """The model that nobody knows of which an attribute, or an item of one, is a part."""
    taken = m.notebook(PartsTaken).of
    while isinstance(symbol, tuple) and symbol not in taken:
        if isinstance(symbol[0], int) and stands_in(m, Ref(symbol[0])):
            return symbol[0]
        symbol = symbol[0]
    return taken.get(symbol)


_KEEPING = (
    "buffers", "children", "compile", "disable_", "enable_input", "enable_model", "enable_sequential", "enable_slicing",
    "enable_tiling", "enable_xformers", "eval", "get_", "gradient_checkpointing", "modules", "named_", "num_",
    "parameters", "print", "push", "resize_", "save", "set_attn", "set_gradient", "set_grad_ch", "state_dict", "tie_",
)  # fmt: skip
"""How methods of libraries' models begin that change neither which parameters there are nor which of them learn."""


PART_HOOKS = {"register_forward_hook": "register_part_hook", "register_forward_pre_hook": "register_part_pre_hook"}
"""The methods of a part that give it hooks, and those of the whole that take them."""


def method_of_model(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What a method returns that nobody knows, if it computes as the model does: `vae.encode(x)`. So does what a method
    returns that is asked for a part, `model.get_input_embeddings()`, when it is called; and whatever a frozen model
    does with tensors. Any other may add parameters that learn: `unet.add_adapter(...)`."""
    taken = m.notebook(PartsTaken).of
    match func.symbol:
        case (int(owner), str(name)) if is_module(m, Ref(owner)):
            if any(own_object(m, frame) == Ref(owner) for frame in m.extent.frames):
                return None  # it is part of what the model computes, not the whole
        case symbol if (whole := model_with(m, symbol)) is not None:
            owner, last = whole, symbol[-1] if isinstance(symbol, tuple) else None
            name = last if isinstance(last, str) else "forward"
        case (_, str(name)) if name in PART_HOOKS and len(held := [i for i in func.reach if stands_in(m, Ref(i))]) == 1:
            [owner] = held  # `dict(model.named_modules())["layer4"].register_forward_hook(...)`
        case _:
            return None
    if name in PART_HOOKS:
        note_given(m, func, *args.all())
        return call_method(m, Ref(owner), PART_HOOKS[name], args)
    if computes(name) or (_is_frozen(m, Ref(owner)) and any(_is_data(m, value) for value in args.pos)):
        likely = [_likely_tensor(m, value) for value in args.pos]
        if any(m.tensor(value) is not None for value in likely):
            return call_method(m, Ref(owner), "forward", Args(likely, args.kw))
    if computes(name):
        return None
    if name == "reset_classifier" and func.symbol == (owner, name):  # timm's
        replace_head(m, Ref(owner))
        return NONE
    if name.startswith("get_") and all(isinstance(value, Const) for value in args.all()):
        asked = (func.symbol, tuple(args.all()))  # the same part each time
        part = Unknown(None, asked, m.trail("?", m.parents([func])), func.reach)
        taken[asked] = owner
        return part
    if not name.startswith(_KEEPING) and (_is_for_effect(m) or not args.pos):
        unfreeze(m, Ref(owner))
    return None


def doubt_frozen(m: Machine, func: Value, args: Args) -> None:
    """Whoever is passed a model in which nothing learns, and no data to compute with, may give it what does: adapters,
    a head. A class of a library is taken to keep it as it is."""
    given = list(args.all())
    if is_class_outside(func) or any(_is_data(m, value) for value in given):
        return
    for model in given:
        if isinstance(model, Ref) and is_module(m, model) and not stands_in(m, model) and _is_frozen(m, model):
            unfreeze(m, model)


def _is_for_effect(m: Machine) -> bool:
    """Whether the current statement uses no result: what computes is called for one."""
    return isinstance(m.frame.statement, n.ExprStmt)


def _is_frozen(m: Machine, model: Ref) -> bool:
    return all(tensor_at(m, ident).requires_grad is False for ident in weights(m, model))


def _is_data(m: Machine, value: Value) -> bool:
    return m.tensor(value) is not None or (isinstance(value, Unknown) and is_loaded(m, value.symbol))


def _likely_tensor(m: Machine, value: Value) -> Value:
    found = tensor_for(m, value, keeps=True) if isinstance(value, Unknown) else None
    return value if found is None else found
