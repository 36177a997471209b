"""`copy`: deep copies with their memo, and shallow ones."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import (
    Array,
    Counter,
    DictObj,
    Env,
    Generator,
    Instance,
    Iterator,
    ListObj,
    SetObj,
    Storage,
    Tensor,
    by_name,
)
from analyzers.domain.values import NONE, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.views import check_readable
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers


@answers("copy.deepcopy", "autograd_machine.deepcopy")
def _deepcopy(m: Machine, args: Args) -> Value:
    memo: dict[int, Ref] = {}

    def copy(value: Value) -> Value:
        match value:
            case Tup(items=items):
                return replace(value, items=tuple(copy(i) for i in items))
            case Ref(id=ident):
                if ident in memo:
                    return memo[ident]
                return copy_object(value)
            case Unknown(reach=reach):
                return Unknown(value.type, None, value.lineage, reach)
        return value

    def copy_object(value: Ref) -> Value:
        found = m.st.get(value.id)
        match found:
            case Tensor():
                return copy_tensor(value, refreshed(m, value.id))
            case ListObj():
                made = m.new(found)
                memo[value.id] = made
                rest = copy(found.rest) if found.rest is not None else None
                m.st.put(made.id, replace(found, items=tuple(copy(i) for i in found.items), rest=rest))
                return made
            case DictObj():
                made = m.new(found)
                memo[value.id] = made
                items = Map({k: copy(v) for k, v in found.entries})
                rest = copy(found.rest) if found.rest is not None else None
                m.st.put(made.id, replace(found, items=items, rest=rest))
                return made
            case Instance():
                made = m.new(found)
                memo[value.id] = made
                attrs = Map({k: copy(v) for k, v in by_name(found.attrs)})
                m.st.put(made.id, Instance(found.cls, attrs, found.open))
                return made
            case SetObj():
                return m.new(replace(found, items=tuple(copy(i) for i in found.items)))
        return value

    def copy_tensor(value: Ref, tensor: Tensor) -> Value:
        check_readable(m, value.id, "deepcopy")
        if tensor.is_leaf is False:
            raise m.throw(
                "RuntimeError",
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",
                Plain("deepcopy", tensor.lineage),
            )  # fmt: skip
        storage, counter = m.fresh(), m.fresh()
        m.st.put(storage, Storage())
        m.st.put(counter, Counter(0 if tensor.parameter else 1))
        trail = Lineage("deepcopy", m.here(), (tensor.lineage,) if tensor.lineage else (), None, m.via())
        grad = copy(tensor.grad) if isinstance(tensor.grad, Ref) else tensor.grad
        if tensor.parameter:
            grad = NONE
        made = m.new(
            replace(
                tensor,
                storage=storage,
                counter=counter,
                base=None,
                creation="default",
                lineage=trail,
                grad=grad,
                aliases=(),
            )
        )
        memo[value.id] = made
        return made

    return copy(args.get(0, "x"))


@answers("copy.copy")
def _copy(m: Machine, args: Args) -> Value:
    value = args.get(0, "x")
    found = m.obj(value)
    if isinstance(found, Tensor) and isinstance(value, Ref):
        tensor = refreshed(m, value.id)
        cut: Cut | None = "leaf-copy" if tensor.requires_grad and tensor.is_leaf is False else None
        trail = Lineage("copy", m.here(), (tensor.lineage,) if tensor.lineage else (), cut, m.via())
        counter = m.fresh()
        m.st.put(counter, Counter())
        return m.new(
            replace(tensor, counter=counter, edge=None, base=None, creation="default", lineage=trail, grad=NONE)
        )
    if found is None or isinstance(found, Generator | Iterator | Array):
        return value
    if isinstance(found, Instance | ListObj | DictObj | SetObj | Env):
        return m.new(found)
    return value
