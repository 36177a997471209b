"""Layers that a container is given, and that nobody knows: a model stands for those."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, ListObj
from analyzers.domain.values import Const, Tup, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.program import says_nothing
from analyzers.machine.core.registries import answers
from analyzers.machine.entries.likely_models import make_model, set_trained, whole_of


@answers("autograd_machine.are_layers")
def _are_layers(m: Machine, args: Args) -> Value:
    """Whether what a container of layers is given is run as layers, and not as a dictionary of such: some of it nobody
    knows."""
    unknown = any(map(says_nothing, _given(m, args.get(0, "modules"))))
    m.record.unresolved.data = m.record.unresolved.data or (unknown and not m.config.presumes)
    return Const(unknown and m.config.presumes)


def _given(m: Machine, modules: Value) -> list[Value]:
    """The layers that a container is given, in a dictionary or not, first what stands for any number of them."""
    found = m.obj(modules)
    known = modules.items if isinstance(modules, Tup) else found.items if isinstance(found, ListObj) else ()
    named = m.obj(known[0]) if len(known) == 1 else None
    if isinstance(named, DictObj):
        found, known = named, tuple(value for _, value in named.entries)
    return [*([found.rest] if isinstance(found, ListObj | DictObj) and found.rest is not None else []), *known]


@answers("autograd_machine.layers")
def _layers(m: Machine, args: Args) -> Value:
    """What a container of layers is given, where nobody knows all of it: a network for what is not known."""
    given = args.get(0, "modules")
    items = _given(m, given)
    if not m.config.presumes or not any(map(says_nothing, items)):
        return given
    m.presume("its layers that are not known are a model")
    return Tup(tuple(_layer(m, item) if says_nothing(item) else item for item in items))


def _layer(m: Machine, part: Value) -> Value:
    """The model that something unknown is a part of, or one of which nothing says whether it learns."""
    whole = whole_of(m, part)
    if len(whole) == 1:
        return whole[0]
    model = make_model(m)
    set_trained(m, model, None)
    return model
