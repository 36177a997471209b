"""What an unknown callee may have done to what it was handed: written to it, rebound it, run a backward through it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from immutables import Map

from analyzers.domain.join import reach_of
from analyzers.domain.objects import (
    Array,
    ClassObj,
    DictObj,
    Env,
    HeapObject,
    Instance,
    Iterator,
    ListObj,
    Node,
    SetObj,
    Tensor,
    by_name,
)
from analyzers.domain.values import NONE, BoundBuiltin, Const, Func, Method, Partial, Ref, Unknown, Value
from analyzers.machine.core import Machine
from analyzers.machine.events import OptimizerEscaped
from analyzers.machine.uses import met, met_from
from analyzers.syntax.nodes import FunctionDef, Lambda, Name, walk

K = TypeVar("K")


def havoc_value(m: Machine, value: Value, seen: set[int] | None = None) -> None:
    seen = set() if seen is None else seen
    match value:
        case Func():
            _havoc_captured(m, value)
        case Method(func=func, receiver=receiver):
            _havoc_captured(m, func)
            havoc_value(m, receiver, seen)
        case BoundBuiltin(receiver=receiver):
            havoc_value(m, receiver, seen)
        case Partial(func=func, args=args, kwargs=kwargs):
            for part in (func, *args, *(v for _, v in kwargs)):
                havoc_value(m, part, seen)
        case _:
            for ident in reach_of(value):
                if ident not in seen:
                    havoc_object(m, ident, seen)


def havoc_object(m: Machine, ident: int, seen: set[int]) -> None:
    if ident in seen or len(seen) > 4000:
        return
    seen.add(ident)
    found = m.st.find(ident)
    match found:
        case Tensor():
            if m.forgets == "state" if found.parameter else m.presumes:
                met_from(m, [found])
            else:
                _havoc_tensor(m, ident, found, seen)
        case ListObj(items=items, rest=rest):
            for item in (*items, *_some(rest)):
                havoc_value(m, item, seen)
            if found.kind != "fixed":
                anything = Unknown(None, None, None, reach_of(*items, *_some(rest)))
                _put(m, ident, found, ListObj((), anything, found.kind))
        case DictObj(values=values, rest=rest):
            for item in values:
                havoc_value(m, item, seen)
            everything = reach_of(*values, *_some(rest))
            kept = found.items.update(_replaceable(m, found.items))
            _put(m, ident, found, replace(found, items=kept, rest=Unknown(None, None, None, everything), keys=None))
        case SetObj(items=items):
            if items:
                _put(m, ident, found, SetObj((), Unknown(None, None, None, reach_of(*items))))
        case Instance(attrs=attrs):
            spared = bool(m.forgets) and m.st.is_library(found)
            for name, attr in by_name(attrs):
                table = m.obj(attr) if name in TABLES else None
                if isinstance(table, DictObj):
                    for value in table.values:
                        havoc_value(m, value, seen)
                elif not spared:
                    havoc_value(m, attr, seen)
            if not spared:
                _havoc_instance(m, ident, found)
        case Iterator():
            _put(m, ident, found, Iterator(found.source, None, found.items, found.rest))
        case Array():
            from analyzers.machine.tensors import write_hidden

            write_hidden(m, found.storage, "?")


def _put(m: Machine, ident: int, found: HeapObject, doubted: HeapObject) -> None:
    """Write what is doubted now, and was not before: whatever two states have written, their join compares."""
    if doubted != found:
        m.st.put(ident, doubted)


def _havoc_captured(m: Machine, func: Func) -> None:
    """The callee may call a function that it was handed, now or later: what that fills and rebinds is not known."""
    if func.module.startswith("<") or m.forgets:
        return
    used, rebound = _names_from_outside(m, func)
    for name in sorted(used):
        at = _holder(m, func, name)
        if at is None:
            continue
        value = m.env(at).vars[name]
        if name in rebound:
            m.bind(at, name, Unknown(None, None, None, reach_of(value)))
        elif isinstance(value, Ref):
            _havoc_contents(m, value)


def havoc_unfinished(m: Machine, func: Func, written: Iterable[tuple[int, HeapObject]]) -> None:
    """What a call may have done that was given up: `written` is what it was seen to write, and the functions that it
    calls by name may have done more."""
    seen: set[int] = set()
    for ident, theirs in written:
        match m.st.find(ident), theirs:
            case Env(vars=ours), Env(vars=new):
                for name in _differing(ours, new):
                    values = [held[name] for held in (ours, new) if name in held]
                    m.bind(ident, name, Unknown(None, None, None, reach_of(*values)))
            case ClassObj(attrs=ours) as found, ClassObj(attrs=new):
                doubted = {name: Unknown() for name in _differing(ours, new)}
                m.st.put(ident, replace(found, attrs=ours.update(doubted)))
            case None, _:
                pass
            case known, _ if known is not theirs:
                havoc_object(m, ident, seen)
    for callee in _callees(m, func):
        _havoc_captured(m, callee)


def _differing(ours: Map[str, Value], theirs: Map[str, Value]) -> list[str]:
    return sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))


def _callees(m: Machine, func: Func) -> list[Func]:
    """A function with those that it names, and those that these name."""
    found = [func]
    for callee in found:
        if callee.module.startswith("<"):
            continue
        used, _ = names_from_outside(m.whole(callee))
        for name in sorted(used):
            at = _holder(m, callee, name)
            if at is None:
                continue
            value = m.env(at).vars[name]
            named = m.obj(value)
            parts = [part for _, part in by_name(named.attrs)] if isinstance(named, ClassObj) else [value]
            found += [part for part in parts if isinstance(part, Func) and part not in found]
    return found


def _holder(m: Machine, func: Func, name: str) -> int | None:
    """The environment around a function that has a name."""
    at: int | None = func.env
    while at is not None and name not in m.env(at).vars:
        at = m.env(at).parent
    return at


def _names_from_outside(m: Machine, func: Func) -> tuple[frozenset[str], frozenset[str]]:
    """The names from around a function that it uses, and those of them that it rebinds."""
    node = func.node
    if not isinstance(node, FunctionDef | Lambda):
        return m.program.captured(func.module, func.chunk)
    known = m.captured.get(id(node))
    if known is None:
        known = m.captured[id(node)] = names_from_outside(node)
    return known


def names_from_outside(node: FunctionDef | Lambda) -> tuple[frozenset[str], frozenset[str]]:
    used = frozenset(x.id for x in walk([node.body]) if isinstance(x, Name))
    return (used - node.locals, node.globals | node.nonlocals) if isinstance(node, FunctionDef) else (used, frozenset())


def _havoc_contents(m: Machine, holder: Ref) -> None:
    """What a container holds; whatever is in it stays as it is."""
    match m.obj(holder):
        case ListObj(items=items, rest=rest, kind=kind) if kind != "fixed":
            m.st.put(holder.id, ListObj((), Unknown(None, None, None, reach_of(*items, *_some(rest))), kind))
        case DictObj(rest=rest) as found:
            everything = Unknown(None, None, None, reach_of(*found.values, *_some(rest)))
            held = {key: Unknown(None, None, None, reach_of(value)) for key, value in found.entries}
            m.st.put(holder.id, replace(found, items=Map(held), rest=everything, keys=None))
        case SetObj(items=items) if items:
            m.st.put(holder.id, SetObj((), Unknown(None, None, None, reach_of(*items))))
        case Instance() as found if not m.st.is_library(found):
            _havoc_instance(m, holder.id, found)


TABLES = frozenset({"_parameters", "_buffers", "_modules"})
"""The dicts of a module: what is registered stays registered."""


PERHAPS_HOOKED = Unknown(None, "hooked")
"""Whether unknown code hooked a module: one question for all modules, as hooks that nobody saw may do nothing too."""


def _havoc_instance(m: Machine, ident: int, found: Instance) -> None:
    attrs = found.attrs
    if "_modules" in attrs and "_parameters" in attrs:
        flag = isinstance(attrs.get("training"), Const)
        changed: dict[str, Value] = {"training": Unknown("bool")} if flag else {}
        if not m.st.is_library(found):
            changed |= {k: v for k, v in _replaceable(m, attrs).items() if _is_setting(attrs[k])}
        if "_hooked" in attrs:
            is_told = m.presumes or attrs["_hooked"] == Const(value=True)
            changed["_hooked"] = attrs["_hooked"] if is_told else PERHAPS_HOOKED
    else:
        if "param_groups" in attrs:
            m.note(OptimizerEscaped(m.site(), ident))
        changed = _replaceable(m, attrs)
    _put(m, ident, found, Instance(found.cls, attrs.update(changed), True))


def _is_setting(value: Value) -> bool:
    """Whether an attribute is of a kind that programs change: a flag, nothing yet, a tensor that is not registered."""
    return not isinstance(value, Const) or value.value is None or isinstance(value.value, bool)


def _replaceable(m: Machine, held: Map[K, Value]) -> dict[K, Value]:
    """What may be held in the place of plain values, and later of tensors; other objects stay."""
    return {key: Unknown(None, None, None, reach_of(value)) for key, value in held.items() if _is_replaceable(m, value)}


def _is_replaceable(m: Machine, value: Value) -> bool:
    if isinstance(value, Ref):
        tensor = m.tensor(value)
        return bool(m.forgets) and tensor is not None and not tensor.parameter
    return not isinstance(value, Func) and not (isinstance(value, Unknown) and value.type is value.symbol is None)


def _some(value: Value | None) -> tuple[Value, ...]:
    return () if value is None else (value,)


def _havoc_tensor(m: Machine, ident: int, tensor: Tensor, seen: set[int]) -> None:
    from analyzers.machine.tensors import blur_tensor

    blur_tensor(m, ident)
    requires = tensor.requires_grad if tensor.edge is not None and tensor.requires_grad else None
    if tensor.requires_grad is False and tensor.parameter is False and tensor.edge is None:
        requires = None
    grad: Value = Unknown("grad", reach=(ident,)) if tensor.grad == NONE else tensor.grad
    found = m.st.get(ident)
    assert isinstance(found, Tensor)
    edge = found.edge if requires else None
    if requires is None:
        from analyzers.domain.objects import Edge

        edge = Edge()
    retains = None if found.retains_grad is False and found.is_leaf is not True else found.retains_grad
    doubted = replace(found, requires_grad=requires, grad=grad, edge=edge, attr_version=-1, retains_grad=retains)
    _put(m, ident, found, doubted)
    if retains is None:
        m.retain(ident)
    if tensor.edge is not None and tensor.edge.node is not None:
        _free_perhaps(m, tensor.edge.node, seen)


def _free_perhaps(m: Machine, start: int, seen: set[int]) -> None:
    """The callee may have run a backward through the graph."""
    stack = [start]
    while stack:
        ident = stack.pop()
        if ident in seen or len(seen) > 4000:
            continue
        seen.add(ident)
        node = m.st.get(ident)
        if not isinstance(node, Node):
            continue
        met(m, ident, node)
        if node.freed is False and (node.saved or node.kind != "op"):
            m.st.put(ident, replace(node, freed=None, freed_at=m.here(), freed_via=m.via()))
        for edge in node.edges:
            if edge is None:
                continue
            if edge.node is not None:
                stack.append(edge.node)
            elif edge.leaf is not None and edge.leaf not in seen:
                leaf = m.st.get(edge.leaf)
                if isinstance(leaf, Tensor) and leaf.grad == NONE:
                    m.st.put(edge.leaf, replace(leaf, grad=Unknown("grad", reach=(edge.leaf,))))
