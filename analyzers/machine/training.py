"""The steps of a training loop, as the optimizers of the prelude report them."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, Instance, ListObj, Tensor
from analyzers.domain.values import NONE, Const, Ref, Value
from analyzers.machine.core import Machine
from analyzers.machine.events import GradAccumulated, StepCall, ZeroCall


def parameters_of(m: Machine, optimizer: Value) -> list[int]:
    """The tensors in an optimizer's parameter groups."""
    items = [item for params in _groups(m, optimizer) for item in params.items]
    return [p.id for p in items if isinstance(p, Ref) and isinstance(m.obj(p), Tensor)]


def all_known(m: Machine, optimizer: Value) -> bool:
    """Whether nothing but known tensors is in an optimizer's parameter groups."""
    found = m.obj(optimizer)
    groups = m.obj(found.attrs["param_groups"]) if isinstance(found, Instance) else None
    if not isinstance(groups, ListObj) or groups.rest is not None:
        return False
    lists = _groups(m, optimizer)
    return len(lists) == len(groups.items) and all(
        params.rest is None and all(isinstance(m.obj(p), Tensor) for p in params.items) for params in lists
    )


def _groups(m: Machine, optimizer: Value) -> list[ListObj]:
    found = m.obj(optimizer)
    if not isinstance(found, Instance) or "param_groups" not in found.attrs:
        return []
    groups = m.obj(found.attrs["param_groups"])
    out: list[ListObj] = []
    for group in groups.items if isinstance(groups, ListObj) else ():
        entries = m.obj(group)
        params = m.obj(entries.items.get(Const("params"), NONE)) if isinstance(entries, DictObj) else None
        if isinstance(params, ListObj):
            out.append(params)
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
                _use(m, tensor.grad.id)
            else:
                unknown += 1
        m.note(StepCall(m.site(), subject.id, with_grad, without, unknown))
        from analyzers.machine.registration import look

        look(m, subject)
    elif what == "note_zero":
        fresh = []
        for ident in parameters_of(m, subject):
            tensor = m.st.get(ident)
            grad = tensor.grad if isinstance(tensor, Tensor) else NONE
            if isinstance(grad, Ref) and moment(m, grad.id) not in m.used_gradients:
                fresh.append(ident)
        m.note(ZeroCall(m.site(), subject.id, tuple(fresh)))


Moment = tuple[int, int | None]
"""A gradient, by heap id, at one version."""


def moment(m: Machine, grad: int) -> Moment:
    from analyzers.machine.tensors import version_of

    tensor = m.st.get(grad)
    return (grad, version_of(m, tensor) if isinstance(tensor, Tensor) else None)


def _use(m: Machine, grad: int) -> None:
    """A step reads a gradient: note it when an earlier step has read a part of it."""
    now = moment(m, grad)
    if now[1] is None:
        return
    stale = m.stale_gradients.get(now)
    if stale is not None:
        m.note(GradAccumulated(stale[0], stale[1], m.site()))
    m.used_gradients[now] = m.site()


def note_addition(m: Machine, grad: int, before: Moment) -> None:
    """A backward has added to a gradient: remember it when a step had used what was there."""
    after = moment(m, grad)
    used = m.used_gradients.get(before)
    if used is None and before in m.stale_gradients:
        used = m.stale_gradients[before][1]
    if used is not None and before[1] is not None and after[1] is not None:
        m.stale_gradients[after] = (m.site(), used)
