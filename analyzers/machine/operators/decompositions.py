"""Operators that torch composes from others, written in Python.

The prelude's folder `aten-composites` has a function for each such operator, with the operator's base name and the
schema's parameter names. Running it produces the same graph as torch's own composition:

    def square(self):
        return torch.pow(self, 2)     # a PowBackward0, reported as a step of `square`

The `out=` form may be a separate function, `square_out`. A function that queries shapes or dtypes is only run if those
of its operands are known; otherwise the operator's graph stays unknown.
"""

from __future__ import annotations

from analyzers.domain.values import Func, Ref, Tup, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import words_in
from analyzers.machine.core.ports import PORTS
from analyzers.machine.operators.arguments import infer, tensors_in, unknown_operand
from analyzers.ops.table import Row

FOLDER = "aten-composites"


_ASKS_SHAPE = frozenset({"dim", "ndim", "shape", "size", "numel"})


_ASKS_DTYPE = frozenset({"dtype", "is_complex", "is_floating_point"})


_ASKS_SIZES = frozenset({"cdist", "chain_matmul", "einsum", "kron", "linalg_multi_dot", "tensordot"})
"""Operators that decompose differently for a size of one, or for other sizes: run only if all sizes are known."""


_asks: dict[tuple[str, str, int], tuple[bool, bool]] = {}


def composed(m: Machine, row: Row, bound: dict[str, Value], what: str) -> Value | None:
    """The operator's result as computed by its parts; None if these are not written down, or too little is known."""
    bound = {name: value for name, value in bound.items() if row.arg(name) is not None}
    place = m.config.program.library(f"{FOLDER}.{row.base}_out" if row.out else f"{FOLDER}.{row.base}")
    func = PORTS.python.library_value(m, place) if place is not None else None
    if not isinstance(func, Func) or not _takes(func, bound) or not _enough_known(m, func, row, bound):
        return None
    before = m.extent.enclosing_operator
    m.extent.enclosing_operator = before or what
    try:
        return _as_declared(m, row, bound, call(m, func, Args([], dict(bound))))
    finally:
        m.extent.enclosing_operator = before


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


def _enough_known(m: Machine, func: Func, row: Row, bound: dict[str, Value]) -> bool:
    shape, dtype = _asked(m, func)
    if not shape and not dtype:
        return True
    if any(unknown_operand(m, value) for name, value in bound.items() if not _is_number(row, name)):
        return False
    operands = [tensor_at(m, i) for value in bound.values() for i in tensors_in(m, value)]
    if func.node_name in _ASKS_SIZES and any(t.shape is None or None in t.shape for t in operands):
        return False
    return all((t.shape is not None or not shape) and (t.dtype is not None or not dtype) for t in operands)


def _is_number(row: Row, name: str) -> bool:
    """Whether an argument is a value to compute with, which leads nowhere else whatever it is."""
    arg = row.arg(name)
    return arg is not None and arg.type.rstrip("?") in {"Scalar", "float"}


def _asked(m: Machine, func: Func) -> tuple[bool, bool]:
    """Whether a function queries shapes, and dtypes; a function with helpers is assumed to query both."""
    key = (func.module, func.qualname, func.node.start)
    if key not in _asks:
        attributes, names = words_in(m, func)
        helped = any(name.startswith("_") for name in names)
        _asks[key] = (helped or bool(attributes & _ASKS_SHAPE), helped or bool(attributes & _ASKS_DTYPE))
    return _asks[key]
