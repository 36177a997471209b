"""Operators without a row: results about which little is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge
from analyzers.domain.values import NONE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import Step, inputs_require_grad, make_node
from analyzers.machine.autograd.reachability import may_lead_on
from analyzers.machine.autograd.results import lost_graph, new_result, result_requires_grad
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import blur_tensor
from analyzers.machine.core.havoc import havoc_value, writes_in_place
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import (
    Bound,
    infer,
    kind_of,
    list_of,
    pieces,
    surely_floating,
    tensors_in,
    tensors_taken,
    unknown_operand,
)
from analyzers.machine.operators.layouts import note_layouts
from analyzers.machine.operators.recording import cut_of
from analyzers.ops.infer import TensorType
from analyzers.ops.table import Row


def unresolved(m: Machine, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """An operator that is not in the table, or a call that matches none of its overloads."""
    m.record.imprecisions += 1
    values = [*args, *kwargs.values()]
    if writes_in_place(name) and args and isinstance(args[0], Ref):
        havoc_value(m, args[0])
        return args[0]
    return opaque_result(m, name, values)


def opaque_result(m: Machine, name: str, values: Sequence[Value]) -> Ref:
    """A tensor computed from `values` in an unknown way."""
    for hook in m.st.packing or ():
        havoc_value(m, hook)
    operands = tuple(i for v in values for i in tensors_in(m, v))
    hidden = any(unknown_operand(m, v) or _fits_nowhere(m, v) for v in values)
    step = Step(name, name, {"all": operands}, (), ("all",), "unknown", m.parents(values))
    requires = truth.both(m.st.grad, inputs_require_grad(m, step))
    if m.config.presumes and requires:
        return _presumed_result(m, step)
    if hidden and requires is False and m.st.grad is not False:
        requires = None
    if requires is not False:
        requires = None
    node = make_node(m, step, ()) if requires is not False else None
    cut = lost_graph(m, operands, None) if m.st.grad is False else None
    result = new_result(m, step, None, None, node, requires=requires, cut=cut, contiguous=None)
    if hidden:
        tensor = tensor_at(m, result.id)
        tensor.edge = Edge() if requires is not False else None
    if hidden or any(tensor_at(m, i).sparse is not False for i in operands):
        tensor_at(m, result.id).sparse = None
    return result


def _fits_nowhere(m: Machine, value: Value) -> bool:
    """Whether a constant is one that no operator takes, such as `...`: whoever takes it is none that we know."""
    return isinstance(value, Const) and kind_of(m, value) == "object"


def _presumed_result(m: Machine, step: Step) -> Ref:
    """An unknown operator is presumed to have a derivative."""
    step.kind = "op"
    return new_result(m, step, None, None, make_node(m, step, ()), requires=True, contiguous=None)


def decomposed(m: Machine, row: Row, bound: dict[str, Value], what: str, count: int | None) -> Value:
    """A composite that the machine does not decompose: its graph is unknown, but often not its flags."""
    operands = {name: tensors_in(m, value) for name, value in bound.items()}
    step = Step(row.base, what, operands, (), tuple(operands), "unknown", m.parents(list(bound.values())))
    step.requires = inputs_require_grad(m, step)
    step.hidden = may_lead_on(m, tensors_taken(row, bound))
    if m.config.presumes and step.requires:
        step.kind = "op"
    if any(unknown_operand(m, v) for v in tensors_taken(row, bound)) and not step.requires:
        step.requires = None
    types = infer(m, row, bound)
    tensor_returns = [r for r in row.returns if r.type == "Tensor"]
    if not tensor_returns:
        if row.returns and row.returns[0].type == "Tensor[]":
            return _opaque_list(m, row, bound, step, count)
        return Unknown(
            {"bool": "bool", "int": "int", "SymInt": "int", "Scalar": "float"}.get(
                row.returns[0].type if row.returns else ""
            )
        )
    if row.returns[0].alias is not None:
        return maybe_view(m, row, bound, step, types)
    out = []
    for order in range(len(tensor_returns)):
        t = types[order] if types is not None and order < len(types) else None
        requires = result_requires_grad(m, step, t.dtype if t else None)
        known = m.config.presumes or (t is not None and t.dtype is not None) or surely_floating(m, row, bound, order)
        requires = None if requires and not known else requires
        cut = cut_of(m, row, step, t.dtype if t else None)
        node = make_node(m, step, ()) if requires is not False else None
        out.append(
            new_result(
                m, step, t.shape if t else None, t.dtype if t else None, node, requires=requires, cut=cut,
                contiguous=None,
            )
        )  # fmt: skip
    note_layouts(m, row, bound, [i for ids in operands.values() for i in ids], out)
    return out[0] if len(out) == 1 else Tup(tuple(out), "torch.return_types", tuple(r.name or "" for r in row.returns))


def _opaque_list(m: Machine, row: Row, bound: dict[str, Value], step: Step, count: int | None) -> Value:
    wanted = pieces(m, row, bound, count)
    requires = result_requires_grad(m, step, None)
    requires = None if requires else requires
    node = make_node(m, step, ()) if requires is not False else None

    made = [
        new_result(m, step, t.shape, t.dtype, node, index, requires=requires, contiguous=None)
        for index, t in enumerate(wanted.all())
    ]
    return list_of(m, wanted, made)


def perhaps_itself(m: Machine, source: Value, result: Value) -> Value:
    """A result that may be the tensor that it was made of, and then is a leaf if that is."""
    given, made = m.tensor(source), m.tensor(result)
    if made is None or not isinstance(result, Ref):
        return result
    if made.requires_grad is False and (given is None or given.requires_grad is not False):
        # Nothing is recorded, and it is a tensor that requires grad, or its copy that does not.
        m.st.put(result.id, replace(made, requires_grad=None, edge=Edge()))
    elif given is not None and given.is_leaf is not False:
        m.st.put(result.id, replace(made, edge=made.edge and replace(made.edge, maybe=True)))
    return result


def maybe_view(
    m: Machine, row: Row, bound: Bound, step: Step, types: tuple[TensorType, ...] | None, *, itself: bool = True
) -> Value:
    """A composite that may return a view of `self`, or `itself`: its place in the graph is unknown, and its memory may
    be shared."""
    source = bound.get("self", NONE)
    if not isinstance(source, Ref) or m.tensor(source) is None:
        return opaque_result(m, row.base, list(bound.values()))
    t = types[0] if types else None
    requires = truth.both(m.st.grad, step.requires)
    if itself and m.st.grad is False and step.requires is not False:
        requires = None
    node = make_node(m, step, ()) if requires is not False else None
    result = new_result(
        m, step, t.shape if t else None, t.dtype if t else None, node, requires=requires, contiguous=None
    )
    of = tensor_at(m, source.id)
    if itself:
        perhaps_itself(m, source, result)
    tensor = tensor_at(m, result.id)
    # A write to one may be a write to the other.
    tensor.counter = of.counter
    tensor.storage = of.storage
    tensor.inference = None if of.inference is not False else False
    tensor.perhaps_of = of.base if of.base is not None else source.id
    tensor.offset = None
    if tensor.counter == of.counter and row.base not in {"T", "mT", "H", "mH"}:
        tensor.counter = m.fresh()
        m.st.put(tensor.counter, m.st.get(of.counter))
        blur_tensor(m, result.id)
    return result
