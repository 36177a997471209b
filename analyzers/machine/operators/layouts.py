"""Layouts: strides, contiguity and sparsity, which determine copies, views and forbidden writes.

table = torch.nn.Embedding(10, 3, sparse=True)
table(torch.tensor([1])).sum().backward()     # the gradient of its weight is sparse: Adam refuses it
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Shape, Tensor
from analyzers.domain.values import NONE, Builtin, Ref, Value
from analyzers.machine.autograd.graph import Step
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.views import ITSELF, doubt_overlap, lay_out, layout_of, sizes_of
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import is_augmented
from analyzers.ops import layout as layouts
from analyzers.ops.layout import Layout
from analyzers.ops.table import Row

_MAKERS = frozenset(
    [
        *(start + end for start in ("to_sparse", "_to_sparse") for end in ("", "_csr", "_csc", "_bsr", "_bsc")),
        *(f"sparse_{kind}_tensor" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed")),
    ]
)


_DENSE = frozenset({"to_dense", "_to_dense", "values", "indices", "_values", "_indices", "crow_indices", "col_indices"})


def note_layouts(
    m: Machine, row: Row, bound: Mapping[str, Value], operands: Sequence[int], made: Sequence[Ref]
) -> None:
    """Record which of the tensors created by an operator are sparse."""
    sparse = _result_is_sparse(m, row, bound, operands)
    for result in made:
        tensor_at(m, result.id).sparse = sparse


def _result_is_sparse(m: Machine, row: Row, bound: Mapping[str, Value], operands: Sequence[int]) -> truth.Truth:
    if row.base in _MAKERS:
        return True
    layout = bound.get("layout", NONE)
    if layout != NONE:
        return None if not isinstance(layout, Builtin) else layout.name.startswith("torch.sparse_")
    if row.base in _DENSE:
        return False
    return False if all(tensor_at(m, i).sparse is False for i in operands) else None


OTHERS = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single"


NO_VIEW = "view size is not compatible with input tensor's size and stride"


# Operators that may write to overlapping elements: they write the same value to all, or only warn.
_CARELESS = frozenset(
    {"fill_", "zero_", "masked_fill_", "index_put_", "index_fill_", "triu_", "tril_", "fill_diagonal_"}
)


# Operators whose input and output may overlap, or that copy the input first.
_HEEDLESS = frozenset({"masked_fill_", "addmm_", "fill_"})


# Operators that refuse any overlap of input and output, even an exact one.
_STRICT = frozenset({"index_add_", "index_copy_", "index_put_", "put_", "scatter_", "scatter_add_"})


# Operators whose results have their own element order, and those among them that use column-major order.
_OWN_ORDER = re.compile(
    r"_?linalg_(?!vector_norm|cross)|_?fft_|(ormqr|geqrf|cholesky|cholesky_inverse|cholesky_solve|triangular_solve|qr|svd"
    r"|lu_unpack|argwhere|nonzero|rot90|new_empty_strided|empty_strided|empty_permuted|unique_dim|orgqr|lstsq)$"
    r"|mkldnn|unsafe_split"
)


_ROW_BY_ROW = frozenset({"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "native_layer_norm"})
"""Operators whose results are row-major, whatever the layout of their operands."""


_BY_COLUMN = {"linalg_inv_ex": 1, "linalg_qr": 2, "_linalg_svd": 1}
"""Operators whose first n results are column-major."""


_SOLVING = frozenset({"_linalg_solve_ex"})


_STRIDED = frozenset({"empty_strided", "new_empty_strided"})


def view_layout(m: Machine, name: str, of: int, args: Mapping[str, object], shape: Shape) -> Layout | None:
    """The layout of a view about to be created, if torch creates it and all of it is known."""
    source, sizes = layout_of(tensor_at(m, of)), sizes_of(shape)
    if source is None or sizes is None:
        return None
    if name == "view" and prod(sizes) == source.numel and source.reshaped(sizes) is None:
        raise m.throw("RuntimeError", NO_VIEW, Plain("view-strides", tensor_at(m, of).lineage))
    return layouts.viewed(name, source, args, sizes)


def lay_out_pieces(m: Machine, name: str, of: int, args: Mapping[str, object], views: Sequence[Ref]) -> None:
    """Record the layouts of the pieces created by `split` and similar operators."""
    source = layout_of(tensor_at(m, of))
    shapes = [sizes for view in views for sizes in (sizes_of(tensor_at(m, view.id).shape),) if sizes is not None]
    known = source is not None and len(shapes) == len(views)
    places = layouts.pieces(name, source, args, shapes) if source is not None and known else [None for _ in views]
    for view, layout in zip(views, places, strict=True):
        if layout is not None:
            lay_out(tensor_at(m, view.id), layout)
        else:
            doubt_overlap(tensor_at(m, view.id))


def result_contiguous(m: Machine, name: str, memory_format: Value, ids: Sequence[int]) -> truth.Truth:
    """Whether a result with its own memory is row-major."""
    if memory_format == Builtin("torch.contiguous_format") or name in _ROW_BY_ROW:
        return True
    if name == "stack" and all(len(tensor_at(m, i).shape or (0,) * 9) < 3 for i in ids):
        # A tensor with four dimensions may be channels-last.
        return True
    if memory_format not in (NONE, Builtin("torch.preserve_format")) or _OWN_ORDER.match(name):
        return None
    return True if all(tensor_at(m, i).contiguous is True for i in ids) else None


def lay_out_results(
    m: Machine, step: Step, memory_format: Value, results: Sequence[Ref], args: Mapping[str, object]
) -> None:
    """New tensors keep the element order of their operands, unless another is requested."""
    if step.name in _STRIDED:
        _lay_out_strided(tensor_at(m, results[0].id), args.get("stride"))
        return
    operands = [tensor_at(m, i) for ids in step.inputs.values() for i in ids]
    if step.name in _BY_COLUMN:
        for result in results[: _BY_COLUMN[step.name]]:
            _lay_out_by_column(tensor_at(m, result.id))
        return
    if step.name in _SOLVING:
        solution = tensor_at(m, results[0].id)
        solution.contiguous = True if solution.shape is not None and len(solution.shape) == 1 else None
        return
    if all(operand.contiguous is True for operand in operands):
        return
    known = [layout for operand in operands for layout in (layout_of(operand),) if layout is not None]
    for result in results:
        tensor = tensor_at(m, result.id)
        sizes = sizes_of(tensor.shape)
        if memory_format == Builtin("torch.contiguous_format"):
            tensor.contiguous = True
        elif memory_format == NONE and sizes is not None and len(known) == len(operands):
            layout = layouts.produced(step.name, sizes, known)
            if layout is not None:
                lay_out(tensor, layout)


def _lay_out_strided(tensor: Tensor, given: object) -> None:
    """Record the strides given by the program."""
    sizes = sizes_of(tensor.shape)
    strides = tuple(s for s in given if isinstance(s, int)) if isinstance(given, list) else ()
    if sizes is not None and len(sizes) == len(strides):
        lay_out(tensor, Layout(sizes, strides))


def _lay_out_by_column(tensor: Tensor) -> None:
    """Record that each matrix of a batch is column-major."""
    sizes = sizes_of(tensor.shape)
    if sizes is not None and len(sizes) > 1:
        packed = Layout.packed((*sizes[:-2], sizes[-1], sizes[-2])).strides
        lay_out(tensor, Layout(sizes, (*packed[:-2], packed[-1], packed[-2]), 0))


def change_layout(m: Machine, name: str, ident: int, args: Mapping[str, object], shape: Shape) -> None:
    """Change a tensor's sizes in place, as `t_` and `unsqueeze_` do."""
    before, sizes = layout_of(tensor_at(m, ident)), sizes_of(shape)
    changed = replace(tensor_at(m, ident), shape=shape, contiguous=None, strides=None, offset=None)
    layout = None
    if before is not None and sizes is not None:
        layout = layouts.viewed(name.rstrip("_"), before, args, sizes)
    if layout is not None:
        lay_out(changed, layout)
    m.st.put(ident, changed)


