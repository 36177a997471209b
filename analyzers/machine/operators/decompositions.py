"""Operators that torch composes from others, written in Python.

The prelude's folder `aten-composites` has a function for each such operator, with the operator's base name and the
schema's parameter names. Running it produces the same graph as torch's own composition:

    def square(self):
        return torch.pow(self, 2)     # a PowBackward0, reported as a step of `square`

The `out=` form may be a separate function, `square_out`. Where a function asks for a shape or a dtype that is unknown,
both ways are run, and what both save is saved.
"""

from __future__ import annotations

from analyzers.domain.values import Func, Ref, Tup, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.operators.arguments import infer, tensors_in
from analyzers.ops.table import Row

FOLDER = "aten-composites"


def composed(m: Machine, row: Row, bound: dict[str, Value], what: str) -> Value | None:
    """The operator's result as computed by its parts; None if these are not written down."""
    bound = {name: value for name, value in bound.items() if row.arg(name) is not None}
    place = m.config.program.library(f"{FOLDER}.{row.base}_out" if row.out else f"{FOLDER}.{row.base}")
    func = PORTS.python.library_value(m, place) if place is not None else None
    if not isinstance(func, Func) or not _takes(func, bound):
        return None
    before, steps = m.extent.enclosing_operator, m.budget.steps
    m.extent.enclosing_operator = before or what
    try:
        return _as_declared(m, row, bound, call(m, func, Args([], dict(bound))))
    finally:
        m.extent.enclosing_operator = before
        if m.budget.steps <= m.extent.limits.steps:  # a run that has used up its steps stays where it is
            m.budget.steps = steps + (m.budget.steps - steps + 3) // 4  # the parts of an operator are small


def _as_declared(m: Machine, row: Row, bound: dict[str, Value], result: Value) -> Value:
    """The result with the schema's names for its items, and with what the operator's own shape rule knows."""
    parts = result.items if isinstance(result, Tup) else (result,)
    types = infer(m, row, bound) or ()
    operands = {i for value in bound.values() for i in tensors_in(m, value)}
    for part, known in zip(parts, types, strict=False):
        tensor = m.tensor(part)
        if tensor is None or not isinstance(part, Ref) or part.id in operands:
            continue
        if tensor.shape is None or None in tensor.shape:
            tensor.shape = known.shape if known.shape is not None else tensor.shape
        tensor.dtype = tensor.dtype or known.dtype
    named = isinstance(result, Tup) and len(row.returns) == len(parts) > 1 and row.returns[0].name
    return Tup(parts, "torch.return_types", tuple(r.name or "" for r in row.returns)) if named else result


def _takes(func: Func, bound: dict[str, Value]) -> bool:
    names = {p.name for p in (*func.node.args.args, *func.node.args.kwonly)}
    required = {p.name for p in func.node.args.args} - {name for name, _ in func.defaults}
    return required <= bound.keys() <= names
