"""Where the elements of a tensor lie in its memory, and what torch makes of that.

Sizes, strides and offsets count elements: that at index (i, j) lies at `offset + i * strides[0] + j * strides[1]`.
Strides decide whether `reshape` copies, whether `view` is possible, and whether torch refuses a write in place.

    x            (2, 3)  strides (3, 1)
    x.t()        (3, 2)  strides (1, 3)   the same elements in another order: `view(-1)` is refused
    x[:, :2]     (2, 2)  strides (3, 1)   with gaps
    x.expand     (4, 2, 3) strides (0, 3, 1)   overlaps itself: `add_` is refused

The rules are those of `computeStride`, `get_overlap_status` and `TensorIterator` in ATen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

Sizes: TypeAlias = tuple[int, ...]
Overlap: TypeAlias = Literal["none", "partial", "full"]


@dataclass(frozen=True, slots=True)
class Layout:
    """A tensor's sizes and strides, and where its first element lies."""

    shape: Sizes
    strides: Sizes
    offset: int = 0

    @classmethod
    def packed(cls, shape: Sizes, offset: int = 0) -> Layout:
        """The layout of a new tensor: row by row, without gaps."""
        strides: list[int] = []
        step = 1
        for size in reversed(shape):
            strides.append(step)
            step *= max(size, 1)
        return cls(shape, tuple(reversed(strides)), offset)

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie row by row without gaps; strides of dimensions of size 1 do not matter."""
        if self.numel == 0:
            return True
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1:
                if stride != step:
                    return False
                step *= size
        return True

    @property
    def dense(self) -> bool:
        """Whether the elements fill their part of the memory exactly, in whatever order."""
        if self.numel == 0:
            return True
        step = 1
        for stride, size in sorted((s, n) for s, n in zip(self.strides, self.shape, strict=True) if n > 1):
            if stride != step:
                return False
            step *= size
        return True

    @property
    def overlaps_itself(self) -> bool:
        """Whether torch sees that several elements share memory."""
        return any(stride == 0 and size > 1 for stride, size in zip(self.strides, self.shape, strict=True))

    def overlap(self, other: Layout) -> Overlap:
        """How two tensors with the same memory overlap, as far as torch looks."""
        if self == other:
            return "full"
        if not (self.numel and other.numel and self.dense and other.dense):
            return "none"
        if self.offset == other.offset and self.numel == other.numel:
            return "full" if self.strides == other.strides else "partial"
        apart = self.offset + self.numel <= other.offset or other.offset + other.numel <= self.offset
        return "none" if apart else "partial"

    def reshaped(self, shape: Sizes) -> Layout | None:
        """The same elements in the same order with other sizes; None where only a copy can have them."""
        strides = _view_strides(self.shape, self.strides, shape)
        return None if strides is None else Layout(shape, strides, self.offset)

    def transposed(self, first: int, second: int) -> Layout:
        order = list(range(len(self.shape)))
        order[first], order[second] = order[second], order[first]
        return self.permuted(order)

    def permuted(self, order: Sequence[int]) -> Layout:
        return Layout(tuple(self.shape[i] for i in order), tuple(self.strides[i] for i in order), self.offset)

    def with_dim(self, dim: int, size: int, stride: int, offset: int = 0) -> Layout:
        """Dimension `dim` with another size and stride, the first element moved by `offset`."""
        shape = (*self.shape[:dim], size, *self.shape[dim + 1 :])
        return Layout(shape, (*self.strides[:dim], stride, *self.strides[dim + 1 :]), self.offset + offset)

    def without_dims(self, dims: set[int], offset: int = 0) -> Layout:
        kept = [i for i in range(len(self.shape)) if i not in dims]
        return Layout(
            tuple(self.shape[i] for i in kept), tuple(self.strides[i] for i in kept), self.offset + offset
        )  # fmt: skip


def _view_strides(shape: Sizes, strides: Sizes, wanted: Sizes) -> Sizes | None:
    if not shape:
        return (1,) * len(wanted)
    if prod(shape) == 0:
        return strides if shape == wanted else Layout.packed(wanted).strides
    out = [0] * len(wanted)
    at = len(wanted) - 1
    base = strides[-1]
    old = new = 1
    for dim in reversed(range(len(shape))):
        old *= shape[dim]
        if dim and (shape[dim - 1] == 1 or strides[dim - 1] == old * base):
            continue
        while at >= 0 and (new < old or wanted[at] == 1):
            out[at] = new * base
            new *= wanted[at]
            at -= 1
        if new != old:
            return None
        if dim:
            base = strides[dim - 1]
            old = new = 1
    return tuple(out) if at == -1 else None


# --- views ------------------------------------------------------------------------------------------------------

_Args: TypeAlias = Mapping[str, object]
_Rule: TypeAlias = Callable[[Layout, _Args], "Layout | None"]


def viewed(name: str, of: Layout, args: _Args, shape: Sizes) -> Layout | None:
    """The layout of the view that operator `name` makes; None where it is not known.

    `args` are the operator's arguments by name: numbers, tuples of numbers; `shape` are the sizes of the result.
    """
    rule = _VIEWS.get(name)
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in args.items()}
    found = rule(of, {**given, "to": shape}) if rule is not None else None
    return found if found is not None and found.shape == shape else None


def pieces(name: str, of: Layout, args: _Args, shapes: Sequence[Sizes]) -> list[Layout | None]:
    """The layouts of the views that an operator such as `split` makes, of the sizes in `shapes`."""
    dim = _dim(of, args.get("dim", 0))
    if dim is None or name not in {"unbind", "split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split"}:
        return [None] * len(shapes)
    out: list[Layout | None] = []
    offset = 0
    for shape in shapes:
        if name == "unbind":
            piece = of.without_dims({dim}, offset)
            offset += of.strides[dim]
        else:
            piece = of.with_dim(dim, shape[dim], of.strides[dim], offset)
            offset += shape[dim] * of.strides[dim]
        out.append(piece if piece.shape == shape else None)
    return out


def _dim(of: Layout, value: object, extra: int = 0) -> int | None:
    rank = len(of.shape) + extra
    if not isinstance(value, int) or not -rank <= value < max(rank, 1):
        return None
    return value % rank if rank else 0


def _dims(of: Layout, args: _Args, *names: str) -> list[int] | None:
    found = [_dim(of, args.get(name)) for name in names]
    return None if None in found or not of.shape else [d for d in found if d is not None]


def _same(of: Layout, args: _Args) -> Layout | None:
    return of


def _reshape(of: Layout, args: _Args) -> Layout | None:
    return of.reshaped(args["to"])  # type: ignore[arg-type]


def _t(of: Layout, args: _Args) -> Layout | None:
    return of.transposed(0, 1) if len(of.shape) == 2 else of


def _transpose(of: Layout, args: _Args) -> Layout | None:
    if not of.shape:
        return of
    dims = _dims(of, args, "dim0", "dim1")
    return of.transposed(*dims) if dims is not None else None


def _permute(of: Layout, args: _Args) -> Layout | None:
    order = args.get("dims")
    if not isinstance(order, tuple):
        return None
    dims = [_dim(of, d) for d in order]
    return None if None in dims else of.permuted([d for d in dims if d is not None])


def _select(of: Layout, args: _Args) -> Layout | None:
    dims, index = _dims(of, args, "dim"), args.get("index")
    if dims is None or not isinstance(index, int):
        return None
    size = of.shape[dims[0]]
    return of.without_dims({dims[0]}, (index % size if size else 0) * of.strides[dims[0]])


def _slice(of: Layout, args: _Args) -> Layout | None:
    dim = _dim(of, args.get("dim", 0))
    start, step = args.get("start"), args.get("step", 1)
    if dim is None or not of.shape or not isinstance(step, int) or not (start is None or isinstance(start, int)):
        return None
    size = of.shape[dim]
    first = min(max(start + size if start < 0 else start, 0), size) if start is not None else 0
    to = args["to"]
    assert isinstance(to, tuple)
    return of.with_dim(dim, to[dim], of.strides[dim] * step, first * of.strides[dim])


def _unsqueeze(of: Layout, args: _Args) -> Layout | None:
    dim = _dim(of, args.get("dim"), extra=1)
    if dim is None:
        return None
    stride = of.shape[dim] * of.strides[dim] if dim < len(of.shape) else 1
    return Layout(
        (*of.shape[:dim], 1, *of.shape[dim:]), (*of.strides[:dim], stride, *of.strides[dim:]), of.offset
    )  # fmt: skip


def _squeeze(of: Layout, args: _Args) -> Layout | None:
    wanted = args.get("dim", tuple(range(len(of.shape))))
    dims = [_dim(of, d) for d in (wanted if isinstance(wanted, tuple) else (wanted,))]
    if None in dims:
        return None
    return of.without_dims({d for d in dims if d is not None and of.shape and of.shape[d] == 1})


def _expand(of: Layout, args: _Args) -> Layout | None:
    to = args["to"]
    assert isinstance(to, tuple)
    if not of.shape:
        return Layout(to, (0,) * len(to), of.offset)
    strides: list[int] = []
    for back, size in enumerate(reversed(to), start=1):
        if back > len(of.shape):
            before, stride = 1, strides[-1] * to[len(to) - back + 1] if strides else 1
        else:
            before, stride = of.shape[-back], of.strides[-back]
        strides.append(stride if before == size else 0)
    return Layout(to, tuple(reversed(strides)), of.offset)


def _diagonal(of: Layout, args: _Args) -> Layout | None:
    dims = _dims(of, {"dim1": 0, "dim2": 1, **args}, "dim1", "dim2")
    shift = args.get("offset", 0)
    if dims is None or not isinstance(shift, int):
        return None
    first, second = dims
    rest = of.without_dims({first, second})
    to = args["to"]
    assert isinstance(to, tuple)
    moved = max(shift, 0) * of.strides[second] + max(-shift, 0) * of.strides[first]
    stride = of.strides[first] + of.strides[second]
    return Layout(to, (*rest.strides, stride), of.offset + (moved if to and to[-1] else 0))


def _unfold(of: Layout, args: _Args) -> Layout | None:
    dims, step, size = _dims(of, args, "dimension"), args.get("step"), args.get("size")
    if dims is None or not isinstance(step, int) or not isinstance(size, int):
        return None
    to = args["to"]
    assert isinstance(to, tuple)
    stride = of.strides[dims[0]]
    moved = of.with_dim(dims[0], to[dims[0]], stride * step)
    return Layout((*moved.shape, size), (*moved.strides, stride), moved.offset)


def _as_strided(of: Layout, args: _Args) -> Layout | None:
    shape, strides, offset = args.get("size"), args.get("stride"), args.get("storage_offset")
    if not isinstance(shape, tuple) or not isinstance(strides, tuple):
        return None
    if not all(isinstance(number, int) for number in (*shape, *strides)):
        return None
    return Layout(shape, strides, offset if isinstance(offset, int) else of.offset)


_VIEWS: dict[str, _Rule] = {
    "alias": _same,
    "detach": _same,
    "_conj": _same,
    "view": _reshape,
    "_reshape_alias": _reshape,
    "t": _t,
    "transpose": _transpose,
    "permute": _permute,
    "select": _select,
    "slice": _slice,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "expand": _expand,
    "diagonal": _diagonal,
    "unfold": _unfold,
    "as_strided": _as_strided,
}


# --- new tensors ------------------------------------------------------------------------------------------------

# Operators that go through TensorIterator: element by element.
_POINTWISE = frozenset(
    word
    for line in (
        "abs acos acosh add addcdiv addcmul angle asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or",
        "bitwise_xor ceil clamp clamp_max clamp_min copysign cos cosh deg2rad digamma div elu eq erf erfc erfinv",
        "exp exp2 expm1 floor floor_divide fmax fmin fmod frac ge gelu gt hardsigmoid hardswish hardtanh heaviside",
        "hypot isnan le leaky_relu lerp lgamma log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logit",
        "logical_or logical_xor lt maximum minimum mish mul nan_to_num ne neg nextafter pow rad2deg reciprocal relu",
        "remainder round",
        "rsqrt rsub sgn sigmoid sign silu sin sinc sinh softplus sqrt sub tan tanh threshold true_divide trunc where",
        "xlogy",
    )
    for word in line.split()
)

# Operators whose result has the layout of `self` where that has no gaps.
_LIKE = frozenset(
    {"clone", "_to_copy", "zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like"}
)


def produced(name: str, shape: Sizes, operands: Sequence[Layout]) -> Layout | None:
    """The layout of the new tensor that operator `name` makes of `operands`; None where it is not known."""
    if prod(shape) == 0:
        return None
    if name in _LIKE:
        model = operands[0]
        return Layout(shape, model.strides) if model.shape == shape and model.dense else _iterated(shape, [model])
    if name == "_scaled_dot_product_flash_attention_for_cpu":
        query = operands[0]
        return Layout(shape, query.strides) if query.shape == shape and query.dense else None
    if name not in _POINTWISE:
        return None
    return _iterated(shape, operands)


def _iterated(shape: Sizes, operands: Sequence[Layout]) -> Layout:
    """TensorIterator's choice: dimensions keep the order that they have in the operands."""
    if all(of.shape == shape for of in operands):
        if all(of.contiguous for of in operands):
            return Layout.packed(shape)
        if len({of.strides for of in operands}) == 1 and operands[0].dense:
            return Layout(shape, operands[0].strides)
    seen = [_broadcast_strides(of, shape) for of in operands]
    order = list(reversed(range(len(shape))))
    for i in range(1, len(order)):
        at = i
        for before in reversed(range(i)):
            compared = _compare(order[before], order[at], shape, seen)
            if compared > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif compared < 0:
                break
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return Layout(shape, tuple(strides))


def _broadcast_strides(of: Layout, shape: Sizes) -> Sizes:
    missing = len(shape) - len(of.shape)
    pairs = zip(of.shape, of.strides, shape[missing:], strict=True)
    return (0,) * missing + tuple(0 if size == 1 and wanted != 1 else stride for size, stride, wanted in pairs)


def _compare(first: int, second: int, shape: Sizes, operands: Sequence[Sizes]) -> int:
    """Whether dimension `first` is to lie outside (1) or inside (-1) of `second`; 0 where nothing decides."""
    for strides in operands:
        if strides[first] == 0 or strides[second] == 0:
            continue
        if strides[first] != strides[second]:
            return -1 if strides[first] < strides[second] else 1
        if shape[first] > shape[second]:
            return 1
    return 0
