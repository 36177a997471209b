"""`requires_grad` and its kin: what may be switched on, and where torch refuses."""

from __future__ import annotations

import difflib
from dataclasses import replace

from analyzers.domain import truth
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Ref, Value
from analyzers.machine.core import Machine
from analyzers.machine.events import FlagOnNonLeaf, FlagSet, IntegerFlag, Misspelt, Rewrapped
from analyzers.machine.expressions import truth_of
from analyzers.machine.tensors import can_require_grad, refreshed, subject_name, tensor_at


def flag_new(m: Machine, ref: Ref, wants: Value) -> None:
    """`requires_grad=` of a factory; an `out=` that has a graph does not heed it."""
    on = truth_of(m, wants)[0]
    tensor = tensor_at(m, ref.id)
    if tensor.edge is not None:
        return
    if on and can_require_grad(tensor.dtype) is False:
        raise m.throw(
            "RuntimeError", "Only Tensors of floating point and complex dtype can require gradients",
            IntegerFlag(subject_name(m), tensor.dtype, tensor.lineage),
        )  # fmt: skip
    m.st.put(ref.id, replace(tensor, requires_grad=on, edge=None))
    if on:
        note_rewrapped(m, ref, tensor, "tensor")


def set_flag(m: Machine, ref: Ref, value: Value, *, method: bool) -> None:
    """`t.requires_grad = value` and `t.requires_grad_(value)`."""
    on = truth_of(m, value)[0]
    tensor = refreshed(m, ref.id)
    if on is not True and tensor.requires_grad is not False and tensor.is_leaf is False:
        if on is False:
            raise m.throw(
                "RuntimeError", "you can only change requires_grad flags of leaf variables",
                FlagOnNonLeaf(subject_name(m), tensor.lineage),
            )  # fmt: skip
        return
    if tensor.is_leaf is False:
        if not method:
            raise m.throw(
                "RuntimeError", "you can only change requires_grad flags of leaf variables",
                FlagOnNonLeaf(subject_name(m), tensor.lineage),
            )  # fmt: skip
        return
    if tensor.inference and m.st.inference is False and on:
        from analyzers.machine.events import Plain

        raise m.throw(
            "RuntimeError", "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
            Plain("inference", tensor.lineage),
        )  # fmt: skip
    if on and can_require_grad(tensor.dtype) is False:
        kinds = "floating point" if method else "floating point and complex"
        message = f"only Tensors of {kinds} dtype can require gradients"
        raise m.throw("RuntimeError", message, IntegerFlag(subject_name(m), tensor.dtype, tensor.lineage))
    was = tensor.requires_grad
    known: truth.Truth = on
    if tensor.is_leaf is None:
        known = True if on else None
    found = tensor_at(m, ref.id)
    if on is False:
        m.st.put(ref.id, replace(found, requires_grad=known, lineage=_frozen(m, found)))
    else:
        m.st.put(ref.id, replace(found, requires_grad=known))
    for alias in tensor.aliases:
        other = tensor_at(m, alias)
        m.st.put(alias, replace(other, requires_grad=truth.join(other.requires_grad, on)))
    if on and was is False and not m.frame.library:
        m.note(FlagSet(m.site(), ref.id, tensor.lineage))
    if on and was is False:
        note_rewrapped(m, ref, tensor, "flag")


def note_misspelt(m: Machine, attr: str, *, module: bool) -> None:
    """`t.require_grad = True` and `net.requires_grad = False` make attributes that nobody reads."""
    near = difflib.SequenceMatcher(None, attr, "requires_grad").ratio() > 0.85
    if not m.frame.library and near and (module or attr != "requires_grad"):
        m.note(Misspelt(m.site(), subject_name(m), attr, module))


def _frozen(m: Machine, tensor: Tensor) -> Lineage | None:
    if tensor.requires_grad is False:
        return tensor.lineage
    parents = (tensor.lineage,) if tensor.lineage is not None else ()
    return Lineage("requires_grad", m.here(), parents, "frozen", m.via())


def note_rewrapped(m: Machine, ref: Ref, tensor: Tensor, how: str) -> None:
    """A leaf made of what came out of a graph: remember it, in case somebody calls backward on it."""
    if tensor.lineage is None:
        return
    if any(step.cut is not None for step in tensor.lineage.walk(200)):
        found = tensor_at(m, ref.id)
        m.st.put(ref.id, replace(found, lineage=Lineage(how, m.here(), (tensor.lineage,), "rewrapped", m.via())))
        m.note(Rewrapped(m.site(), subject_name(m), tensor.lineage, how))
