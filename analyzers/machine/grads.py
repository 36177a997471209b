"""Reading `.grad`, and what happens to a `.grad` that is None."""

from __future__ import annotations

from analyzers.domain.objects import Tensor
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.events import GradRead, GradTaken, NoneGrad, NoneGradUsed, Plain
from analyzers.machine.tensors import refreshed, subject_name


def read_grad(m: Machine, ref: Ref, tensor: Tensor) -> Value:
    """`t.grad`: None where nothing has arrived, which is noted when `t` is no leaf."""
    tensor = refreshed(m, ref.id)
    if tensor.grad == NONE:
        name = subject_name(m)
        behind = (tensor.lineage,) if tensor.lineage is not None else ()
        trail = NoneGrad("none-grad", m.here(), behind, via=m.via(), name=name, tensor=tensor, ident=ref.id)
        expected = (m.asks_for_none and tensor.is_leaf is not False) or m.frame.library
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
        take(m, ref.id)
    return tensor.grad


def take(m: Machine, leaf: int) -> None:
    """The program asks for the gradient of a leaf."""
    if leaf not in m.taken_gradients:
        m.taken_gradients.add(leaf)
        m.note(GradTaken(m.site(), leaf))


def none_used(m: Machine, value: Value, exception: str, message: str) -> PyRaise:
    """The exception that using None raises; told as a missing gradient where the None is one."""
    lineage = m.lineage(value)
    if isinstance(lineage, NoneGrad):
        return m.throw(exception, message, NoneGradUsed(lineage))
    return m.throw(exception, message, Plain("none", lineage)) if m.tolerant == 0 else PyRaise(exception, message)
