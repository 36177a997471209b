"""What `load_state_dict` is passed, where it is one of several that hold the same memory."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, Tensor
from analyzers.domain.values import Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers


@answers("autograd_machine.alike")
def _alike(m: Machine, args: Args) -> Value:
    """One of the dicts that a value may be, if it makes no difference which: `best = net.state_dict()` of some round.

    None is none of them, as `load_state_dict` refuses it."""
    value = args.get(0, "state_dict")
    if not isinstance(value, Unknown) or value.symbol is not None or not value.reach:
        return value
    first, *others = (m.st.find(ident) for ident in value.reach)
    same = isinstance(first, DictObj) and all(isinstance(o, DictObj) and _is_same(m, first, o) for o in others)
    return Ref(value.reach[0]) if same else value


def _is_same(m: Machine, one: DictObj, other: DictObj) -> bool:
    if one.order != other.order or one.rest is not None or other.rest is not None:
        return False
    return all(_is_same_memory(m.tensor(one.items[key]), m.tensor(other.items[key])) for key in one.order)


def _is_same_memory(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and _place(one) == _place(other)


def _place(tensor: Tensor) -> tuple[object, ...]:
    return tensor.storage, tensor.shape, tensor.offset, tensor.strides
