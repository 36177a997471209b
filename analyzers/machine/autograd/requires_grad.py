"""The `requires_grad` flag: setting it, and when torch refuses to."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Node, Tensor
from analyzers.domain.renaming import Rounds
from analyzers.domain.values import Ref
from analyzers.machine.autograd.graph import operand, refreshed, requires_grad_of
from analyzers.machine.autograd.partly_frozen import note_partly_frozen
from analyzers.machine.autograd.tensors import can_require_grad, stands_for_many, tensor_at
from analyzers.machine.core.causes import FlagOnNonLeaf, IntegerFlag, Plain
from analyzers.machine.core.events import FlagSet, Rewrapped
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name


def flag_new(m: Machine, ref: Ref, on: truth.Truth) -> None:
    """`requires_grad=` of a factory; ignored if an `out=` tensor has a graph."""
    tensor = tensor_at(m, ref.id)
    if tensor.edge is not None:
        return
    if on and can_require_grad(tensor.dtype) is False:
        raise m.throw(
            "RuntimeError", "Only Tensors of floating point and complex dtype can require gradients",
            IntegerFlag("", tensor.dtype, tensor.lineage),
        )  # fmt: skip
    m.st.put(ref.id, replace(tensor, requires_grad=on, edge=None))
    if on:
        note_rewrapped(m, ref, tensor, "tensor")


def _is_picking(m: Machine, rounds: Rounds) -> bool:
    return rounds.of in m.extent.picking


def set_flag(m: Machine, ref: Ref, on: truth.Truth, *, method: bool) -> None:
    """`t.requires_grad = value` and `t.requires_grad_(value)`."""
    tensor = _as_last_regenerated(m, ref.id)
    if stands_for_many(m, tensor) and m.test(_is_picking, Rounds(tuple(m.extent.iterations))):
        # A loop that picks some of them, by name, by number: those it leaves are as they were.
        on = truth.join(tensor.requires_grad, on)
    if on is None and stands_for_many(m, tensor):
        note_partly_frozen(m, ref.id)
    if tensor.presumed and tensor.is_leaf is False:
        return  # that it is a result is presumed, and the program says otherwise
    if on is not True and tensor.requires_grad is not False and tensor.is_leaf is False:
        if on is False:
            raise m.throw(
                "RuntimeError", "you can only change requires_grad flags of leaf variables",
                FlagOnNonLeaf(subject_name(m, ref), tensor.lineage),
            )  # fmt: skip
        return
    if tensor.is_leaf is False:
        if not method:
            raise m.throw(
                "RuntimeError", "you can only change requires_grad flags of leaf variables",
                FlagOnNonLeaf(subject_name(m, ref), tensor.lineage),
            )  # fmt: skip
        return
    if tensor.inference and m.st.inference is False and on:
        raise m.throw(
            "RuntimeError", "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
            Plain("inference", tensor.lineage),
        )  # fmt: skip
    if on and can_require_grad(tensor.dtype) is False:
        kinds = "floating point" if method else "floating point and complex"
        message = f"only Tensors of {kinds} dtype can require gradients"
        raise m.throw("RuntimeError", message, IntegerFlag(subject_name(m, ref), tensor.dtype, tensor.lineage))
    was = requires_grad_of(m, ref.id)
    known: truth.Truth = on
    found = tensor_at(m, ref.id)
    edge = found.edge
    if tensor.is_leaf is None:
        known = True if on else None
        edge = _leaf_or_not(m, ref, edge) if method else None
    lineage = _frozen(m, found) if on is False else found.lineage
    m.st.put(ref.id, replace(found, requires_grad=known, edge=edge, lineage=lineage))
    for alias in tensor.aliases:
        other = tensor_at(m, alias)
        m.st.put(alias, replace(other, requires_grad=truth.join(other.requires_grad, on)))
    if on and was is False:
        m.note(FlagSet(m.site(), ref.id, tensor.lineage))
        note_rewrapped(m, ref, tensor, "flag")


def _as_last_regenerated(m: Machine, ident: int) -> Tensor:
    """A tensor as torch's setters see it: a view whose base was written and put in a graph stays a leaf to them until
    its `grad_fn` is read or it is used."""
    tensor = tensor_at(m, ident)
    is_open = tensor.edge is None or tensor.requires_grad is None
    return tensor if tensor.base is not None and is_open else refreshed(m, ident)


def _leaf_or_not(m: Machine, ref: Ref, edge: Edge | None) -> Edge | None:
    """The edge of what `requires_grad_()` made a leaf, or left as the result that it was: to a node that leads to both.

    An assignment to `requires_grad` has no such doubt: it raises unless the tensor is a leaf.
    """
    if edge is None:
        return None
    ways = (replace(edge, maybe=True), Edge(leaf=ref.id, maybe=True))
    node = Node(
        (), ways, kind="unknown", loc=m.here(), what="requires_grad_", seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations), via=m.via(), operands=(operand(m, ref.id), operand(m, ref.id)),
    )  # fmt: skip
    return Edge(m.new(node).id, maybe=True)


def _frozen(m: Machine, tensor: Tensor) -> Lineage | None:
    if tensor.requires_grad is False:
        return tensor.lineage
    parents = (tensor.lineage,) if tensor.lineage is not None else ()
    return Lineage("requires_grad", m.here(), parents, "frozen", m.via())


def note_rewrapped(m: Machine, ref: Ref, tensor: Tensor, how: str) -> None:
    """Record a leaf made from something that came out of a graph, in case backward is called on it."""
    if tensor.lineage is None:
        return
    if any(step.cut is not None for step in tensor.lineage.walk(200)):
        found = tensor_at(m, ref.id)
        m.st.put(ref.id, replace(found, lineage=Lineage(how, m.here(), (tensor.lineage,), "rewrapped", m.via())))
        m.note(Rewrapped(m.site(), subject_name(m, ref), tensor.lineage, how))
