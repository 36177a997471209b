"""Which states are joined at once: those that autograd cannot tell apart.

if verbose:
    name = "long"     # another string: what follows is run once, for both
if flag:
    y = y.detach()    # another graph: the states are worth keeping apart
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from analyzers.domain.join import reach_of, some
from analyzers.domain.objects import (
    ClassObj,
    Counter,
    DictObj,
    Env,
    HeapObject,
    Instance,
    ListObj,
    Node,
    SetObj,
    Storage,
    Tensor,
)
from analyzers.domain.state import State, touched
from analyzers.domain.values import Const, Ref, Tup, Value
from analyzers.maps import Map

K = TypeVar("K")

APART = 2_000
"""Objects written since two states were one, from which on they are joined whatever they differ in: keeping long
stretches of a program apart costs time that grows with the square of their length."""


def interchangeable(a: State, b: State, is_kept: Callable[[int], bool]) -> bool:
    """Whether joining loses little: same modes, tensors, graph and flags, or too long apart to be told apart still.

    `is_kept` tells of counters and storages whether something kept how often they had been written: how often others
    were makes no difference.
    """
    if a.grad is not b.grad or a.inference is not b.inference:
        return False
    if a.heap is b.heap:
        return True
    ids = touched(a, b)
    if len(ids) > APART:
        return True
    for ident in ids:
        ours, theirs = a.find(ident), b.find(ident)
        if ours is theirs or ours is None or theirs is None:
            continue
        if not _alike(ours, theirs, a, b) and (is_kept(ident) or not isinstance(ours, Counter | Storage)):
            return False
    return True


def _alike(x: HeapObject, y: HeapObject, a: State, b: State) -> bool:
    if type(x) is not type(y):
        return False
    match x, y:
        case (Tensor(), Tensor()) | (Counter(), Counter()) | (Node(), Node()):
            return x == y
        case Storage(last=ours), Storage(last=theirs):
            # Where the last write stands is for the telling; that no counter saw it is not.
            return x.count == y.count and (ours and ours.hidden) == (theirs and theirs.hidden)
        case Env(), Env():
            return _maps_alike(x.vars, y.vars, a, b)
        case Instance(), Instance():
            return _maps_alike(x.attrs, y.attrs, a, b) and (a.is_library(x) or _same_flags(x, y))
        case ListObj(), ListObj():
            same = len(x.items) == len(y.items)
            return same and all(_values_alike(p, q, a, b) for p, q in zip(x.items, y.items, strict=True))
        case DictObj(), DictObj():
            same = x.rest == y.rest and x.kind == y.kind and x.factory == y.factory
            return same and _maps_alike(x.items, y.items, a, b)
    return x == y


def _same_flags(x: Instance, y: Instance) -> bool:
    """Whether an object has the same flags, unlike one whose mode is known on one way and not on the other."""
    flags = {name for held in (x.attrs, y.attrs) for name, value in held.items() if _is_flag(value)}
    return all(x.attrs.get(name) == y.attrs.get(name) for name in flags)


def _is_flag(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, bool)


def _is_inert(found: HeapObject | None) -> bool:
    """Whether which one of these it is makes no difference to a graph: a class, a device."""
    return isinstance(found, ClassObj) or (isinstance(found, Instance) and found.cls == "torch.device")


def _is_plain(found: HeapObject | None) -> bool:
    """Whether it is a container of numbers, strings and the like: settings, names."""
    match found:
        case ListObj(items=items, rest=rest) | SetObj(items=items, rest=rest):
            return not reach_of(*items, *some(rest))
        case DictObj(items=entries, rest=rest):
            return not reach_of(*entries.values(), *some(rest))
    return False


def _maps_alike(x: Map[K, Value], y: Map[K, Value], a: State, b: State) -> bool:
    if x is y:
        return True
    for name in {*x, *y}:
        p, q = x.get(name), y.get(name)
        if p is None or q is None:
            known = p if p is not None else q
            if isinstance(known, Ref):
                found = a.find(known.id) or b.find(known.id)
                if not (_is_inert(found) or _is_plain(found)):
                    return False
            continue
        if not _values_alike(p, q, a, b):
            return False
    return True


def _values_alike(p: Value, q: Value, a: State, b: State) -> bool:
    if p is q or p == q:
        return True
    match p, q:
        case Const(value=bool()), Const(value=bool()):
            return False
        case Ref(id=i), Ref(id=j):
            here, there = a.find(i), b.find(j)
            if _is_inert(here) and _is_inert(there):
                return True
            if _is_plain(here) and _is_plain(there) and a.find(j) is None and b.find(i) is None:
                return here is not None and there is not None and _alike(here, there, a, b)
            if isinstance(here, Tensor) and isinstance(there, Tensor):
                return (
                    here.requires_grad is False
                    and there.requires_grad is False
                    and a.find(j) is None
                    and b.find(i) is None
                    and here.base is None
                    and there.base is None
                )
            return False
        case (Ref(id=i), _) | (_, Ref(id=i)):
            return _is_inert(a.find(i) or b.find(i))
        case Tup(), Tup():
            return len(p.items) == len(q.items) and all(
                _values_alike(x, y, a, b) for x, y in zip(p.items, q.items, strict=True)
            )
        case (Tup(), _) | (_, Tup()):
            return False
    return True
