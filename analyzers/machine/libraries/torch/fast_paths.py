"""Operations that the prelude applies to many parameters one by one, done at once if all of these are known.

A parameter that may or may not have a gradient may have been written after a step, in a single state.

Each function here returns whether it was done; if not, nothing has changed, and the prelude iterates over the
parameters itself.
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.domain.objects import DictObj, Instance, ListObj
from analyzers.domain.values import NONE, Const, Func, Ref, Unknown, Value
from analyzers.machine.autograd.accumulation import read_grad
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import members, unseen
from analyzers.machine.autograd.versions import blur_tensor, bump
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import library_caller
from analyzers.machine.core.registries import answers
from analyzers.machine.objects.attributes import call_method, set_attribute
from analyzers.machine.objects.classes import find_in_class


@answers("autograd_machine.take_step")
def _take_step(m: Machine, args: Args) -> Value:
    """Write to each parameter of a group that has a gradient, a number of times, and record that it has state now."""
    optimizer, group, times = args.pos
    found, entry = m.obj(optimizer), m.obj(group)
    if not isinstance(found, Instance) or not isinstance(entry, DictObj) or not isinstance(times, Const):
        return Const(False)
    stepped = found.attrs.get("_stepped")
    kept = m.obj(stepped) if stepped is not None else None
    gradients = _gradients(m, entry.items.get(Const("params"), NONE))
    is_plain = found.attrs.get("_shown") == Const(False) and "state" not in found.attrs
    if gradients is None or not is_plain or not isinstance(stepped, Ref) or not isinstance(kept, DictObj):
        return Const(False)
    items, order, rest, keys = kept.items, kept.order, kept.rest, kept.keys
    for parameter, gradient in gradients:
        if isinstance(gradient, Ref):
            for _ in range(times.value if isinstance(times.value, int) else 1):
                bump(m, parameter.id, library_caller(m))
            order = order if parameter in items else (*order, parameter)
            items = items.set(parameter, group)
        elif gradient != NONE:
            # Written or not, with or without state.
            blur_tensor(m, parameter.id)
            rest, keys = Unknown(), None
    m.st.put(stepped.id, replace(kept, items=items, order=order, rest=rest, keys=keys))
    return Const(True)


@answers("autograd_machine.steps_unseen")
def _steps_unseen(m: Machine, args: Args) -> Value:
    """The same for all groups of an optimizer that unknown code may have changed: what is in them is written, and
    nobody knows what else."""
    [optimizer] = args.pos
    found = m.obj(optimizer)
    if not isinstance(found, Instance) or not isinstance(found.attrs.get("_differentiable"), Unknown):
        return Const(False)
    m.record.imprecisions += 1
    groups = m.obj(found.attrs.get("param_groups", NONE))
    entries = [m.obj(group) for group in groups.items] if isinstance(groups, ListObj) else []
    for entry in entries:
        held = m.obj(entry.items.get(Const("params"), NONE)) if isinstance(entry, DictObj) else None
        for parameter in held.items if isinstance(held, ListObj) else ():
            tensor = m.tensor(parameter)
            if isinstance(parameter, Ref) and tensor is not None and isinstance(read_grad(m, parameter, tensor), Ref):
                bump(m, parameter.id, library_caller(m))
    havoc_value(m, optimizer)
    return Const(True)


@answers("autograd_machine.none_surely_sparse")
def _none_surely_sparse(m: Machine, args: Args) -> Value:
    gradients = _gradients(m, args.get(0, "parameters"))
    if gradients is None:
        return Const(False)
    sparse = [tensor_at(m, g.id).sparse if isinstance(g, Ref) else None for _, g in gradients if g != NONE]
    if None in sparse:
        m.record.imprecisions += 1
    return Const(True not in sparse)


@answers("autograd_machine.clear_gradients")
def _clear_gradients(m: Machine, args: Args) -> Value:
    parameters = _tensors(m, args.get(0, "parameters"))
    for parameter in parameters or ():
        set_attribute(m, parameter, "grad", NONE)
    return Const(parameters is not None)


@answers("autograd_machine.write_gradients")
def _write_gradients(m: Machine, args: Args) -> Value:
    gradients = _gradients(m, args.get(0, "parameters"))
    for _, gradient in gradients or ():
        if isinstance(gradient, Ref):
            bump(m, gradient.id, library_caller(m))
    return Const(gradients is not None)


@answers("autograd_machine.set_training")
def _set_training(m: Machine, args: Args) -> Value:
    """Set `training` on a module and all its submodules, if none of their classes defines `train` itself."""
    whole, mode = args.get(0, "module"), args.get(1, "mode")
    if unseen(m, whole) is not None:
        return Const(False)
    modules = [value for _, value in members(m, whole, "_modules")]
    for module in modules:
        found = m.obj(module)
        train = find_in_class(m, found.cls, "train") if isinstance(found, Instance) else None
        if not isinstance(train, Func) or not train.module.startswith("<"):
            return Const(False)
    for module in modules:
        set_attribute(m, module, "training", mode)
    return Const(True)


@answers("autograd_machine.set_requires_grad")
def _set_requires_grad(m: Machine, args: Args) -> Value:
    parameters = _tensors(m, args.get(0, "parameters"))
    for parameter in parameters or ():
        call_method(m, parameter, "requires_grad_", Args([args.get(1, "requires_grad")]))
    return Const(parameters is not None)


def _tensors(m: Machine, parameters: Value) -> list[Ref] | None:
    """The elements of a list of tensors; None if there may be more."""
    found = m.obj(parameters)
    if not isinstance(found, ListObj) or found.rest is not None:
        return None
    tensors = [value for value in found.items if isinstance(value, Ref) and m.tensor(value) is not None]
    return tensors if len(tensors) == len(found.items) else None


def _gradients(m: Machine, parameters: Value) -> list[tuple[Ref, Value]] | None:
    """The elements of a list of tensors, with their gradients: a tensor, None, or unknown."""
    tensors = _tensors(m, parameters)
    if tensors is None:
        return None
    return [(parameter, read_grad(m, parameter, tensor_at(m, parameter.id))) for parameter in tensors]
