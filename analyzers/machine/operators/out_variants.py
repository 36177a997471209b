"""`out=`: operators that write their result into a given tensor.

In grad mode, a differentiable operator refuses if any of its arguments requires grad. A composite either refuses in the
name of the part that receives the `out=`, or passes none on and copies the result at the end as by `copy_`, with a
graph. An operator whose `out=` form has no derivative gives the target a node whose backward raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge
from analyzers.domain.values import FALSE, NONE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import Step, edge_to, edges_of, refreshed
from analyzers.machine.autograd.tensors import can_require_grad, tensor_at
from analyzers.machine.autograd.versions import bump, version_of
from analyzers.machine.autograd.writes import rebase
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_target, havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import infer, infer_list, tensors_in, unknown_operand
from analyzers.machine.operators.decompositions import composed
from analyzers.ops import table
from analyzers.ops.infer import TensorType
from analyzers.ops.table import Arg, Row

REFUSED_BY: dict[str, str] = {
    "fft_fft": "_fft_r2c", "max": "maximum", "min": "minimum",
    "log_sigmoid": "log_sigmoid_forward", "kron": "mul", "outer": "mul", "ger": "mul", "linalg_multi_dot": "mm",
    "clip": "clamp", "concat": "cat", "concatenate": "cat", "column_stack": "cat", "row_stack": "cat", "hstack": "cat",
    "vstack": "cat", "dstack": "cat", "cross": "linalg_cross", "fft_fft2": "_fft_c2c", "fft_fftn": "_fft_c2c",
    "fft_hfft": "_fft_c2r", "fft_hfft2": "_fft_c2r", "fft_hfftn": "_fft_c2r", "fft_ifft2": "_fft_c2c",
    "fft_ifftn": "_fft_c2c", "fft_irfft": "_fft_c2r", "fft_irfft2": "_fft_c2r", "fft_irfftn": "_fft_c2r",
    "fft_rfft": "_fft_r2c", "fft_rfft2": "_fft_r2c", "fft_rfftn": "_fft_r2c", "float_power": "pow",
    "linalg_cholesky": "linalg_cholesky_ex", "linalg_det": "_linalg_det", "linalg_eigh": "_linalg_eigh",
    "linalg_eigvalsh": "_linalg_eigh", "linalg_inv": "linalg_inv_ex", "linalg_lu_factor": "linalg_lu_factor_ex",
    "linalg_slogdet": "_linalg_slogdet", "linalg_solve": "_linalg_solve_ex", "linalg_solve_ex": "_linalg_solve_ex",
    "linalg_svd": "_linalg_svd", "linalg_svdvals": "_linalg_svd", "lu_solve": "linalg_lu_solve", "matmul": "matmul",
    "msort": "sort", "nanmean": "nansum", "qr": "linalg_qr", "square": "pow", "std": "std", "svd": "_linalg_svd",
    "take_along_dim": "gather", "var": "var",
}  # fmt: skip
"""The part of a composite that refuses and is named in the message."""


COPYING = frozenset(
    (
        "linalg_cond", "linalg_pinv", "linalg_norm", "linalg_matrix_norm", "linalg_tensorinv",
        "linalg_tensorsolve", "nanquantile",
        "quantile", "special_ndtr",
    )
)  # fmt: skip
"""Composites that compute a new result and copy it."""


UNIMPLEMENTED = {"diag": "diag_embed", "linalg_ldl_factor": "linalg_ldl_factor_ex"}
"""Composites whose last part has no derivative in its `out=` form, and that part."""


RESIZING = frozenset({"empty", "randn"})
"""Operators that start by resizing the target."""


UNCOUNTED = frozenset({"empty", "kron"})
"""Operators whose write to a target bypasses the version counter."""


Run: TypeAlias = Callable[..., Value]


def write_out(m: Machine, row: Row, bound: dict[str, Value], what: str, run: Run) -> Value:
    """Run an `out=` row; returns its targets. `run` runs any row."""
    targets = [a.name for a in row.args if _is_target(a) and a.name in bound]
    bound = {**bound, **_each_target(bound, targets)}
    goals = list(dict.fromkeys(i for name in targets for i in tensors_in(m, bound[name])))
    before = [version_of(m, tensor_at(m, i)) for i in goals]
    result = _write(m, row, bound, what, run)
    if row.base in UNCOUNTED or before != [version_of(m, tensor_at(m, i)) for i in goals]:
        _resize(m, row, {name: value for name, value in bound.items() if name not in targets}, goals)
    may_refuse = _kind(row) in {"derivative", "no-grad"}
    if not may_refuse and any(unknown_operand(m, bound[n]) for n in bound.keys() - set(targets)):
        # What was written into the target may be in the graph.
        for ident in goals:
            base = tensor_at(m, ident).base
            havoc_value(m, Ref(ident if base is None else base))
    for ident in goals:
        around = tensor_at(m, ident).perhaps_of
        if around is not None:
            havoc_value(m, Ref(around))
    for name in targets:
        given = bound[name]
        if isinstance(given, Unknown):
            havoc_target(m, given)
    return result


def _resize(m: Machine, row: Row, given: dict[str, Value], written: list[int]) -> None:
    """Targets whose size differs from the result's are resized to it; that is the intended use for empty ones."""
    plain = _plain(row)
    types: Sequence[TensorType] = ()
    if plain is not None and plain.returns[0].type == "Tensor[]":
        listed = infer_list(m, row, given)
        types = listed.first if listed is not None else ()
    elif plain is not None:
        types = infer(m, plain, given) or ()
    for ident, known in zip_longest(written, types[: len(written)]):
        tensor = tensor_at(m, ident)
        shape = known.shape if known is not None else None
        empty = tensor.shape is not None and 0 in tensor.shape
        if shape is None and not empty:
            continue
        if tensor.shape != shape and (shape is None or None not in shape or empty):
            contiguous = True if shape is not None and len(shape) < 2 else None
            if row.base == "empty":
                bump(m, ident, "empty")
            m.st.put(ident, replace(tensor_at(m, ident), shape=shape, contiguous=contiguous, strides=None, offset=None))


