"""The steps of a training loop, as reported by the prelude's optimizers."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, Instance, ListObj, Tensor
from analyzers.domain.values import NONE, Const, Ref, Value
from analyzers.machine.autograd.trainables import all_known, parameters_of
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import ClipCall, OptimizerMade, ScalerCall, StepCall, ZeroCall
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import OptimizerDid, hears
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.observers.gradient_accumulation import Accumulated, held_by, use
from analyzers.machine.observers.misdirected_gradients import TargetNetworks
from analyzers.machine.observers.untrained_parameters import look

SCALER = {"note_scale": "scale", "note_unscale": "unscale", "note_scaled_step": "step"}


@hears(OptimizerDid)
def _note(m: Machine, signal: OptimizerDid) -> None:
    what, subject = signal.what, signal.subject
    if what == "note_clip":
        _note_clip(m, subject)
    if not isinstance(subject, Ref):
        return
    if what == "note_optimizer":
        parameters = tuple(parameters_of(m, subject))
        trails = m.parents([Ref(ident) for ident in parameters])
        m.notebook(TargetNetworks).trained.update(trails)
        m.record.trains = True
        m.note(OptimizerMade(m.site(), subject.id, parameters, all_known(m, subject), trails))
    elif what == "note_step":
        _note_step(m, subject)
    elif what == "note_zero":
        m.note(ZeroCall(m.site(), subject.id))
    elif what in SCALER:
        m.note(ScalerCall(m.site(), SCALER[what], subject.id))


def _note_step(m: Machine, optimizer: Ref) -> None:
    parameters = tuple(parameters_of(m, optimizer))
    step = StepCall(
        m.site(),
        optimizer.id,
        still=_stands_still(m, optimizer),
        parameters=parameters,
        known=all_known(m, optimizer),
    )
    mixtures: dict[tuple[Site, ...], int] = {}
    for ident in parameters:
        grad = _grad(m, ident)
        if grad == NONE:
            step.without_grad += 1
            continue
        if not isinstance(grad, Ref):
            step.unknown += 1
            continue
        found = use(m, grad.id)
        if found is not None and found.cleared is not None and not found.backwards:
            step.cleared += 1
            continue
        step.with_grad += 1
        if found is not None:
            mixtures.setdefault(found.backwards, ident)
    step.mixtures = tuple((parameter, sites) for sites, parameter in mixtures.items())
    m.note(step)
    look(m, optimizer)


def _stands_still(m: Machine, optimizer: Ref) -> bool:
    """Whether the learning rate of every group is zero."""
    found = m.obj(optimizer)
    groups = m.obj(found.attrs.get("param_groups", NONE)) if isinstance(found, Instance) else None
    if not isinstance(groups, ListObj) or groups.rest is not None or not groups.items:
        return False
    rates = [entries.items.get(Const("lr")) for g in groups.items if isinstance(entries := m.obj(g), DictObj)]
    return len(rates) == len(groups.items) and all(isinstance(r, Const) and r.value == 0 for r in rates)


def _note_clip(m: Machine, subject: Value) -> None:
    clip = ClipCall(m.site())
    stream = stream_of(m, subject)
    more = (stream.rest,) if m.config.presumes and m.tensor(stream.rest or NONE) is not None else ()
    clip.unknown = stream.rest is not None and not more
    for item in (*stream.items, *more):
        tensor = m.tensor(item)
        if tensor is None or not isinstance(item, Ref):
            clip.unknown = True
            continue
        clip.parameters += 1
        found = _held(m, item.id)
        if tensor.grad == NONE or (found is not None and not found.backwards):
            clip.without_grad += 1
        elif found is not None and found.used is not None:
            clip.used = found.used
        else:
            clip.fresh += 1
    m.note(clip)


def _grad(m: Machine, ident: int) -> Value:
    tensor = m.st.get(ident)
    return tensor.grad if isinstance(tensor, Tensor) else NONE


def _held(m: Machine, ident: int) -> Accumulated | None:
    grad = _grad(m, ident)
    return held_by(m, grad.id) if isinstance(grad, Ref) else None
