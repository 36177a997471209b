"""Saving tensors for backward, and saved-tensor hooks, which store something else instead.

with saved_tensors_hooks(pack, unpack):
    y = x.exp()           # saves pack(y), called at once
y.sum().backward()        # calls unpack on it; the version of `y` is not checked
"""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.join import NUMBERS
from analyzers.domain.objects import Saved, Storage, Tensor
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import keep, version_kept
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine


def packed(m: Machine, kept: Saved) -> Saved:
    """What is saved for a tensor."""
    if m.st.packing is None:
        return kept
    pack, unpack = m.st.packing
    given = Ref(kept.tensor) if kept.tensor is not None else m.unknown_tensor(requires_grad=False)
    if kept.maybe:
        unknown_call(m, pack, Args([given]))
        return kept
    value = m.in_mode(False, lambda: call(m, pack, Args([given])))
    return replace(kept, packed=value, unpack=unpack)


def perhaps_packed(m: Machine, operand: Value) -> Saved:
    """What is saved for an operand that is not, or may not be, a tensor: hooks do not see numbers."""
    is_number = isinstance(operand, Const) or (isinstance(operand, Unknown) and operand.type in NUMBERS)
    if m.st.packing is not None and not is_number:
        unknown_call(m, m.st.packing[0], Args([m.unknown_tensor(requires_grad=False)]))
    if isinstance(operand, Unknown):
        tensors = [found for ident in operand.reach if isinstance(found := m.st.find(ident), Tensor)]
        return replace(PRIVATE, among=tuple((found.counter, version_kept(m, found)) for found in tensors))
    return PRIVATE


def unpack(m: Machine, kept: Saved, certain: bool) -> None:
    """A backward unpacks what was saved."""
    if kept.unpack is None or kept.packed is None:
        return
    if certain:
        call(m, kept.unpack, Args([kept.packed]))
    else:
        unknown_call(m, kept.unpack, Args([kept.packed]))


def check_savable(m: Machine, ident: int) -> None:
    """Refuse to save an inference tensor for backward."""
    tensor = tensor_at(m, ident)
    if tensor.inference and m.st.inference is False:
        raise m.throw(
            "RuntimeError", "Inference tensors cannot be saved for backward.",
            Plain("inference", tensor.lineage),
        )  # fmt: skip


def save(
    m: Machine, ident: int, name: str, *, is_output: bool = False, maybe: bool = False, converted: bool = True
) -> Saved:
    """Save a tensor for backward, at its current version. `converted`: autocast may have put its own cast of an input
    in its place, if there is autocast."""
    tensor = tensor_at(m, ident)
    storage = m.st.get(tensor.storage)
    writes = storage.count if isinstance(storage, Storage) else 0
    if m.st.saved_hooks is not False or (m.st.casting == "?" and converted and not is_output):
        # Something else is stored.
        m.effect(keep, (tensor.storage,))
        return Saved(name, None, None, ident, is_output, tensor.storage, writes, maybe)
    placed = tensor.requires_grad is True and tensor.edge is not None and tensor.edge.node is not None
    return Saved(
        name, tensor.counter, version_kept(m, tensor), ident, is_output, tensor.storage, writes, maybe, False,
        tensor.lineage, placed and not is_output,
    )  # fmt: skip


PRIVATE = Saved("", None, None)