def _write(m: Machine, row: Row, bound: dict[str, Value], what: str, run: Run) -> Value:
    targets = [a.name for a in row.args if _is_target(a) and a.name in bound]
    inputs = {a.name: tensors_in(m, bound[a.name]) for a in row.args if a.name in bound and not _is_target(a)}
    sources = tuple(i for ids in inputs.values() for i in ids)
    kind = _kind(row)
    makes = _makes_anew(row)
    if makes or (row.base in UNIMPLEMENTED and not _refusing(m, row, bound, list(sources))):
        kind = "not-implemented"
    written = tuple(dict.fromkeys(i for name in targets for i in tensors_in(m, bound[name])))
    if row.base in RESIZING and any(refreshed(m, i).requires_grad for i in written):
        raise m.throw("RuntimeError", "cannot resize variables that require grad", Plain())
    if kind == "composite":
        result = composed(m, row, bound, what)
        return result if result is not None else _written_as_parts_do(m, row, bound, what, run)
    if kind == "derivative":
        refuse(m, row.base, [*(i for name in row.differentiable for i in inputs.get(name, ())), *written])
    if kind == "not-implemented":
        _lose(m, row, sources, written, what)
    else:
        for ident in written:
            bump(m, ident, what)
    for ident in written if makes else ():
        _set_flag(m, ident)
    return _result(row, bound)


def _makes_anew(row: Row) -> bool:
    """Whether an operator is a factory, taking the options that factories take."""
    plain = _plain(row)
    return plain is not None and plain.arg("pin_memory") is not None


def _plain(row: Row) -> Row | None:
    """The overload whose `out=` form a row is."""
    overload = row.overload.removesuffix("out").removesuffix("_")
    named = table.row(f"{row.base}.{overload}" if overload else row.base)
    if named is not None and not named.out:
        return named
    wanted = [(a.name, a.type) for a in row.args if not _is_target(a)]
    others = [r for r in table.rows(row.base) if not r.out]
    alike = [r for r in others if len(others) == 1 or [(a.name, a.type) for a in r.args] == wanted]
    return alike[0] if alike else None


def _set_flag(m: Machine, ident: int) -> None:
    """Factories end by setting `requires_grad`, which is False unless requested; this only affects a leaf."""
    tensor = tensor_at(m, ident)
    if tensor.requires_grad and tensor.edge is None and tensor.base is None:
        m.st.put(ident, replace(tensor, requires_grad=False))


def _is_target(argument: Arg) -> bool:
    return argument.written and argument.kwarg_only


def _kind(row: Row) -> str:
    if row.kind != "composite":
        # The nested-tensor kernel has a derivative, and therefore an `out=` form that refuses.
        return "derivative" if row.base == "unbind_copy" else row.kind
    if row.alias_of is not None and (target := table.row(row.alias_of)) is not None:
        return target.kind
    return row.kind


def refuse(m: Machine, name: str, operands: list[int]) -> None:
    """Raise if, in grad mode, an operand requires grad."""
    if m.st.grad is True and any(refreshed(m, i).requires_grad for i in operands):
        raise _refusal(m, name)


def _refusal(m: Machine, name: str) -> PyRaise:
    message = f"{name}(): functions with out=... arguments don't support automatic differentiation"
    return m.throw("RuntimeError", message, Plain())


