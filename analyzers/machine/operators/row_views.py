"""Rows that return views."""

from __future__ import annotations

from collections.abc import Mapping

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Cut
from analyzers.domain.objects import Edge, Shape, Tensor
from analyzers.domain.values import Const, Ref, Value
from analyzers.machine.autograd.graph import Step, refreshed
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.views import doubt_overlap, lay_out, layout_of, new_view
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import infer, list_of, pieces, types_of
from analyzers.machine.operators.layouts import lay_out_pieces, view_layout
from analyzers.machine.operators.opaque import opaque_result
from analyzers.machine.operators.recording import record_call, record_node, saved_tensors
from analyzers.ops.infer import ANY
from analyzers.ops.table import Row

SAME_ORDER = frozenset({"view", "unsqueeze", "squeeze", "detach", "alias", "view_as_real", "_reshape_alias"})


def run_view(m: Machine, row: Row, bound: dict[str, Value], step: Step, count: int | None) -> Value:
    of = _view_source(m, row, step)
    if of is None:
        return opaque_result(m, row.base, list(bound.values()))
    recorded = record_call(m, step)
    kept = saved_tensors(m, row, step, bound) if recorded is not False else []
    node = record_node(m, step, kept, recorded)
    source = tensor_at(m, of)
    if layout_of(source) is None:
        # Whether a view of these sizes can be had depends on strides.
        m.record.imprecisions += 1
    multi = row.view == "multi"
    if row.returns and row.returns[0].type.startswith("Tensor(") is False and row.returns[0].type == "Tensor[]":
        wanted = pieces(m, row, bound, count)
        made: list[Ref] = []
        for index, t in enumerate(wanted.all()):
            shape = _row_shape(row, source) if t is ANY and count is not None else t.shape
            onward = index == len(wanted.first)
            made.append(new_view(m, step, of, shape, node, index, onward=onward, multi=multi, cut=_view_cut(m, of)))
        lay_out_pieces(m, row.base, of, types_of(m, bound), made[: len(wanted.first)])
        for piece in made[len(wanted.first) :]:
            doubt_overlap(tensor_at(m, piece.id))
        return list_of(m, wanted, made)
    types = infer(m, row, bound)
    shape = types[0].shape if types else None
    dtype = types[0].dtype if types else source.dtype
    contiguous = _view_contiguous(row, bound, source)
    layout = view_layout(m, row.base, of, types_of(m, bound), shape)
    view = new_view(m, step, of, shape, node, dtype=dtype, contiguous=contiguous, cut=_view_cut(m, of), multi=multi)
    if row.kind == "no-grad":
        _set_apart(m, view, step, dtype)
    if layout is not None:
        lay_out(tensor_at(m, view.id), layout)
    elif row.base == "expand":
        tensor_at(m, view.id).overlapping = source.overlapping or _grows(source.shape, shape)
    elif row.base in _PARTS:
        doubt_overlap(tensor_at(m, view.id))
    return view


def _set_apart(m: Machine, view: Ref, step: Step, dtype: str | None) -> None:
    """No derivative leads from `x.view(torch.int32)` to `x`; torch does not even count it as a view."""
    perhaps = step.requires is None
    m.st.update(
        view.id,
        Tensor,
        lambda t: replace(
            t,
            dtype=dtype,
            requires_grad=None if perhaps else False,
            edge=Edge() if perhaps else None,
            base=None,
            perhaps_of=t.base if perhaps else t.perhaps_of,
        ),
    )


_PARTS = frozenset({"select", "slice", "diagonal", "as_strided", "unfold"})
"""Views that omit elements."""


def _grows(before: Shape, after: Shape) -> truth.Truth:
    """Whether an expanded tensor has overlapping elements."""
    if before is None or after is None:
        return None
    padded = (1,) * (len(after) - len(before)) + before
    if any(x == 1 and y is not None and y > 1 for x, y in zip(padded, after, strict=True)):
        return True
    return False if all((x is not None and x == y) or y == 1 for x, y in zip(padded, after, strict=True)) else None


def _row_shape(row: Row, source: Tensor) -> Shape:
    return source.shape[1:] if row.base == "unbind" and source.shape else None


def _view_cut(m: Machine, of: int) -> Cut | None:
    """A view made without grad keeps `requires_grad`, but its graph leads nowhere."""
    if m.st.grad is False and refreshed(m, of).requires_grad:
        return "inference" if m.st.inference else "no-grad"
    return None


def _view_source(m: Machine, row: Row, step: Step) -> int | None:
    for arg in row.args:
        if arg.alias is not None or arg.name == "self":
            ids = step.inputs.get(arg.name, ())
            if ids:
                return ids[0]
    return None


def _view_contiguous(row: Row, bound: Mapping[str, Value], source: Tensor) -> truth.Truth:
    if source.contiguous is not True:
        return None
    if row.base in SAME_ORDER:
        return True
    shape = source.shape
    if row.base in {"select", "slice"}:
        dim = bound.get("dim", Const(0))
        step = bound.get("step", Const(1))
        first = isinstance(dim, Const) and (dim.value == 0 or (shape is not None and len(shape) == 1))
        return True if first and isinstance(step, Const) and step.value in {1, None} else None
    if row.base in {"t", "transpose", "permute"}:
        return True if shape is not None and len(shape) < 2 else None
    return None
