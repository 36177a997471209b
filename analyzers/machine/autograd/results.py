"""New tensors as results: whether they require grad, and where a graph is lost."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain import truth
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Counter, Edge, Shape, Storage, Tensor
from analyzers.domain.values import Ref, Tup, Value
from analyzers.machine.autograd.graph import Step, may_be_converted, refreshed
from analyzers.machine.autograd.likely_tensors import is_doubted
from analyzers.machine.autograd.tensors import FLOATING, can_require_grad
from analyzers.machine.core.machine import Machine


def lost_graph(m: Machine, operands: Sequence[int], cut: Cut | None) -> Cut | None:
    """The cut to record on a result without a graph: none if no operand had a graph."""
    for ident in operands:
        tensor = refreshed(m, ident)
        if tensor.requires_grad:
            if cut is not None:
                return cut
            return "inference" if m.st.inference else "no-grad"
    return None


def _perhaps_lost(m: Machine, step: Step, dtype: str | None) -> Cut | None:
    """The cut on a result without a graph if one of its operands had a graph, as nobody knows."""
    cut: Cut | None = "integer" if can_require_grad(dtype) is False else None
    if m.st.inference or m.st.grad is False:
        cut = "inference" if m.st.inference else "no-grad"
    known = cut is None or (step.requires is not None and not any(is_doubted(m, parent) for parent in step.parents))
    return None if known else cut


def result_requires_grad(m: Machine, step: Step, dtype: str | None) -> truth.Truth:
    requires = truth.both(m.st.grad, step.requires)
    if m.st.inference:
        return False
    able = can_require_grad(dtype)
    if able is False:
        return False
    return requires


def new_result(
    m: Machine,
    step: Step,
    shape: Shape,
    dtype: str | None,
    node: int | None,
    output: int = 0,
    *,
    requires: truth.Truth,
    cut: Cut | None = None,
    contiguous: truth.Truth = True,
) -> Ref:
    """A result with its own memory."""
    if shape is not None and all(size == 1 for size in shape):
        contiguous = True
    if m.st.casting == "?" and dtype in FLOATING and may_be_converted(m, step):
        dtype = None
    storage = m.fresh()
    m.st.put(storage, Storage())
    counter = m.fresh()
    m.st.put(counter, Counter())
    perhaps = _perhaps_lost(m, step, dtype) if requires is False and cut is None else None
    lineage = Lineage(step.what, m.here(), step.parents, cut, m.via(), requires is True, requires is None, perhaps)
    edge = None
    if requires is not False:
        edge = Edge(node, output) if node is not None else Edge()
    return m.new(
        Tensor(
            storage=storage,
            counter=counter,
            requires_grad=requires,
            edge=edge,
            shape=shape,
            dtype=dtype,
            inference=m.st.inference,
            contiguous=contiguous,
            moved=step.moved,
            lineage=lineage,
        )
    )


def pieces(values: Sequence[Ref]) -> Value:
    """The result of an operator that returns several tensors."""
    return values[0] if len(values) == 1 else Tup(tuple(values))
