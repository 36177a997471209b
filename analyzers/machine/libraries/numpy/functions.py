"""Numpy functions that tensors reach: arrays share their memory, but lose the graph."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import Array, ListObj, Tensor
from analyzers.domain.values import FALSE, TRUE, Const, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import FALLBACKS
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.numpy.arrays import array_of, check_convertible, is_solid, stays_solid
from analyzers.machine.libraries.torch.tensor_methods import array_over
from analyzers.machine.objects.folding import OPERATIONS, TooExpensiveError, fold

TAKES_LISTS = frozenset({
    "array_equal", "array_equiv", "astype", "block", "bmat", "broadcast_shapes", "can_cast", "common_type",
    "dtype", "empty", "eye", "from_dlpack", "fromfunction", "fromiter", "frompyfunc", "full_like", "identity",
    "indices", "isdtype", "isfortran", "isscalar", "issubdtype", "iterable", "ndarray", "ndindex", "ones",
    "printoptions", "put", "put_along_axis", "result_type", "rollaxis", "str_", "take_along_axis", "testing.assert_",
    "testing.assert_no_warnings", "testing.assert_raises", "testing.assert_raises_regex",
    "testing.assert_warns", "tri", "typename", "unstack", "vectorize", "zeros",
})  # fmt: skip
"""Functions that take lists without converting their items to arrays, or that refuse them for reasons of their own."""


TAKES_TENSORS = TAKES_LISTS | frozenset({
    "all", "amax", "amin", "any", "argwhere", "array_split", "concat", "concatenate", "diag_indices_from",
    "dsplit", "flip", "hsplit", "imag", "isreal", "lexsort", "max", "mean", "min", "moveaxis", "ndim",
    "nonzero", "prod", "real", "shape", "size", "split", "squeeze", "std", "sum", "swapaxes",
    "tril_indices_from", "triu_indices_from", "var", "vsplit",
})  # fmt: skip
"""Functions that also work on a tensor, through its own methods and attributes."""


ELEMENTWISE = frozenset({
    "abs", "absolute", "add", "ascontiguousarray", "clip", "copy", "cos", "cumsum", "divide", "empty_like", "exp",
    "expand_dims", "full_like", "log", "log1p", "maximum", "minimum", "multiply", "ones_like", "power", "round", "sign",
    "sin", "sqrt", "square", "subtract", "tan", "tanh", "tile", "transpose", "where", "zeros_like",
})  # fmt: skip
"""Functions whose result has a dimension if one of the arguments has."""


SIZES = {
    "random.normal": 2, "random.randint": 2, "random.random": 0, "random.standard_normal": 0, "random.uniform": 2,
}  # fmt: skip
"""The position of the shape among the arguments."""


def _call_numpy(m: Machine, short: str, args: Args) -> Value:
    if short in {"random.seed", "set_printoptions", "random.shuffle", "seterr"}:
        return Const(None)
    if short in {"load"}:
        return Unknown()
    for value in args.pos:
        if short in {"float64", "double"} and _may_be_one(m, value):
            continue
        if short not in (TAKES_LISTS if isinstance(m.obj(value), ListObj) else TAKES_TENSORS):
            check_convertible(m, value)
    if short in {"save", "savez", "savetxt"}:
        return Const(None)
    if short == "isscalar":
        return _is_scalar(m, args.get(0, "element"))
    if short in {"allclose", "array_equal", "isnan"} and all(isinstance(a, Const | Unknown) for a in args.pos):
        return Unknown("bool")
    numbers = [a for a in args.pos if isinstance(a, Const | Unknown | Tup)]
    first = args.pos[0] if args.pos else None
    if short in {"array", "asarray", "ascontiguousarray"} and first is not None:
        found = m.obj(first)
        if isinstance(found, Tensor | Array) and short != "array":
            array = array_over(found) if isinstance(found, Tensor) else found
            return m.new(replace(array, lineage=m.trail("numpy", m.parents([first]))))
        return array_of(m, args.pos, solid=_has_items(m, first))
    if len(numbers) == len(args.pos) and all(isinstance(a, Const) for a in args.pos) and len(args.pos) == 1:
        assert isinstance(first, Const)
        if f"math.{short}" in OPERATIONS and isinstance(first.value, int | float):
            try:
                return Const(fold(f"math.{short}", first.value))
            except TooExpensiveError:
                return Unknown()
            except (ValueError, TypeError, OverflowError):
                return Unknown("float")
    if short in {"mean", "sum", "max", "min", "std", "var", "prod", "median", "dot", "linalg.norm"}:
        trail = m.parents(args.pos)
        return Unknown(None, None, m.trail("numpy", trail))
    if short in {"float32", "float64", "int64", "int32", "float_", "bool_"}:
        return Unknown(None, None, m.trail("numpy", m.parents(args.pos)))
    return array_of(m, args.pos, solid=_is_solid(m, short, args))


def _is_scalar(m: Machine, value: Value) -> Value:
    """`np.isscalar`: of numbers and texts, but not of tensors without dimensions."""
    found = m.obj(value)
    if isinstance(found, Tensor) and not found.presumed:
        return FALSE
    match value:
        case Const(value=held):
            return Const(held is not None)
        case Unknown(type="int" | "float" | "bool" | "complex" | "str" | "bytes"):
            return TRUE
    return Unknown("bool")


def _may_be_one(m: Machine, value: Value) -> bool:
    """Whether a tensor may have just one element."""
    tensor = m.tensor(value)
    return tensor is not None and (tensor.shape is None or all(size in {1, None} for size in tensor.shape))


def _is_solid(m: Machine, name: str, args: Args) -> bool:
    """Whether a function returns an array with at least one dimension."""
    if name in {"concatenate", "stack", "vstack", "hstack"}:
        return True
    if name in {"arange", "linspace", "logspace", "eye", "identity"}:
        return not any(
            m.tensor(value) is not None or (isinstance(value, Unknown) and value.type is None) for value in args.pos
        )
    first = args.pos[0] if args.pos else None
    if name in {"zeros", "ones", "empty", "full"}:
        return first is not None and _is_size(m, first)
    if name in {"random.rand", "random.randn"}:
        return first is not None and not args.open
    if name.startswith("random."):
        at = SIZES.get(name)
        size = args.kw.get("size", args.pos[at] if at is not None and len(args.pos) > at else None)
        return size is not None and _is_size(m, size)
    return name in ELEMENTWISE and stays_solid(m, args.pos)


def _is_size(m: Machine, size: Value) -> bool:
    """Whether a shape has at least one dimension."""
    if isinstance(size, Unknown):
        return size.type == "int"
    return (isinstance(size, Const) and isinstance(size.value, int)) or _has_items(m, size)


def _has_items(m: Machine, value: Value) -> bool:
    """Whether an array made from a value has at least one dimension."""
    found = m.obj(value)
    return isinstance(found, ListObj) or (isinstance(value, Tup) and bool(value.items)) or is_solid(m, value)


enter(FALLBACKS, "numpy", _call_numpy)
