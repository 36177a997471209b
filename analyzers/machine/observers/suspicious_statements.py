"""Statements that compute something and discard it: `w.sub(lr * g)`, `h.detach()`, `loss.backward` without the call.

The report says what the discarded value was computed from: a leaf, a gradient, or a tensor with a graph.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import lru_cache

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Instance, Tensor
from analyzers.domain.values import BoundBuiltin, Const, Method, Ref, Tup, Value
from analyzers.machine.autograd.graph import leaves_behind, requires_grad_of
from analyzers.machine.core.events import Dropped, Misspelt, NotCalled
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.signals import LeftAlone, OwnAttributeSet, hears
from analyzers.machine.interpreter.dispatch import evaluate
from analyzers.machine.observers.gradient_accumulation import GradientAccumulation
from analyzers.ops.resolve import python_names
from analyzers.syntax import nodes as n

SHARES = frozenset({"data", "detach"})


@hears(LeftAlone)
def _left_alone(m: Machine, signal: LeftAlone) -> None:
    _look_at_statement(m, signal.node, signal.value)


def _look_at_statement(m: Machine, node: n.Expr, value: Value) -> None:
    if m.frame.library or m.frame.module.endswith(".ipynb"):
        return
    match node, value:
        case n.TupleExpr(elts=elts), Tup(items=items) if len(elts) == len(items):
            for part, item in zip(elts, items, strict=True):
                _look_at_statement(m, part, item)
        case n.Call(), Ref():
            _look_at_call(m, node, value)
        case n.BinOp(), Ref():
            _look_at_arithmetic(m, node, value)
        case n.Attribute(attr=attr), BoundBuiltin(receiver=Ref() as receiver) if m.tensor(receiver) is not None:
            m.frame.node = node
            m.note(NotCalled(m.site(), attr, "tensor", m.lineage(receiver), _behind(m, receiver)))
        case n.Attribute(attr=attr), Method(receiver=Ref() as receiver, func=func) if func.module.startswith("<"):
            kind = "module" if _is_module(m, receiver) else "object"
            m.frame.node = node
            m.note(NotCalled(m.site(), attr, kind))
        case n.Compare(left=n.Attribute(value=n.Name() | n.Attribute() as owner, attr="requires_grad"), ops=("==",)), _:
            _look_at_comparison(m, node, owner)


def _look_at_call(m: Machine, node: n.Call, value: Ref) -> None:
    found = m.tensor(value)
    name = node.func.attr if isinstance(node.func, n.Attribute) else ""
    if found is None or found.lineage is None or name.endswith("_") or any(k.arg == "out" for k in node.keywords):
        return
    here = m.loc_of(m.frame, node)
    trail = found.lineage
    # A function or a module of the program may be called for what else it does.
    if trail.loc != here or not trail.parents or not (name == "detach" or f"Tensor.{name}_" in python_names()):
        return
    source = _source(trail, here)
    if source is None:
        return
    m.frame.node = node
    in_place = trail.what != "detach" and f"Tensor.{trail.what}_" in python_names()
    if not in_place and trail.what != "detach":
        return
    if source in m.notebook(GradientAccumulation).by_trail or source.what == "grad":
        m.note(Dropped(m.site(), trail.what, "gradient", trail))
        return
    for ident, tensor in _holding(m, source):
        learns = (
            tensor.parameter
            or requires_grad_of(m, ident)
            or tensor.storage in m.notebook(GradientAccumulation).leaf_storages
        )
        if in_place and tensor.edge is None and learns:
            m.note(Dropped(m.site(), trail.what, "leaf", trail))
        elif not in_place and requires_grad_of(m, ident):
            m.note(Dropped(m.site(), trail.what, "graph", trail, _behind(m, Ref(ident))))
        return


def _look_at_arithmetic(m: Machine, node: n.BinOp, value: Ref) -> None:
    found = m.tensor(value)
    if found is None or found.lineage is None or (m.frame.func is None and not m.extent.loops):
        return
    m.frame.node = node
    here = m.loc_of(m.frame, node)
    kind = "arithmetic"
    source = _source(found.lineage, here)
    for ident, tensor in _holding(m, source) if source is not None else ():
        if tensor.edge is None and (
            requires_grad_of(m, ident) or tensor.storage in m.notebook(GradientAccumulation).leaf_storages
        ):
            kind = "leaf"
    m.note(Dropped(m.site(), node.op, kind, found.lineage))


def _source(trail: Lineage, within: Loc) -> Lineage | None:
    """The start of a chain of calls in one statement."""
    step: Lineage | None = trail
    while step is not None and (_inside(step.loc, within) or step.what in SHARES):
        step = step.parents[0] if step.parents else None
    return step


def _inside(loc: Loc | None, within: Loc) -> bool:
    return (
        loc is not None
        and (loc.module, loc.chunk) == (within.module, within.chunk)
        and within.start <= loc.start
        and loc.end <= within.end
    )


def _holding(m: Machine, trail: Lineage) -> Iterator[tuple[int, Tensor]]:
    yield from ((ident, found) for ident, found in m.st.made(Tensor) if found.lineage is trail)


def _behind(m: Machine, receiver: Ref) -> frozenset[int]:
    """The leaves that receive gradient through a tensor."""
    return frozenset(leaves_behind(m, receiver.id) or ()) if requires_grad_of(m, receiver.id) else frozenset()


def _is_module(m: Machine, value: Ref) -> bool:
    found = m.obj(value)
    return isinstance(found, Instance) and "_modules" in found.attrs


def _look_at_comparison(m: Machine, node: n.Compare, owner: n.Expr) -> None:
    value = evaluate(m, owner)
    right = evaluate(m, node.comparators[0]) if isinstance(node.comparators[0], n.Constant) else None
    if not isinstance(value, Ref) or not isinstance(right, Const) or not isinstance(right.value, bool):
        return
    if m.tensor(value) is not None or _is_module(m, value):
        m.frame.node = node
        m.note(Misspelt(m.site(), "", "requires_grad", m.tensor(value) is None, compared=True))


@hears(OwnAttributeSet)
def _note_misspelt(m: Machine, signal: OwnAttributeSet) -> None:
    """`t.require_grad = True` and `net.requires_grad = False` create attributes that nothing reads."""
    attr, module = signal.name, signal.module
    if not m.frame.library and (module or attr != "requires_grad") and _is_nearly_the_flag(attr):
        m.note(Misspelt(m.site(), subject_name(m), attr, module))


@lru_cache(maxsize=4096)
def _is_nearly_the_flag(attr: str) -> bool:
    return difflib.SequenceMatcher(None, attr, "requires_grad").ratio() > 0.85
