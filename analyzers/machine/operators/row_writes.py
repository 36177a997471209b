"""Rows that write in place."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.copies import replace
from analyzers.domain.objects import Saved
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.autograd.graph import Step, edge_to, edges_of, inputs_require_grad
from analyzers.machine.autograd.saved_tensors import save
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import bump
from analyzers.machine.autograd.views import check_usable
from analyzers.machine.autograd.writes import RESHAPING, check_write, contested, rebase
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import MultipliedByZero, WriteBegins, WrittenFrom, tell
from analyzers.machine.operators.arguments import infer, types_of
from analyzers.machine.operators.layouts import change_layout, check_memory
from analyzers.machine.operators.recording import record_call, saved_tensors
from analyzers.ops.table import Row

SOURCES = {"copy_": "src", "lerp_": "end", "add_": "other", "mul_": "other"}
"""Operators that write, and the operand from which they take what they write."""


def run_in_place(m: Machine, row: Row, bound: dict[str, Value], step: Step) -> Value:
    target_value = bound.get("self", NONE)
    if not isinstance(target_value, Ref) or m.tensor(target_value) is None:
        for value in bound.values():
            if isinstance(value, Unknown):
                havoc_value(m, value)
        return target_value
    ident = target_value.id
    tell(m, WriteBegins(ident, step.parents))
    if row.base in SOURCES:
        taken = step.inputs.get(SOURCES[row.base])
        tell(m, WrittenFrom(ident, taken[0] if taken else None, row.base))
    if row.base == "mul_" and bound.get("other") in {Const(0), Const(0.0)}:
        tell(m, MultipliedByZero(ident))
    if row.kind == "composite":
        step.differentiable = tuple(n for n, ids in step.inputs.items() if ids)
        step.requires = inputs_require_grad(m, step)
        step.kind, step.names = "unknown", ()
    if row.kind == "no-grad":
        if not row.base.startswith("logical_"):
            check_write(m, ident, step)
        bump(m, ident, step.what)
        return target_value
    refused = check_write(m, ident, step)
    check_usable(m, step)
    with contested(m, refused):
        check_memory(m, ident, step)
    recorded = record_call(m, step)
    kept = saved_tensors(m, row, step, bound) if recorded is not False else []
    if recorded is not False:
        edges = edges_of(m, step)
        base = tensor_at(m, ident).base
        base_edge = edge_to(m, base) if base is not None else None
        bump(m, ident, step.what)
        kept_inputs = [k for k in kept if isinstance(k, Saved)]
        outputs = [k for k in kept if not isinstance(k, Saved)]
        rebase(m, ident, step, kept_inputs, edges, base_edge)
        if outputs:
            _save_written(m, ident, outputs)
    else:
        bump(m, ident, step.what)
    types = infer(m, row, bound)
    if types and (row.base in RESHAPING or row.base == "addbmm_"):
        change_layout(m, row.base, ident, types_of(m, bound), types[0].shape)
    return target_value


def _save_written(m: Machine, ident: int, outputs: Sequence[object]) -> None:
    """An in-place operator that saves its result saves the tensor after the write."""
    tensor = tensor_at(m, ident)
    holder = tensor
    if tensor.base is not None:
        holder = tensor_at(m, tensor.base)
    if holder.edge is None or holder.edge.node is None:
        return
    node = m.node(holder.edge.node)
    extra = tuple(save(m, ident, "result", is_output=True) for _ in outputs)
    m.st.put(holder.edge.node, replace(node, saved=(*node.saved, *extra)))
