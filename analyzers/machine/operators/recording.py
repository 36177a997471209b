"""Recording a step in the graph: its node, what it saves, and its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Cut
from analyzers.domain.objects import Saved
from analyzers.domain.values import NONE, Const, Ref, Tup, Value
from analyzers.machine.autograd.graph import Step, make_node, may_be_converted, may_reach_leaf, refreshed
from analyzers.machine.autograd.reachability import may_lead_on, was_given_graph
from analyzers.machine.autograd.results import lost_graph
from analyzers.machine.autograd.saved_tensors import PRIVATE, check_savable, packed, perhaps_packed, save
from analyzers.machine.autograd.tensors import can_require_grad, tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import tensors_in, tensors_taken, unknown_operand
from analyzers.machine.operators.devices import may_be_elsewhere
from analyzers.ops.table import Row
from analyzers.ops.table import Saved as SavedRow


def step_of(m: Machine, row: Row, bound: Mapping[str, Value], what: str) -> Step:
    inputs = {name: tensors_in(m, value) for name, value in bound.items()}
    differentiable = tuple(n for n in row.differentiable if inputs.get(n))
    names = (row.grad_fn,) if row.grad_fn else ()
    kind = "unimplemented" if row.kind == "not-implemented" else "op"
    step = Step(row.base, what, inputs, names, differentiable, kind, m.parents(list(bound.values())))
    step.payload = Const(row.base)
    step.scalars = tuple((n, v) for n, v in bound.items() if isinstance(v, Const | Tup) and not inputs.get(n))
    step.hidden = may_lead_on(m, tensors_taken(row, bound))
    step.moved = may_be_elsewhere(m, bound.get("device", NONE)) or any(
        tensor_at(m, ident).moved for operand in inputs.values() for ident in operand
    )
    return step


def saved_tensors(m: Machine, row: Row, step: Step, bound: Mapping[str, Value]) -> list[object]:
    """What the node saves of its inputs: `Saved`s; outputs are filled in later, and are table rows until then."""
    out: list[object] = []
    for entry in row.saves:
        need = Need(True)
        if entry.for_inputs is not None:
            operands = [bound[name] for name in entry.for_inputs if name in bound]
            need = needed_for(m, operands, [i for name in entry.for_inputs for i in step.inputs.get(name, ())])
            if need.there is False:
                continue
        maybe = need.there is None
        if entry.is_output:
            out.append(entry)
            continue
        if entry.is_private or entry.name not in bound:
            if entry.is_private or row.arg(entry.name) is None:
                out.append(packed(m, Saved(entry.name or "", None, None)))
            continue
        ids = step.inputs.get(entry.name, ())
        if not ids:
            if bound[entry.name] != NONE:
                out.append(perhaps_packed(m, bound[entry.name]))
            continue
        for ident in ids:
            if not maybe and record_call(m, step):
                check_savable(m, ident)
            kept = save(m, ident, entry.name, maybe=maybe, converted=may_be_converted(m, step))
            out.append(packed(m, replace(kept, unseen=need.unseen) if need.unseen else kept))
    return out


@dataclass(slots=True, frozen=True)
class Need:
    """Whether what is saved for the gradients of some operands is needed. `unseen`: only by what nobody knows, and
    which may lead to no known leaf."""

    there: truth.Truth
    unseen: bool = False


def needed_for(m: Machine, operands: Sequence[Value], tensors: Sequence[int]) -> Need:
    """Whether the gradient of one of the operands is computed; `tensors` are those in them that are known."""
    needed = truth.any_of(refreshed(m, i).requires_grad for i in tensors)
    if needed or (needed is False and not any(unknown_operand(m, value) for value in operands)):
        return Need(needed)
    return Need(None, unseen=not was_given_graph(m, operands) and not any(may_reach_leaf(m, i) for i in tensors))


def record_call(m: Machine, step: Step) -> truth.Truth:
    """Whether a node is recorded."""
    if m.st.inference:
        return False
    return truth.both(m.st.grad, step.requires)


def cut_of(m: Machine, row: Row, step: Step, dtype: str | None) -> Cut | None:
    operands = [i for ids in step.inputs.values() for i in ids]
    if row.base.startswith("new_") or row.base.endswith("_like"):
        # It is made of sizes and a dtype alone.
        return None
    if row.kind == "no-grad":
        return lost_graph(m, operands, "no-derivative")
    if can_require_grad(dtype) is False:
        return lost_graph(m, operands, "integer")
    if m.st.grad is False or m.st.inference:
        return lost_graph(m, operands, None)
    return None


def record_node(m: Machine, step: Step, kept: list[object], recorded: truth.Truth) -> int | None:
    if recorded is False:
        return None
    return make_node(m, step, [k for k in kept if isinstance(k, Saved)])


def save_outputs(m: Machine, row: Row, node: int, kept: list[object], results: Sequence[Ref]) -> None:
    """Save results for the node, which is only possible once they exist."""
    saved: list[Saved] = []
    for entry in kept:
        if isinstance(entry, SavedRow):
            if 0 <= entry.index < len(results):
                saved.append(packed(m, save(m, results[entry.index].id, entry.name or "result", is_output=True)))
            else:
                saved.append(packed(m, PRIVATE))
        elif isinstance(entry, Saved):
            saved.append(entry)
    m.st.put(node, replace(m.node(node), saved=tuple(saved)))
