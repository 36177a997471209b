"""`.grad`: reading it, and adding to it."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Node, Tensor
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.autograd.engine import GIVEN, Walk
from analyzers.machine.autograd.gradients import summed
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.tensor_arithmetic import Term
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import blur_tensor, bump
from analyzers.machine.core.causes import NoneGrad, Plain
from analyzers.machine.core.events import GradRead
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.ports import PORTS, Autograd
from analyzers.machine.core.signals import BackwardUnseen, GradientArrived, GradientRead, tell


def read_grad(m: Machine, ref: Ref, tensor: Tensor) -> Value:
    """`t.grad`: None if no gradient has arrived, which is recorded if `t` is not a leaf."""
    m.opaque()
    tensor = refreshed(m, ref.id)
    if tensor.grad == NONE:
        name = subject_name(m, ref)
        behind = (tensor.lineage,) if tensor.lineage is not None else ()
        trail = NoneGrad("none-grad", m.here(), behind, via=m.via(), name=name, tensor=tensor, ident=ref.id)
        expected = (m.extent.compared_with_none and tensor.is_leaf is not False) or m.frame.library
        if (
            tensor.requires_grad is not None
            and tensor.is_leaf is not None
            and tensor.retains_grad is False
            and not expected
        ):
            m.note(GradRead(m.site(), name, tensor, ref.id))
        if tensor.aliases or tensor.shared_grad or tensor.requires_grad is None:
            return Unknown("grad", reach=(ref.id,))
        return Const(None, trail)
    if not m.frame.library:
        tell(m, GradientRead(ref.id))
    return tensor.grad


def accumulate(m: Machine, leaf: int, certain: bool, create: truth.Truth, gradient: Value) -> None:
    """Add to a leaf's `.grad`; with `create`, out of place and keeping the gradient's graph."""
    m.opaque()
    tensor = tensor_at(m, leaf)
    if not (isinstance(gradient, Ref) or gradient == GIVEN):
        m.st.put(leaf, replace(tensor, grad=Unknown("grad", reach=(leaf,))))
        return
    if tensor.grad == NONE:
        if not certain:
            m.st.put(leaf, replace(tensor, grad=Unknown("grad", reach=(leaf,))))
            return
        grad = m.new_tensor(tensor.shape, tensor.dtype, lineage=trail(m, tensor, create))
        # It may be the incoming gradient itself, or a copy that has been written to.
        blur_tensor(m, grad.id)
        if create and isinstance(gradient, Ref):
            m.in_mode(True, lambda: Term(m, grad).method("copy_", Term(m, gradient)))
        elif create is not False:
            made = tensor_at(m, grad.id)
            made.requires_grad = None
            made.edge = Edge()
        m.st.put(leaf, replace(tensor_at(m, leaf), grad=grad))
        tell(m, GradientArrived(grad.id, tensor.storage, first=True))
        return
    if create and certain and isinstance(gradient, Ref) and m.tensor(tensor.grad) is not None:
        total = m.in_mode(True, lambda: (Term(m, tensor.grad) + Term(m, gradient)).value)
        m.st.put(leaf, replace(tensor_at(m, leaf), grad=total))
        return
    if isinstance(tensor.grad, Ref) and m.tensor(tensor.grad) is not None:
        if create is False:
            held = tensor_at(m, tensor.grad.id)
            if held.inference and m.st.inference is False and certain:
                raise m.throw(
                    "RuntimeError", "Inplace update to inference tensor outside InferenceMode is not allowed",
                    Plain("inference", held.lineage),
                )  # fmt: skip
            bump(m, tensor.grad.id, "backward")
            tell(m, GradientArrived(tensor.grad.id, tensor.storage, first=False))
        else:
            m.st.put(leaf, replace(tensor, grad=Unknown("grad", reach=(leaf, tensor.grad.id))))
    elif m.config.presumes and certain and create is False and leaf not in m.notebook(PresumedParameters).made:
        # Whatever was there before, a gradient is there now; that somebody else holds the same one is not presumed.
        grad = m.new_tensor(tensor.shape, tensor.dtype, lineage=trail(m, tensor, create))
        blur_tensor(m, grad.id)
        m.st.put(leaf, replace(tensor_at(m, leaf), grad=grad))
        tell(m, GradientArrived(grad.id, tensor.storage, first=True))


def note_sparse(m: Machine, leaf: int, came: truth.Truth, first: bool) -> None:
    """Record whether a leaf's gradient is now sparse."""
    held = tensor_at(m, leaf).grad
    found = m.tensor(held)
    if found is not None and isinstance(held, Ref):
        m.st.put(held.id, replace(found, sparse=came if first else summed(found.sparse, came)))


