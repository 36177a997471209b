"""`copy`: deep copies with their memo, and shallow ones."""

from __future__ import annotations

from analyzers.domain.copies import replace
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
from analyzers.domain.values import NONE, Method, Partial, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.views import check_readable
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers
from analyzers.machine.objects.classes import find_in_class
from analyzers.maps import Map

_COPIED_BY = ("__setstate__", "__reduce__", "__reduce_ex__")
"""The methods by which a class gives a copy what it likes."""


class _Copier:
    """Copies each object once, no matter how often it occurs."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.memo: dict[int, Ref] = {}

    def copy(self, value: Value) -> Value:
        match value:
            case Tup(items=items):
                return replace(value, items=tuple(self.copy(i) for i in items))
            case Ref(id=ident):
                if ident in self.memo:
                    return self.memo[ident]
                return self._object(value)
            case Method(receiver=receiver):
                return replace(value, receiver=self.copy(receiver))
            case Partial(func=func, args=args, kwargs=kwargs):
                named = tuple((name, self.copy(given)) for name, given in kwargs)
                return Partial(self.copy(func), tuple(self.copy(given) for given in args), named)
            case Unknown(reach=reach):
                return Unknown(value.type, None, value.lineage, reach)
        return value

    def _object(self, value: Ref) -> Value:
        found = self.m.st.get(value.id)
        match found:
            case Tensor():
                return self._tensor(value, refreshed(self.m, value.id))
            case ListObj():
                made = self.m.new(found)
                self.memo[value.id] = made
                rest = self.copy(found.rest) if found.rest is not None else None
                self.m.st.put(made.id, replace(found, items=tuple(self.copy(i) for i in found.items), rest=rest))
                return made
            case DictObj():
                made = self.m.new(found)
                self.memo[value.id] = made
                items = Map({k: self.copy(v) for k, v in found.entries})
                rest = self.copy(found.rest) if found.rest is not None else None
                self.m.st.put(made.id, replace(found, items=items, rest=rest))
                return made
            case Instance():
                made = self.m.new(found)
                self.memo[value.id] = made
                attrs = Map({k: self.copy(v) for k, v in by_name(found.attrs)})
                own = any(find_in_class(self.m, found.cls, way) is not None for way in _COPIED_BY)
                self.m.st.put(made.id, Instance(found.cls, attrs, found.open or own))
                return made
            case SetObj():
                made = self.m.new(replace(found, items=tuple(self.copy(i) for i in found.items)))
                self.memo[value.id] = made
                return made
        return value

    def _tensor(self, value: Ref, tensor: Tensor) -> Value:
        check_readable(self.m, value.id, "deepcopy")
        if tensor.is_leaf is False:
            raise self.m.throw(
                "RuntimeError",
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",
                Plain("deepcopy", tensor.lineage),
            )  # fmt: skip
        storage, counter = self.m.fresh(), self.m.fresh()
        self.m.st.put(storage, Storage())
        self.m.st.put(counter, Counter(0 if tensor.parameter else 1))
        trail = Lineage("deepcopy", self.m.here(), (tensor.lineage,) if tensor.lineage else (), None, self.m.via())
        grad = self.copy(tensor.grad) if isinstance(tensor.grad, Ref) else tensor.grad
        self.m.st.part(value.id, "grad")
        if tensor.parameter:
            grad = NONE
        made = self.m.new(
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
        self.memo[value.id] = made
        return made


@answers("copy.deepcopy", "autograd_machine.deepcopy")
def _deepcopy(m: Machine, args: Args) -> Value:
    return _Copier(m).copy(args.get(0, "x"))


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
