"""Facts: what is known about the tensor that a statement binds to a name, over all its visits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from analyzers.domain import truth
from analyzers.domain.join import join_shapes
from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import ClassObj, Counter, Instance, Shape, by_name
from analyzers.domain.renaming import Version
from analyzers.domain.truth import Truth
from analyzers.domain.values import Func, Ref, Unknown
from analyzers.machine.autograd.graph import grad_fn_names, refreshed
from analyzers.machine.autograd.trainables import members
from analyzers.machine.core.events import Binding, Hidden
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.signals import CalledUnseen, GivenAway, Named, hears


@hears(Named)
def _named(m: Machine, signal: Named) -> None:
    """Record what is known about a tensor that was just bound to a name."""
    value, name = signal.value, signal.name
    loc = m.loc_of(signal.frame, signal.statement)
    if isinstance(value, Unknown) and value.type in (None, "grad", "tensor"):
        m.effect(_hide, (loc, name, signal.frame.qualname, value.lineage))
    if not isinstance(value, Ref) or m.tensor(value) is None:
        return
    tensor = refreshed(m, value.id)
    names = grad_fn_names(m, tensor)
    counter = m.st.get(tensor.counter)
    at = Version(tensor.counter, counter.version if isinstance(counter, Counter) else None)
    known = (tensor.requires_grad, tensor.is_leaf, names, tensor.shape, tensor.dtype)
    m.effect(_add, (loc, name, signal.frame.qualname, known, at, tensor.lineage))


def _hide(m: Machine, hidden: tuple[Loc, str, str, Lineage | None]) -> None:
    loc, name, scope, lineage = hidden
    _forget(m, loc, name)
    m.record.hidden_facts[loc, name] = Hidden(scope, lineage)


Known: TypeAlias = "tuple[Truth, Truth, tuple[str, ...] | None, Shape, str | None]"
"""Whether a tensor requires grad and is a leaf, the names of its `grad_fn`, its shape and dtype."""


def _add(m: Machine, fact: tuple[Loc, str, str, Known, Version, Lineage | None]) -> None:
    """Add what is known on one visit to what is known over all."""
    loc, name, scope, (requires_grad, is_leaf, names, shape, dtype), at, lineage = fact
    old = m.record.bindings.get((loc, name))
    if old is None:
        m.record.bindings[loc, name] = Binding(
            loc, scope, name, requires_grad, is_leaf, names, shape, dtype, at.version, lineage
        )
        if (loc, name) in m.record.hidden_facts:
            _forget(m, loc, name)
        return
    old.requires_grad = truth.join(old.requires_grad, requires_grad)
    old.is_leaf = truth.join(old.is_leaf, is_leaf)
    if old.grad_fn is None or names is None:
        old.grad_fn = None
    else:
        old.grad_fn = tuple(sorted({*old.grad_fn, *names})) if old.grad_fn and names else _mixed(old.grad_fn, names)
    old.shape = join_shapes(old.shape, shape)
    old.dtype = old.dtype if old.dtype == dtype else None
    old.version = old.version if old.version == at.version else None


@hears(CalledUnseen)
def _called_unseen(m: Machine, signal: CalledUnseen) -> None:
    """What they bind on that call nobody sees."""
    for func in signal.functions:
        _visited_unseen(m, func)
    for ident in signal.reach:
        _object_used(m, Ref(ident), signal.methods)


@hears(GivenAway)
def _given_away(m: Machine, signal: GivenAway) -> None:
    """What it calls is visited on calls that nobody sees. Its own bindings are those of the calls that are seen."""
    func = signal.func
    key = (func.module, func.qualname)
    if key in m.record.given_away or key in m.record.visited_unseen:
        return
    m.record.given_away.add(key)
    _visited_unseen(m, func)
    m.record.visited_unseen.discard(key)


def _visited_unseen(m: Machine, func: Func) -> None:
    """A function, and all that it may call."""
    if (func.module, func.qualname) in m.record.visited_unseen:
        return
    functions, objects = PORTS.python.reached_from(m, func)
    m.record.visited_unseen |= {(reached.module, reached.qualname) for reached in functions}
    for named in objects:
        _object_used(m, named, ())


def _object_used(m: Machine, value: Ref, methods: tuple[str, ...]) -> None:
    """Any method of an object, of the parts of a module, or of the instances of a class; if `methods` are named, only
    where it has one of those."""
    given = m.obj(value)
    if not isinstance(given, Instance | ClassObj) or m.record.used.get((value.id, methods)) is given:
        return
    m.record.used[value.id, methods] = given
    is_module = isinstance(given, Instance) and "_modules" in given.attrs
    for part in [part for _, part in members(m, value, "_modules")] if is_module else [value]:
        found = m.obj(part)
        cls = m.st.find(found.cls) if isinstance(found, Instance) and isinstance(found.cls, int) else found
        if not isinstance(cls, ClassObj) or (cls.module, cls.qualname) in m.record.visited_unseen:
            continue
        own = list(_written(m, cls))
        if not methods or any(name in one.attrs for one in own for name in methods):
            m.record.visited_unseen |= {(one.module, one.qualname) for one in own}
            for one in own:
                for _, method in by_name(one.attrs):
                    if isinstance(method, Func):
                        _visited_unseen(m, method)


def _written(m: Machine, cls: ClassObj) -> Iterator[ClassObj]:
    """A class and those that it inherits from, as far as they are of the program."""
    for ancestor in cls.ancestry:
        found = m.st.find(ancestor) if isinstance(ancestor, int) else None
        if isinstance(found, ClassObj) and not found.module.startswith("<"):
            yield found


def bindings_of(m: Machine) -> tuple[Binding, ...]:
    """What is known over all visits, once the run is over."""
    for (loc, name), binding in m.record.bindings.items():
        scopes = (binding.scope, binding.scope.rpartition(".")[0])
        if any((loc.module, scope) in m.record.visited_unseen for scope in scopes):
            _forget(m, loc, name)
    return tuple(m.record.bindings.values())


def _forget(m: Machine, loc: Loc, name: str) -> None:
    """Anything may have been bound on this visit, so nothing holds for all visits."""
    m.record.hidden_facts.setdefault((loc, name), None)
    old = m.record.bindings.get((loc, name))
    if old is not None:
        old.requires_grad = old.is_leaf = old.grad_fn = old.shape = old.dtype = old.version = None


def _mixed(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names seen on different visits; nothing can be claimed if there is a graph on one and none on another."""
    return a if a == b else None
