"""Tensors made from sizes and numbers, and conversions between dtypes.

arange(0, 10, 3)         ->  int64[4]
zeros_like(int32[2, 3])  ->  int32[2, 3]
"""

from __future__ import annotations

import math

from analyzers.ops.infer_core import Call, Result, TensorType, as_tensor, broadcast, promote, range_length, rule
from analyzers.ops.promote import complex_of, is_integral, real_of


@rule("zeros ones rand randn empty empty_strided empty_permuted _efficientzerotensor")
def _default(call: Call) -> Result:
    return TensorType(call.ints("size"), call.cast(call.default))


@rule("randint")
def _randint(call: Call) -> Result:
    return TensorType(call.ints("size"), call.cast("int64"))


@rule("randperm")
def _randperm(call: Call) -> Result:
    return TensorType((call.number("n"),), call.cast("int64"))


def _number_dtype(value: object, default: str) -> str | None:
    """The dtype that a Python number becomes a tensor of."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return default
    if isinstance(value, complex):
        return complex_of(default)
    if isinstance(value, TensorType) and value.wrapped:
        kind = value.dtype
        return kind if kind is None or is_integral(kind) else default if real_of(kind) == kind else complex_of(default)
    return None


@rule("full")
def _full(call: Call) -> Result:
    return TensorType(call.ints("size"), call.cast(_number_dtype(call.args.get("fill_value"), call.default)))


@rule("scalar_tensor")
def _scalar_tensor(call: Call) -> Result:
    return TensorType((), call.cast(call.default))


@rule("eye")
def _eye(call: Call) -> Result:
    rows = call.number("n")
    return TensorType((rows, call.number("m") if call.given("m") else rows), call.cast(call.default))


@rule("arange range")
def _arange(call: Call) -> Result:
    start, end, step = call.args.get("start", 0), call.args.get("end"), call.args.get("step", 1)
    kinds = [_number_dtype(value, call.default) for value in (start, end, step)]
    dtype = None if None in kinds else "int64" if all(is_integral(kind or "") for kind in kinds) else call.default
    if not all(isinstance(value, (int, float)) for value in (start, end, step)):
        return TensorType((None,), call.cast(dtype))
    if not (isinstance(start, int) and isinstance(end, int) and isinstance(step, int)):
        return TensorType((_float_range(start, end, step),), call.cast(dtype))
    return TensorType((range_length(start, end, step) if step else None,), call.cast(dtype))


def _float_range(start: object, end: object, step: object) -> int | None:
    if not (isinstance(start, (int, float)) and isinstance(end, (int, float)) and isinstance(step, (int, float))):
        return None
    if not step or not all(map(math.isfinite, (start, end, step))):
        return None
    return math.ceil((end - start) / step)


@rule("linspace logspace")
def _linspace(call: Call) -> Result:
    kinds = [_number_dtype(call.args.get(name), call.default) for name in ("start", "end")]
    is_tensor = [isinstance(value, TensorType) for value in (call.args.get("start"), call.args.get("end"))]
    dtype = None if None in kinds or any(is_tensor) else call.default
    if dtype and any(real_of(kind) != kind for kind in kinds):
        dtype = complex_of(dtype)
    return TensorType((call.number("steps"),), call.cast(dtype))


@rule("zeros_like ones_like empty_like rand_like randn_like randint_like full_like")
def _like(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, call.cast(operand.dtype))


@rule("new_zeros new_ones new_empty new_full new_empty_strided")
def _new(call: Call) -> Result:
    return TensorType(call.ints("size"), call.cast(call.tensor("self").dtype))


@rule("normal")
def _normal(call: Call) -> Result:
    if "size" in call.args:
        return TensorType(call.ints("size"), call.cast(call.default))
    operands = [as_tensor(call.args[name]) for name in ("mean", "std", "self") if name in call.args]
    tensors = [operand for operand in operands if not operand.wrapped]
    if len(tensors) == 1:
        return TensorType(tensors[0].shape, tensors[0].dtype)
    dtype = promote(*tensors, default=call.default) if len({t.dtype for t in tensors}) == 1 else None
    return TensorType(broadcast(*(t.shape for t in operands)), dtype)


def _count_lower(rows: int, columns: int, offset: int) -> int:
    return sum(min(max(row + offset + 1, 0), columns) for row in range(rows))


@rule("tril_indices")
def _lower_triangle(call: Call) -> Result:
    rows, columns, offset = call.number("row"), call.number("col"), call.number("offset", 0)
    known = rows is not None and columns is not None and offset is not None and rows <= 10_000
    count = _count_lower(rows, columns, offset) if known else None  # type: ignore[arg-type]
    return TensorType((2, count), call.cast("int64"))


@rule("triu_indices")
def _upper_triangle(call: Call) -> Result:
    rows, columns, offset = call.number("row"), call.number("col"), call.number("offset", 0)
    if rows is None or columns is None or offset is None or rows > 10_000:
        return TensorType((2, None), call.cast("int64"))
    return TensorType((2, rows * columns - _count_lower(rows, columns, offset - 1)), call.cast("int64"))


@rule("to _to_copy to_dense _to_dense")
def _to(call: Call) -> Result:
    operand = call.tensor("self")
    if call.given("other"):
        return TensorType(operand.shape, call.tensor("other").dtype)
    return TensorType(operand.shape, call.cast(operand.dtype))


@rule("type_as")
def _type_as(call: Call) -> Result:
    return TensorType(call.tensor("self").shape, call.tensor("other").dtype)


@rule("hann_window hamming_window blackman_window bartlett_window kaiser_window")
def _window(call: Call) -> Result:
    return TensorType((call.number("window_length"),), call.cast(call.default))


def _register_casts() -> None:
    names = {
        "_cast_Byte": "uint8", "_cast_Char": "int8", "_cast_Double": "float64", "_cast_Float": "float32",
        "_cast_Int": "int32", "_cast_Long": "int64", "_cast_Short": "int16", "_cast_Half": "float16",
        "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32",
        "long": "int64", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64",
        "cdouble": "complex128", "chalf": "complex32",
    }  # fmt: skip
    for name, dtype in names.items():
        rule(name)(lambda call, dtype=dtype: TensorType(call.tensor("self").shape, dtype))


_register_casts()