def _lose(m: Machine, row: Row, sources: tuple[int, ...], written: tuple[int, ...], what: str) -> None:
    """Write, and give the targets a node whose backward raises."""
    operands = (*sources, *written)
    part = UNIMPLEMENTED.get(row.base, row.base)
    if row.base == "diag" and any(len(tensor_at(m, i).shape or ()) == 2 for i in sources):
        part = "diagonal_copy"
    requires = truth.both(m.st.grad, truth.any_of(refreshed(m, i).requires_grad for i in operands))
    if m.st.inference:
        requires = False
    if requires and any(_is_fixed(m, i) for i in written):
        raise _refusal(m, f"aten::{part}")
    kept = tuple(i for i in operands if refreshed(m, i).requires_grad)
    step = Step(row.base, what, {"all": kept}, ("NotImplemented",), ("all",), "unimplemented", requires=requires)
    step.payload = Const(f"aten::{part}")
    edges = edges_of(m, step) if requires else ()
    for ident in written:
        base = tensor_at(m, ident).base
        base_edge = edge_to(m, base) if base is not None else None
        if row.base not in UNCOUNTED:
            bump(m, ident, what)
        if can_require_grad(tensor_at(m, ident).dtype) is not False:
            rebase(m, ident, step, (), edges, base_edge)


def _is_fixed(m: Machine, ident: int) -> bool:
    """Whether a target cannot get a new place in the graph: a leaf, a view of one, or one of several views."""
    tensor = refreshed(m, ident)
    if tensor.base is None:
        return bool(tensor.requires_grad and tensor.edge is None)
    base = refreshed(m, tensor.base)
    return tensor.creation not in {"default", "unknown"} or bool(base.requires_grad and base.edge is None)


def _written_as_parts_do(m: Machine, row: Row, bound: dict[str, Value], what: str, run: Run) -> Value:
    targets = [a.name for a in row.args if _is_target(a) and a.name in bound]
    given = {name: value for name, value in bound.items() if name not in targets}
    operands = [i for value in given.values() for i in tensors_in(m, value)]
    written = list(dict.fromkeys(i for name in targets for i in tensors_in(m, bound[name])))
    refusing = _refusing(m, row, bound, operands)
    if refusing:
        refuse(m, refusing, [*operands, *written])
    plain = _plain(row)
    target = bound[targets[0]] if len(targets) == 1 else NONE
    if row.base in COPYING and plain is not None and isinstance(target, Ref) and m.tensor(target) is not None:
        source = run(m, plain, given, what=what)
        made, found = m.tensor(source), tensor_at(m, target.id)
        if made is not None and made.shape is not None and made.shape != found.shape:
            m.st.put(target.id, replace(found, shape=made.shape, contiguous=None, strides=None, offset=None))
        copy = table.row("copy_")
        assert copy is not None
        run(m, copy, {"self": target, "src": source, "non_blocking": FALSE}, what=what)
        return target
    graph = m.st.grad is not False and not refusing
    graph = graph and any(refreshed(m, i).requires_grad is not False for i in operands)
    for ident in written:
        if row.base not in UNCOUNTED:
            bump(m, ident, what)
        able = can_require_grad(tensor_at(m, ident).dtype) is not False
        if (
            m.st.grad is not False
            and not refusing
            and able
            and any(refreshed(m, i).requires_grad is not False for i in operands)
        ):
            m.st.put(ident, replace(tensor_at(m, ident), requires_grad=None, edge=Edge()))
    return _result(row, bound)


def _refusing(m: Machine, row: Row, bound: dict[str, Value], operands: list[int]) -> str:
    """The part that refuses to write a tensor that requires grad."""
    if row.base.startswith("fft_") and any((tensor_at(m, i).dtype or "").startswith("complex") for i in operands):
        return REFUSED_BY.get(row.base, "_fft_c2c").replace("_fft_r2c", "_fft_c2c")
    plain = next((r for r in table.rows(row.base) if r.alias_of is not None), None)
    if plain is not None and plain.alias_of is not None:
        return plain.alias_of.split(".")[0]
    return REFUSED_BY.get(row.base, "")


def _each_target(bound: dict[str, Value], targets: list[str]) -> dict[str, Value]:
    """The individual targets: an `out=` tuple is bound to every output."""
    whole = bound[targets[0]] if targets else NONE
    if len(targets) > 1 and isinstance(whole, Tup) and all(bound[name] == whole for name in targets):
        return dict(zip(targets, whole.items, strict=False))
    return {}


def _result(row: Row, bound: dict[str, Value]) -> Value:
    values = [bound[a.name] for a in row.args if _is_target(a) and a.name in bound]
    if len(values) == 1:
        return values[0]
    names = tuple(r.name or "" for r in row.returns)
    return Tup(tuple(values), "torch.return_types", names if row.returns[0].name else ()) if values else NONE
