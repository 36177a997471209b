"""Hooks on tensors: functions that gradients pass through, or that run after a leaf's gradient was accumulated.

A hook belongs to the place in the graph that the tensor had when the hook was registered: an output of a node, or a
leaf. The tables are dicts on the program's heap, from which a handle's `remove` deletes the hook.
"""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import DictObj, Node, Tensor
from analyzers.domain.values import NONE, Func, Ref, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.maps import Map

UNKNOWN_TABLE = -1
"""Where two paths of a program join, only one of which registered hooks."""


def table_before(m: Machine, owner: Ref) -> Ref:
    """The hooks that a tensor's gradient passes through; creates the table if there is none."""
    edge = refreshed(m, owner.id).edge
    if edge is None or edge.node is None:
        tensor = tensor_at(m, owner.id)
        if tensor.hooks is None:
            m.st.put(owner.id, replace(tensor, hooks=_table(m)))
        return Ref(tensor_at(m, owner.id).hooks or 0)
    node = m.node(edge.node)
    found = dict(node.hooks).get(edge.output)
    if found is None:
        found = _table(m)
        m.st.put(edge.node, replace(node, hooks=(*node.hooks, (edge.output, found))))
    return Ref(found)


def table_after(m: Machine, owner: Ref) -> Ref:
    """The hooks called with a leaf after its gradient was accumulated."""
    tensor = tensor_at(m, owner.id)
    if tensor.after_hooks is None:
        m.st.put(owner.id, replace(tensor, after_hooks=_table(m)))
    return Ref(tensor_at(m, owner.id).after_hooks or 0)


def _table(m: Machine) -> int:
    return m.new(DictObj(Map(), ())).id


def table_of(owner: Node | Tensor, output: int = 0) -> int | None:
    """The table that a gradient passes on its way to a leaf, or to an output of a node."""
    return owner.hooks if isinstance(owner, Tensor) else dict(owner.hooks).get(output)


def pass_hooks(m: Machine, table: int, gradient: Value, certain: bool) -> Value | None:
    """The gradient after it has passed a table of hooks; None if unknown.

    Torch calls them with `None` for a gradient that a custom function did not return.
    """
    hooks = _hooks(m, table)
    if hooks == ():
        return gradient
    if hooks is None or not certain:
        m.may_raise()
        return None
    current: Value = gradient
    for hook in hooks:
        result = call(m, hook, Args([current]))
        if result == NONE:
            continue
        found = m.tensor(result)
        if found is None:
            return None
        before = m.tensor(current)
        _check_replacement(m, hook, found, before)
        current = result
    return current


def _check_replacement(m: Machine, hook: Value, after: Tensor, before: Tensor | None) -> None:
    if before is None:
        m.may_raise()
        return
    if before.shape is None or after.shape is None or None in before.shape + after.shape:
        if before.shape != after.shape:
            m.may_raise()
        m.record.imprecisions += 1
        return
    if after.shape != before.shape:
        name = hook.node_name if isinstance(hook, Func) else "<lambda>"
        raise m.throw("RuntimeError", f"hook '{name}' has changed the size of value", Plain("", after.lineage))


def call_after_hooks(m: Machine, leaf: int, certain: bool) -> None:
    """What post-accumulate hooks do, or may do."""
    table = tensor_at(m, leaf).after_hooks
    if table is None:
        return
    hooks = _hooks(m, table)
    if hooks is None or not certain:
        havoc_value(m, Ref(leaf))
        return
    for hook in hooks:
        call(m, hook, Args([Ref(leaf)]))


def _hooks(m: Machine, table: int) -> tuple[Value, ...] | None:
    found = m.st.find(table)
    if table == UNKNOWN_TABLE or not isinstance(found, DictObj) or found.rest is not None:
        return None
    return tuple(found.items[key] for key in found.order)
