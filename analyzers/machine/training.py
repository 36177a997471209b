"""The steps of a training loop, as the optimizers of the prelude report them."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, Instance, ListObj, Tensor
from analyzers.domain.values import NONE, Const, Ref, Value
from analyzers.machine.core import Machine
from analyzers.machine.events import StepCall, ZeroCall


def parameters_of(m: Machine, optimizer: Value) -> list[int]:
    """The tensors in an optimizer's parameter groups."""
    found = m.obj(optimizer)
    if not isinstance(found, Instance) or "param_groups" not in found.attrs:
        return []
    groups = m.obj(found.attrs["param_groups"])
    out: list[int] = []
    if isinstance(groups, ListObj):
        for group in groups.items:
            entries = m.obj(group)
            params = m.obj(entries.items.get(Const("params"), NONE)) if isinstance(entries, DictObj) else None
            if isinstance(params, ListObj):
                out += [p.id for p in params.items if isinstance(p, Ref) and isinstance(m.obj(p), Tensor)]
    return out


def note(m: Machine, what: str, subject: Value) -> None:
    if not isinstance(subject, Ref):
        return
    if what == "note_step":
        with_grad = without = unknown = 0
        for ident in parameters_of(m, subject):
            tensor = m.st.get(ident)
            assert isinstance(tensor, Tensor)
            if tensor.grad == NONE:
                without += 1
            elif isinstance(tensor.grad, Ref):
                with_grad += 1
            else:
                unknown += 1
        m.note(StepCall(m.site(), subject.id, with_grad, without, unknown))
    elif what == "note_zero":
        m.note(ZeroCall(m.site(), subject.id, tuple(parameters_of(m, subject))))