def check_memory(m: Machine, ident: int, step: Step) -> None:
    """Refuse an in-place write to elements that overlap each other, or partially overlap an operand."""
    target = tensor_at(m, ident)
    if layout_of(target) is None:
        m.record.imprecisions += 1
    if step.name == "copy_" and _copies_nothing(m, ident, step):
        return
    copies = step.name == "fill_" and step.inputs.get("value")
    if (copies or step.name not in _CARELESS) and target.overlapping is not False:
        if target.overlapping and not (step.name == "copy_" and _may_be_itself(m, target, step.inputs.get("src", ()))):
            raise _refused(m, ITSELF, target)
        m.may_raise()
    if step.name in _HEEDLESS:
        return
    place = layout_of(target)
    for other in {i for name, ids in step.inputs.items() if name != "self" for i in ids}:
        source = tensor_at(m, other)
        if source.storage != target.storage or source.wrapper != target.wrapper:
            continue
        lies = layout_of(source)
        overlap = "full" if other == ident else place.overlap(lies) if place is not None and lies is not None else None
        if step.kind == "unknown":
            overlap = None
        if overlap == "partial" or (overlap == "full" and step.name in _STRICT):
            whole = tensor_at(m, target.base) if target.base is not None else target
            raise _refused(m, OTHERS, whole)
        if overlap is None and not _copies_item(m, step):
            # The exact memory layout of the operands is unknown.
            m.may_raise()


def _may_be_itself(m: Machine, target: Tensor, sources: Sequence[int]) -> bool:
    """Whether what is copied may be just what is there: an unknown value, or the same memory in an unknown order."""
    return not sources or any(tensor_at(m, source).storage == target.storage for source in sources)


def _copies_nothing(m: Machine, ident: int, step: Step) -> bool:
    """A copy between two names of the same elements: torch checks nothing further."""
    target = tensor_at(m, ident)
    place = layout_of(target)
    for source in step.inputs.get("src", ()):
        other = tensor_at(m, source)
        if source == ident or (place is not None and other.storage == target.storage and layout_of(other) == place):
            return True
    return False


def _copies_item(m: Machine, step: Step) -> bool:
    """`x[0] += 1` ends with copying the item to itself."""
    return step.what == "setitem" and is_augmented(m)


def _refused(m: Machine, message: str, told: Tensor) -> PyRaise:
    return m.throw("RuntimeError", message, Plain("overlap", told.lineage))
