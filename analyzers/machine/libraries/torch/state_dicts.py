"""State dicts: made and loaded natively, as a model holds hundreds of tensors; and which of several was loaded.

The first two return whether it was done; if not, nothing has changed, and the prelude goes through the model itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import DictObj, Instance, SetObj, Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Const, Func, Ref, Unknown, Value
from analyzers.machine.autograd.trainables import members, unseen
from analyzers.machine.autograd.versions import bump
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import library_caller
from analyzers.machine.core.registries import answers
from analyzers.machine.core.signals import Loaded, tell
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import find_in_class


@answers("autograd_machine.fill_state")
def _fill_state(m: Machine, args: Args) -> Value:
    """Put the parameters and persistent buffers of a module and its parts into a dict, by dotted name."""
    module, destination, prefix, keep = args.pos
    found = m.obj(destination)
    if not isinstance(destination, Ref) or not isinstance(found, DictObj) or found.rest is not None:
        return FALSE
    if not isinstance(prefix, Const) or keep not in {TRUE, FALSE} or not _are_plain(m, module):
        return FALSE
    for name, tensor in _state(m, module, str(prefix.value)):
        kept = tensor if keep == TRUE else call_method(m, tensor, "detach", Args())
        found = m.st.get(destination.id)
        assert isinstance(found, DictObj)
        order = found.order if name in found.items else (*found.order, name)
        m.st.put(destination.id, replace(found, items=found.items.set(name, kept), order=order))
    more = unseen(m, module)
    if more is not None:
        m.st.update(destination.id, DictObj, lambda d: replace(d, rest=Unknown(None, None, None, reach_of(more))))
    return TRUE


def _are_plain(m: Machine, module: Value) -> bool:
    """Whether no part of a module that is known says itself what its state is."""
    for _, part in members(m, module, "_modules"):
        found = m.obj(part)
        own = find_in_class(m, found.cls, "state_dict") if isinstance(found, Instance) else None
        if not isinstance(own, Func) or not own.module.startswith("<"):
            return False
    return True


def _state(m: Machine, module: Value, prefix: str) -> Iterator[tuple[Const, Ref]]:
    """What a module and its parts hold; a part that stands in two places has two names."""
    found = m.obj(module)
    assert isinstance(found, Instance)
    left_out = m.obj(found.attrs.get("_non_persistent_buffers_set", NONE))
    unsaved = left_out.items if isinstance(left_out, SetObj) else ()
    for table in ("_parameters", "_buffers", "_modules"):
        held = m.obj(found.attrs.get(table, NONE))
        for key, value in held.entries if isinstance(held, DictObj) else ():
            if not isinstance(key, Const) or not isinstance(value, Ref):
                continue
            if table == "_modules":
                yield from _state(m, value, f"{prefix}{key.value}.")
            elif table == "_parameters" or key not in unsaved:
                yield Const(f"{prefix}{key.value}"), value


@answers("autograd_machine.load_state")
def _load_state(m: Machine, args: Args) -> Value:
    """Write to all parameters and buffers of a module, and note what of a known dict each parameter now follows."""
    module, given = args.pos
    found = m.obj(given)
    if isinstance(found, DictObj) and found.rest is not None:
        return FALSE
    for name, parameter in members(m, module, "_parameters"):
        if isinstance(found, DictObj) and Const(name) in found.items:
            tell(m, Loaded(parameter, found.items[Const(name)]))
    parts = [m.obj(part) for _, part in members(m, module, "_modules")]
    holders = [part.attrs.get(table, NONE) for part in parts if isinstance(part, Instance) for table in _HOLDERS]
    for held in map(m.obj, holders):
        for tensor in held.values if isinstance(held, DictObj) else ():
            if isinstance(tensor, Ref) and m.tensor(tensor) is not None:
                bump(m, tensor.id, library_caller(m))
    return TRUE


_HOLDERS = ("_parameters", "_buffers")


@answers("autograd_machine.alike")
def _alike(m: Machine, args: Args) -> Value:
    """One of the dicts that a value may be, if it makes no difference which: `best = net.state_dict()` of some round.

    None is none of them, as `load_state_dict` refuses it."""
    value = args.get(0, "state_dict")
    if not isinstance(value, Unknown) or value.symbol is not None or not value.reach:
        return value
    first, *others = (m.st.find(ident) for ident in value.reach)
    same = isinstance(first, DictObj) and all(isinstance(o, DictObj) and _is_same(m, first, o) for o in others)
    return Ref(value.reach[0]) if same else value


def _is_same(m: Machine, one: DictObj, other: DictObj) -> bool:
    if one.order != other.order or one.rest is not None or other.rest is not None:
        return False
    return all(_is_same_memory(m.tensor(one.items[key]), m.tensor(other.items[key])) for key in one.order)


def _is_same_memory(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and _place(one) == _place(other)


def _place(tensor: Tensor) -> tuple[object, ...]:
    return tensor.storage, tensor.shape, tensor.offset, tensor.strides
