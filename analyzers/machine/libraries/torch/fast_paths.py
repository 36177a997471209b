"""Operations that the prelude applies to many parameters one by one, done at once for those that are known.

A parameter that may or may not have a gradient may have been written after a step, in a single state.

A function that is passed parameters returns those that are left, over which the prelude iterates itself; others return
whether it was done.
"""

from __future__ import annotations

from analyzers.domain.copies import replace
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
    """Write to each parameter of a group that has a gradient, a number of times, and to its state; record that it has
    state now."""
    optimizer, group, times = args.pos
    found, entry = m.obj(optimizer), m.obj(group)
    parameters = entry.items.get(Const("params"), NONE) if isinstance(entry, DictObj) else NONE
    if not isinstance(found, Instance) or not isinstance(times, Const):
        return parameters
    stepped = found.attrs.get("_stepped")
    kept = m.obj(stepped) if stepped is not None else None
    if not isinstance(stepped, Ref) or not isinstance(kept, DictObj):
        return parameters
    known, left = _known(m, parameters)
    items, order, rest, keys = kept.items, kept.order, kept.rest, kept.keys
    begin: list[Value] = []
    for parameter in known:
        gradient = _gradient(m, parameter)
        if gradient == NONE:
            continue
        states = _states_of(m, found, parameter)
        if states is None:
            begin.append(parameter)
            continue
        for state in states:
            blur_tensor(m, state.id)
        if isinstance(gradient, Ref):
            for _ in range(times.value if isinstance(times.value, int) else 1):
                bump(m, parameter.id, library_caller(m))
            order = order if parameter in items else (*order, parameter)
            items = items.set(parameter, group)
        else:
            # Written or not, with or without state.
            blur_tensor(m, parameter.id)
            rest, keys = Unknown(), None
    m.st.put(stepped.id, replace(kept, items=items, order=order, rest=rest, keys=keys))
    others = m.obj(left)
    if not begin or not isinstance(others, ListObj):
        return left
    return m.new(replace(others, items=(*begin, *others.items)))


def _states_of(m: Machine, optimizer: Instance, parameter: Ref) -> list[Ref] | None:
    """The tensors that an optimizer is known to keep of a parameter; None if it has shown its state, and has yet to
    begin with this one."""
    whole = optimizer.attrs.get("state")
    states = None if whole is None else m.obj(whole)
    if not isinstance(states, DictObj):
        return [] if whole is None or isinstance(whole, Unknown) else None
    state = states.items.get(parameter)
    if state is None:
        return None if states.rest is None else []
    kept = m.obj(state)
    if not isinstance(kept, DictObj):
        return [] if isinstance(state, Unknown) else None
    return [value for value in kept.values if isinstance(value, Ref) and m.tensor(value) is not None] or None


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


@answers("autograd_machine.perhaps_sparse")
def _perhaps_sparse(m: Machine, args: Args) -> Value:
    """Known gradients that are not sparse are left out."""
    known, left = _known(m, args.get(0, "parameters"))
    sparse: list[Value] = []
    for parameter in known:
        gradient = _gradient(m, parameter)
        if gradient == NONE:
            continue
        is_sparse = tensor_at(m, gradient.id).sparse if isinstance(gradient, Ref) else None
        if is_sparse is None:
            m.may_raise()
        sparse += [parameter] if is_sparse else []
    found = m.obj(left)
    if not isinstance(found, ListObj):
        return left
    return m.new(replace(found, items=(*sparse, *found.items)))


@answers("autograd_machine.clear_gradients")
def _clear_gradients(m: Machine, args: Args) -> Value:
    known, left = _known(m, args.get(0, "parameters"))
    for parameter in known:
        set_attribute(m, parameter, "grad", NONE)
    return left


@answers("autograd_machine.write_gradients")
def _write_gradients(m: Machine, args: Args) -> Value:
    known, left = _known(m, args.get(0, "parameters"))
    for parameter in known:
        gradient = _gradient(m, parameter)
        if isinstance(gradient, Ref):
            bump(m, gradient.id, library_caller(m))
    return left


@answers("autograd_machine.have_gradients")
def _have_gradients(m: Machine, args: Args) -> Value:
    """Whether any parameter has a gradient."""
    known, left = _known(m, args.get(0, "parameters"))
    gradients = [_gradient(m, parameter) for parameter in known]
    if any(isinstance(gradient, Ref) for gradient in gradients):
        return Const(True)
    others = m.obj(left)
    none = isinstance(others, ListObj) and not others.items and others.rest is None
    return Const(False) if none and all(gradient == NONE for gradient in gradients) else Unknown("bool")


@answers("autograd_machine.set_training")
def _set_training(m: Machine, args: Args) -> Value:
    """Set `training` on a module and all its submodules, if none of their classes defines `train` itself."""
    whole, mode = args.get(0, "module"), args.get(1, "mode")
    if unseen(m, whole) is not None and not m.config.presumes:
        return Const(False)  # an unknown part may be anything, and do anything when it is told
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
    known, left = _known(m, args.get(0, "parameters"))
    for parameter in known:
        call_method(m, parameter, "requires_grad_", Args([args.get(1, "requires_grad")]))
    return left


def _known(m: Machine, parameters: Value) -> tuple[list[Ref], Value]:
    """The elements of a list that are tensors, and a list of the others."""
    found = m.obj(parameters)
    if not isinstance(found, ListObj):
        return [], parameters
    tensors = [value for value in found.items if isinstance(value, Ref) and m.tensor(value) is not None]
    others = tuple(value for value in found.items if not isinstance(value, Ref) or m.tensor(value) is None)
    return tensors, m.new(replace(found, items=others))


def _gradient(m: Machine, parameter: Ref) -> Value:
    """A tensor, None, or unknown."""
    return read_grad(m, parameter, tensor_at(m, parameter.id))