def trail(m: Machine, tensor: Tensor, create: truth.Truth) -> Lineage:
    """The trail of a tensor's gradient, which has a graph only if one is requested."""
    behind = (tensor.lineage,) if tensor.lineage is not None else ()
    return Lineage("grad", m.here(), behind, "no-grad" if create is False else None, m.via())


def keep_grad(m: Machine, ident: int) -> None:
    """What `retain_grad()` does, and `backward(inputs=...)` with each of its inputs."""
    tensor = refreshed(m, ident)
    if tensor.is_leaf is not True:
        m.st.put(ident, replace(tensor, retains_grad=True))
        m.retain(ident)


def retained(m: Machine, walk: Walk) -> None:
    """Fill the `.grad` of non-leaf tensors that retain their gradient."""
    for ident, tensor in m.retaining():
        if tensor.edge is None or tensor.edge.node not in walk.arriving:
            continue
        gradient = walk.arriving[tensor.edge.node].get(tensor.edge.output, NONE)
        if gradient == NONE:
            continue
        if tensor.retains_grad is None:
            m.st.put(ident, replace(tensor_at(m, ident), grad=Unknown("grad", reach=(ident,))))
            continue
        grad: Value = m.new_tensor(tensor.shape, tensor.dtype, lineage=trail(m, tensor, walk.create))
        if walk.create and isinstance(gradient, Ref):
            grad = m.in_mode(True, partial(_added, m, tensor.grad, gradient))
        m.st.put(ident, replace(tensor_at(m, ident), grad=grad))


def _added(m: Machine, old: Value, gradient: Value) -> Value:
    copied = Term(m, gradient).method("clone")
    return copied.value if old == NONE else (Term(m, old) + copied).value


def perhaps_filled(m: Machine, *, only_presumed: bool = False) -> None:
    """A backward may have reached leaves that the machine could not see it reach: all, or those that stand in for
    something unknown."""
    for ident, found in m.st.since(m.st.filled, Tensor):
        if found.presumed or not only_presumed:
            perhaps_leaf = found.edge is None or found.edge.node is None
            filled = with_gradient_perhaps(ident, found)
            if filled is not found and (perhaps_leaf or found.retains_grad is not False):
                m.st.put(ident, filled)
    if not only_presumed:
        m.st.filled = m.st.log


def filled_since_joined(m: Machine, leaves: Collection[int]) -> None:
    """Where ways met, tensors of each became one, which may be the leaf that a graph of one way leads to."""
    m.opaque()
    for ident in became_one(m, leaves):
        m.st.put(ident, with_gradient_perhaps(ident, tensor_at(m, ident)))


def became_one(m: Machine, leaves: Collection[int]) -> list[int]:
    """The other leaves that may be the same tensors as these, as where ways met one stands for both."""
    if m.st.became is None:
        return []
    became = m.st.became.by_leaf()
    found, seen = list(leaves), set(leaves)
    for leaf in found:
        fresh = [ident for ident in became.get(leaf, ()) if ident not in seen]
        seen.update(fresh)
        found += fresh
    return found[len(leaves) :]


def with_gradient_perhaps(ident: int, tensor: Tensor) -> Tensor:
    """A tensor that may have been given a gradient in the meantime."""
    if tensor.grad != NONE or tensor.requires_grad is False:
        return tensor
    return replace(tensor, grad=Unknown("grad", reach=(ident,)))


def blur_after_unknown(m: Machine, create: truth.Truth) -> None:
    """A backward ran through a graph that the machine cannot see: it may have reached and freed anything.

    With `create` it adds to a gradient out of place, so that those that were there may be other tensors now.
    """
    perhaps_filled(m)
    for ident, tensor in m.st.made(Tensor) if create is not False else ():
        if m.tensor(tensor.grad) is not None:
            m.st.put(ident, replace(tensor, grad=Unknown("grad", reach=(ident,))))
    tell(m, BackwardUnseen())
    for ident, found in m.st.since(m.st.freed, Node):
        if found.freed is False and (found.saved or found.kind != "op"):
            m.st.put(ident, replace(found, freed=None, freed_at=m.here(), freed_via=m.via()))
    m.st.freed = m.st.log


class Accumulation(Autograd):
    def walked_unseen(self, m: Machine) -> None:
        blur_after_unknown(m, False)


PORTS.autograd = Accumulation()
