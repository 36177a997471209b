"""Running an operator's row: its results, and its node if there is one."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain import truth
from analyzers.domain.lineage import Cut
from analyzers.domain.values import NONE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import Step, inputs_require_grad, refreshed, requires_grad_of
from analyzers.machine.autograd.reachability import may_lead_on
from analyzers.machine.autograd.results import new_result, result_requires_grad
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.views import check_usable
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import infer, list_of, pieces, types_of, unknown_operand
from analyzers.machine.operators.layouts import lay_out_results, note_layouts, result_contiguous
from analyzers.machine.operators.recording import cut_of, record_call, record_node, save_outputs, saved_tensors, step_of
from analyzers.machine.operators.row_views import run_view
from analyzers.machine.operators.row_writes import run_in_place
from analyzers.ops.infer import TensorType
from analyzers.ops.table import Row


def run_row(
    m: Machine,
    row: Row,
    bound: dict[str, Value],
    *,
    what: str,
    doubtful: bool = False,
    count: int | None = None,
) -> Value:
    step = step_of(m, row, bound, what)
    if row.kind == "not-implemented" and row.arg("pin_memory") is not None:
        # A factory that takes sizes and numbers runs below autograd.
        return _run_plain(m, row, bound, step, count)
    if row.kind == "not-implemented":
        # Its node only has edges to tensors that require grad.
        step.differentiable = tuple(
            n for n, ids in step.inputs.items() if any(refreshed(m, i).requires_grad is not False for i in ids)
        )
        step.names = ("NotImplemented",)
        step.payload = Const(f"aten::{row.base}")
    step.requires = False if row.kind == "no-grad" else inputs_require_grad(m, step)
    hidden = any(unknown_operand(m, bound[n]) for n in row.differentiable if n in bound)
    if hidden and not step.requires and row.kind != "no-grad":
        step.requires = None
    if doubtful:
        step.kind, step.names = "unknown", ()
        step.hidden = may_lead_on(m, bound.values())
        given = [i for ids in step.inputs.values() for i in ids]
        if row.kind == "no-grad" and any(requires_grad_of(m, i) is not False for i in given):
            step.requires = None
    if row.kind != "no-grad":
        _check_forbidden(m, row, step)
    if row.inplace:
        return run_in_place(m, row, bound, step)
    if row.kind != "no-grad":
        check_usable(m, step)
    if row.view in {"view", "multi"}:
        return run_view(m, row, bound, step, count)
    return _run_plain(m, row, bound, step, count)


def _check_forbidden(m: Machine, row: Row, step: Step) -> None:
    for name in row.forbidden:
        if name == "indices" and m.config.presumes:
            continue  # what is used as an index has no graph, whatever was presumed
        for ident in step.inputs.get(name, ()):
            if refreshed(m, ident).requires_grad and m.st.grad is True:
                message = f"The function '{row.base}' is not differentiable with respect to argument '{name}'."
                raise m.throw("RuntimeError", message, Plain())
    if row.gradient_not_implemented and step.requires:
        bad = [i for n in row.gradient_not_implemented for i in step.inputs.get(n, ())]
        if bad and all(refreshed(m, i).requires_grad for i in bad):
            step.kind = "unimplemented"


def _run_plain(m: Machine, row: Row, bound: dict[str, Value], step: Step, count: int | None) -> Value:
    types = infer(m, row, bound)
    recorded = record_call(m, step)
    operands = [i for ids in step.inputs.values() for i in ids]
    contiguous = result_contiguous(m, row.base, bound.get("memory_format", NONE), operands)
    kept = saved_tensors(m, row, step, bound) if recorded is not False else []
    kinds = [r.type for r in row.returns]
    if kinds == ["Tensor[]"]:
        wanted_pieces = pieces(m, row, bound, count)
        node = record_node(m, step, kept, recorded)

        listed: list[Ref] = []
        for index, piece in enumerate(wanted_pieces.all()):
            requires = result_requires_grad(m, step, piece.dtype)
            listed.append(
                new_result(m, step, piece.shape, piece.dtype, node, index, requires=requires, contiguous=None)
            )
        return list_of(m, wanted_pieces, listed)
    results: list[Ref] = []
    tensor_returns = [i for i, k in enumerate(kinds) if k == "Tensor"]
    if not tensor_returns:
        return Unknown("bool" if "bool" in kinds else "int" if kinds and "int" in kinds[0] else None)
    wanted: list[tuple[TensorType | None, truth.Truth, Cut | None]] = []
    for order, position in enumerate(tensor_returns):
        t = types[order] if types is not None and order < len(types) else None
        dtype = t.dtype if t is not None else None
        if dtype is None and row.base in {"cat", "stack"}:
            dtype = _common_dtype(m, step)
            t = TensorType(t.shape if t is not None else None, dtype)
        requires = result_requires_grad(m, step, dtype)
        if position in row.not_differentiable:
            requires = False
        if row.condition is not None and requires:
            requires = requires if _condition_holds(row) else None
        wanted.append((t, requires, cut_of(m, row, step, dtype)))
    if row.real_only:
        _refuse_complex(m, row, wanted)
    made = truth.any_of(w[1] for w in wanted)
    node = record_node(m, step, kept, made)
    for position, (t, requires, cut) in zip(tensor_returns, wanted, strict=True):
        results.append(
            new_result(
                m, step, t.shape if t else None, t.dtype if t else None, node, position,
                requires=requires, cut=cut, contiguous=contiguous,
            )
        )  # fmt: skip
    lay_out_results(m, step, bound.get("memory_format", NONE), results, types_of(m, bound))
    note_layouts(m, row, bound, operands, results)
    if node is not None:
        save_outputs(m, row, node, kept, results)
    names = tuple(r.name or "" for r in row.returns) if len(results) > 1 and row.returns[0].name else ()
    if len(results) == 1:
        return results[0]
    return Tup(tuple(results), "torch.return_types", names)


def _refuse_complex(m: Machine, row: Row, wanted: Sequence[tuple[TensorType | None, truth.Truth, Cut | None]]) -> None:
    for known, requires, _ in wanted:
        if requires and known is not None and (known.dtype or "").startswith("complex"):
            message = f"{row.base} does not support automatic differentiation for outputs with complex dtype."
            raise m.throw("RuntimeError", message, Plain())


def _common_dtype(m: Machine, step: Step) -> str | None:
    """The dtype shared by all tensors of a list of unknown length."""
    dtypes = {tensor_at(m, i).dtype for i in step.inputs.get("tensors", ())}
    return dtypes.pop() if len(dtypes) == 1 else None


def _condition_holds(row: Row) -> bool:
    """The table's conditions are about which dtypes have gradients; floats always do."""
    return row.condition is not None
