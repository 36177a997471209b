"""Hooks on saved tensors: what a program wants kept in the place of what a node saves.

with saved_tensors_hooks(pack, unpack):
    y = x.exp()           # keeps pack(y), called at once
y.sum().backward()        # calls unpack on it; the version of `y` is not looked at
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.domain.join import NUMBERS
from analyzers.domain.objects import Saved
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.calls import Args, call, unknown_call
from analyzers.machine.core import Machine
from analyzers.machine.tensors import PRIVATE


def packed(m: Machine, kept: Saved) -> Saved:
    """What is kept of a tensor about to be saved."""
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
    """What is kept of an operand that is no tensor, or not known to be one: hooks are not shown a number."""
    is_number = isinstance(operand, Const) or (isinstance(operand, Unknown) and operand.type in NUMBERS)
    if m.st.packing is not None and not is_number:
        unknown_call(m, m.st.packing[0], Args([m.unknown_tensor(requires_grad=False)]))
    return PRIVATE


def unpack(m: Machine, kept: Saved, certain: bool) -> None:
    """A backward asks for what was kept."""
    if kept.unpack is None or kept.packed is None:
        return
    if certain:
        call(m, kept.unpack, Args([kept.packed]))
    else:
        unknown_call(m, kept.unpack, Args([kept.packed]))
