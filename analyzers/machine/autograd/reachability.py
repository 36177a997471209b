"""What an unknown value may contain: known tensors that may have flowed into it."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.join import reach_of
from analyzers.domain.objects import (
    Array,
    DictObj,
    Env,
    Generator,
    HeapObject,
    Instance,
    Iterator,
    ListObj,
    SetObj,
    Tensor,
    by_name,
)
from analyzers.domain.values import Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.core.machine import Machine

MOST_MEMBERS = 4000
"""The most objects, or nodes, examined at once."""

MOST = 200
"""The most objects examined; anything larger may hold anything."""


_DATA = (Array, ListObj, DictObj, SetObj, Iterator, type(None))
"""What computes nothing."""


def may_lead_on(m: Machine, values: Iterable[Value]) -> bool:
    """Whether any of these is unknown and may have a graph that leads to a known tensor."""
    return _meets_graph(m, [i for v in values for unknown in _unknowns(m, v) for i in unknown.reach])


def was_given_graph(m: Machine, values: Iterable[Value]) -> bool:
    """Whether any of these is unknown, and what it may be made of has a graph; not one that nobody has seen made."""
    return _meets_graph(m, [i for v in values for unknown in _unknowns(m, v) for i in unknown.reach], made=True)


def holds_graph(m: Machine, idents: Iterable[int]) -> bool:
    """Whether any of these objects may have or hold a graph, or compute something that has one, as modules do."""
    return _meets_graph(m, idents, computed=True)


def holds_made_graph(m: Machine, idents: Iterable[int]) -> bool:
    """Whether any of these objects is or holds something that learns, or that has a graph."""
    return _meets_graph(m, idents, made=True)


def _meets_graph(m: Machine, idents: Iterable[int], *, computed: bool = False, made: bool = False) -> bool:
    """Whether the objects are or hold a tensor that may have a graph; with `computed`, whether they may make one; with
    `made`, only one that a known operation has begun counts."""
    stack = list(idents)
    seen: set[int] = set()
    while stack:
        ident = stack.pop()
        if ident in seen:
            continue
        seen.add(ident)
        found = m.st.find(ident)
        if isinstance(found, Tensor):
            tensor = refreshed(m, ident)
            begun = tensor.edge is not None and tensor.edge.node is not None
            if tensor.requires_grad or (tensor.requires_grad is None and (begun or not made)):
                return True
        elif len(seen) > MOST or (computed and not isinstance(found, _DATA)):
            return True
        elif found is not None:
            stack += held_by(found)
    return False


def tensors_held(m: Machine, idents: Iterable[int]) -> list[int]:
    """The tensors that the objects are or hold."""
    stack = list(idents)
    seen: dict[int, None] = {}
    while stack and len(seen) < MOST_MEMBERS:
        ident = stack.pop()
        found = m.st.find(ident)
        if ident not in seen and found is not None:
            seen[ident] = None
            stack += held_by(found)
    return [ident for ident in seen if isinstance(m.st.find(ident), Tensor)]


def _unknowns(m: Machine, value: Value) -> list[Unknown]:
    """The unknown tensors that an operand is, or holds as a list of operands."""
    held = m.obj(value)
    items: tuple[Value, ...] = (value,)
    if isinstance(held, ListObj):
        items = held.items if held.rest is None else (*held.items, held.rest)
    elif isinstance(value, Tup):
        items = value.items
    return [item for item in items if isinstance(item, Unknown) and item.type in {None, "tensor"}]


def held_by(found: HeapObject) -> list[int]:
    """The ids that an object holds in its attributes or items."""
    match found:
        case ListObj(items=items, rest=rest) | SetObj(items=items, rest=rest):
            values = [*items, *((rest,) if rest is not None else ())]
        case DictObj(values=entries, rest=rest):
            values = [*entries, *((rest,) if rest is not None else ())]
        case Iterator(source=source, items=items, rest=rest):
            values = [source, *(items or ()), *((rest,) if rest is not None else ())]
        case Instance(attrs=attrs) | Env(vars=attrs):
            values = [value for _, value in by_name(attrs)]
        case Generator(env=env):
            return [env]
        case _:
            return []
    return [i for value in values for i in reach_of(value)]


def tensors(m: Machine, values: Iterable[Value]) -> list[Tensor]:
    """The tensors that the values are or contain."""
    held = [m.st.find(ident) for ident in tensors_held(m, reach_of(*values))]
    return [found for found in held if isinstance(found, Tensor)]
