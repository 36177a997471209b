"""The shapes that a tensor of unknown rank may have.

Nobody knows the rank of the data, but what is computed of them has fewer possible shapes: `flatten(1)` leaves two
dimensions, `mean(1)` at least one, a convolution takes three or four. Each operator's shape rule is asked about every
rank that its operands may have; ranks that it refuses are none of theirs.

Only presumed runs note how their tensors are made, and nothing is asked before a backward wants to know.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import product
from math import prod

from analyzers.domain.values import Ref, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import tensors_in, type_of_argument
from analyzers.ops import infer as shapes
from analyzers.ops.infer_core import OpenList, Shape, TensorType, numel
from analyzers.ops.table import Row

OF_DATA: frozenset[Shape] = frozenset((None,) * rank for rank in range(6))
"""What data may be, and anything else of which nobody knows how it was made: from a number to a batch of videos."""

OF_BATCH = OF_DATA - {()}
"""What a loader gives has a dimension for its items, even where an item is a number."""

MOST_SHAPES = 16
MOST_CASES = 300
DEEPEST = 40


class Computed:
    def __init__(self) -> None:
        self.by: dict[int, tuple[Row, dict[str, Value]]] = {}
        """The operators that made the tensors of unknown rank."""
        self.known: dict[int, frozenset[Shape]] = {}
        """What was found out about them; an empty set if nothing was."""
        self.slices: set[int] = set()
        """Tensors of perhaps one item, sliced out of something unknown."""
        self.batches: Container[int] = ()
        """Tensors that are parts of a batch."""


def note_computed(m: Machine, row: Row, bound: dict[str, Value], result: Value) -> None:
    tensor = m.tensor(result)
    if not m.config.presumes or tensor is None or tensor.shape is not None or not isinstance(result, Ref):
        return
    if not any(result.id in tensors_in(m, value) for value in bound.values()):
        m.effect(_note, (result.id, row, tuple(bound.items())))


def _note(m: Machine, computed: tuple[int, Row, tuple[tuple[str, Value], ...]]) -> None:
    ident, row, bound = computed
    m.notebook(Computed, told=True).by.setdefault(ident, (row, dict(bound)))


def note_sliced(m: Machine, ident: int) -> None:
    """A tensor stands for some items of something unknown, perhaps one."""
    m.notebook(Computed).slices.add(ident)


def is_sliced(m: Machine, ident: int) -> bool:
    """Whether a tensor is perhaps one item of something unknown, or computed of one."""
    computed = m.notebook(Computed)
    for _ in range(DEEPEST):
        if ident in computed.slices:
            return True
        row, bound = computed.by.get(ident, (None, {}))
        if row is not None and row.base == "slice":
            types = {name: type_of_argument(m, value) for name, value in bound.items()}
            if _takes_one(types) or not _has_bounds(types):
                return True
        source = bound.get("self")
        if not isinstance(source, Ref):
            return False
        ident = source.id
    return False


def has_several(m: Machine, ident: int, batches: Container[int]) -> bool:
    """Whether a tensor has more than one element in each shape that it may have, if each unknown size is above one."""
    m.notebook(Computed).batches = batches
    possible = _possible(m, ident, 0)
    several = bool(possible) and all(numel(shape) != 1 for shape in possible)
    if several:
        m.presume("the data have more than one item", of_data=True)
    return several


def has_a_dimension(m: Machine, ident: int, batches: Container[int]) -> bool:
    """Whether a tensor is no plain number in any shape that it may have."""
    m.notebook(Computed).batches = batches
    possible = _possible(m, ident, 0)
    return bool(possible) and () not in possible


def _possible(m: Machine, ident: int, depth: int) -> frozenset[Shape]:
    tensor, computed = tensor_at(m, ident), m.notebook(Computed)
    if tensor.shape is not None:
        return frozenset([tensor.shape])
    if ident in computed.slices:
        return frozenset()
    if ident not in computed.by:
        return OF_BATCH if ident in computed.batches else OF_DATA
    if ident not in computed.known:
        computed.known[ident] = frozenset()
        if depth < DEEPEST:
            computed.known[ident] = _results(m, *computed.by[ident], depth + 1)
    return computed.known[ident]


def _sliced(shape: tuple[int | None, ...], types: Mapping[str, object]) -> Shape:
    """The shape of `x[i : i + 1]`: one item of however many."""
    dim = types.get("dim")
    return (*shape[:dim], 1, *shape[dim + 1 :]) if isinstance(dim, int) and _takes_one(types) else shape


def _has_bounds(types: Mapping[str, object]) -> bool:
    return all(types.get(name) is None or isinstance(types[name], int) for name in ("start", "end"))


def _takes_one(types: Mapping[str, object]) -> bool:
    start, end = types.get("start"), types.get("end")
    return isinstance(end, int) and end - (start if isinstance(start, int) else 0) == 1


_OF_CLASSES = frozenset({"cross_entropy_loss", "nll_loss", "nll_loss_nd"})


_SPREADING = frozenset({"add", "div", "mul", "sub"})
"""Operators whose result has the elements of either operand, spread over those of the other."""


def _fits_no_classes(case: Mapping[str, object]) -> bool:
    """Whether there are no scores of classes; or scores of one item and, if each unknown size is above one, several
    labels: torch takes one."""
    scores, labels = (_shape_of(case.get(name)) for name in ("self", "target"))
    several = labels is not None and len(labels) == 1 and labels != (1,)
    return scores == () or (several and scores is not None and len(scores) == 1)


def _shape_of(given: object) -> Shape:
    return given.shape if isinstance(given, TensorType) else None


def _results(m: Machine, row: Row, bound: Mapping[str, Value], depth: int) -> frozenset[Shape]:
    """The shapes of an operator's result over all shapes of its operands."""
    types = {name: type_of_argument(m, value) for name, value in bound.items()}
    if row.base == "slice" and not _has_bounds(types):
        return frozenset()  # perhaps one item
    if row.base == "stack" and isinstance(types.get("tensors"), OpenList):
        return OF_BATCH
    options: list[Sequence[tuple[str, TensorType]]] = []
    known: list[frozenset[Shape]] = []
    for name, value in bound.items():
        given, arg = types[name], row.arg(name)
        if isinstance(value, Ref) and isinstance(given, TensorType) and given.shape is None:
            found = _possible(m, value.id, depth)
            known.append(found)
            options.append([(name, TensorType(shape, given.dtype)) for shape in found])
        elif given is shapes.UNKNOWN and arg is not None and arg.type == "Tensor":
            options.append([(name, TensorType(shape, None)) for shape in OF_DATA])
    if prod(len(some) for some in options) > MOST_CASES:
        return frozenset()
    if row.base in _SPREADING and not all(known):
        # What has several elements keeps them, whatever is added to it.
        return next((found for found in known if found and all(numel(shape) != 1 for shape in found)), frozenset())
    possible: set[Shape] = set()
    for case in product(*options):
        if row.base in _OF_CLASSES and _fits_no_classes({**types, **dict(case)}):
            continue
        try:
            results = shapes.infer(row.base, {**types, **dict(case)}, default_dtype=m.indexes.default_dtype)
        except (shapes.ShapeError, IndexError):
            continue  # a rule may read a dimension that such a rank does not have: torch refuses it before
        if not results or results[0].shape is None:
            return frozenset()
        possible.add(results[0].shape if row.base != "slice" else _sliced(results[0].shape, types))
    return frozenset(possible) if len(possible) <= MOST_SHAPES else frozenset()
