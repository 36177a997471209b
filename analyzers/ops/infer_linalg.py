"""Linear algebra on batches of matrices, and Fourier transforms.

linalg_qr(f32[5, 4, 3])   ->  f32[5, 4, 3], f32[5, 3, 3]
fft_rfft(f32[8, 10])      ->  complex64[8, 6]
"""

from __future__ import annotations

from analyzers.ops.infer_core import (
    Call,
    Result,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    promote,
    rule,
    same_dtype,
    show,
    unknown_sizes,
    wrap_dim,
)
from analyzers.ops.promote import complex_of, float_of, is_integral, real_of

_MATRIX = ("A", "self", "input", "LU", "LD")


FLOATING = frozenset(
    (
        "linalg_inv", "linalg_inv_ex", "linalg_cholesky", "linalg_cholesky_ex", "linalg_qr", "linalg_svd",
        "_linalg_svd", "_linalg_det", "linalg_det", "_linalg_slogdet", "_linalg_solve_ex", "linalg_eig",
        "_linalg_eigvals", "linalg_eigvals", "linalg_lstsq", "linalg_pinv", "linalg_matrix_exp", "linalg_vector_norm",
    )
)  # fmt: skip
"""Operators that refuse whole numbers."""


def refuse_integers(base: str, call: Call) -> None:
    """ShapeError for an operator that takes no whole numbers and is handed some."""
    dtype = call.tensor("A", "self").dtype if base in FLOATING else None
    if dtype is not None and is_integral(dtype):
        name = base.lstrip("_").replace("linalg_", "linalg.").removesuffix("_ex")
        raise ShapeError(f"{name}: Expected a floating point or complex tensor as input. Got {dtype}")


def _batched(shape: Shape) -> Shape:
    """The shape of a batch of matrices; ShapeError when there is no matrix."""
    if shape is not None and len(shape) < 2:
        raise ShapeError(f"linalg: The input tensor must have at least 2 dimensions, got {show(shape)}")
    return shape


def _smaller(a: int | None, b: int | None) -> int | None:
    return 0 if 0 in (a, b) else None if a is None or b is None else min(a, b)


@rule(
    "inverse linalg_inv linalg_cholesky matrix_power linalg_matrix_power cholesky_inverse "
    "linalg_householder_product orgqr matrix_exp linalg_matrix_exp"
)
def _same_matrix(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    return TensorType(_batched(operand.shape), operand.dtype)


@rule("cholesky")
def _cholesky(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, operand.dtype)


@rule("linalg_inv_ex linalg_cholesky_ex")
def _checked(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    return TensorType(shape, operand.dtype), TensorType(None if shape is None else shape[:-2], "int32")


@rule("pinverse linalg_pinv")
def _pinv(call: Call) -> Result:
    operand = call.tensor("self")
    shape = _batched(operand.shape)
    tolerances = [call.tensor(name) for name in ("atol", "rtol", "rcond") if call.given(name)]
    batch = None if shape is None else broadcast(shape[:-2], *(t.shape for t in tolerances))
    if shape is None or batch is None:
        return TensorType(None, operand.dtype)
    return TensorType((*batch, shape[-1], shape[-2]), operand.dtype)


@rule("linalg_lstsq")
def _lstsq(call: Call) -> Result:
    dtype = call.tensor("self").dtype
    real = TensorType(None, real_of(dtype))
    return TensorType(None, dtype), real, TensorType(None, "int64"), real


@rule("det linalg_det logdet")
def _det(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    return TensorType(None if shape is None else shape[:-2], operand.dtype)


@rule("slogdet linalg_slogdet")
def _slogdet(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    batch = None if shape is None else shape[:-2]
    return TensorType(batch, operand.dtype), TensorType(batch, real_of(operand.dtype))


@rule("linalg_matrix_rank")
def _matrix_rank(call: Call) -> Result:
    shape = call.tensor("self", "input").shape
    return TensorType(None if shape is None or len(shape) < 2 else shape[:-2], "int64")


@rule("linalg_cond")
def _cond(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(None if operand.shape is None else operand.shape[:-2], real_of(operand.dtype))


@rule("qr linalg_qr")
def _qr(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape, mode = _batched(operand.shape), call.args.get("mode", "reduced")
    if "some" in call.args:
        some = call.flag("some")
        mode = None if some is None else "reduced" if some else "complete"
    if shape is None or mode not in ("reduced", "complete"):
        return TensorType(None, operand.dtype), TensorType(None, operand.dtype)
    rows, columns = shape[-2:]
    inner = rows if mode == "complete" else _smaller(rows, columns)
    return (
        TensorType((*shape[:-2], rows, inner), operand.dtype),
        TensorType((*shape[:-2], inner, columns), operand.dtype),
    )


@rule("geqrf")
def _geqrf(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    tau = None if shape is None else (*shape[:-2], _smaller(shape[-2], shape[-1]))
    return TensorType(shape, operand.dtype), TensorType(tau, operand.dtype)


@rule("linalg_svd")
def _svd(call: Call) -> Result:
    return _factored(call, call.flag("full_matrices", True))


@rule("_linalg_svd")
def _plain_svd(call: Call) -> Result:
    return _factored(call, call.flag("full_matrices", False))


@rule("svd")
def _old_svd(call: Call) -> Result:
    """Returns V where the others return its adjoint."""
    some = call.flag("some", True)
    u, s, adjoint = _factored(call, None if some is None else not some)
    shape = adjoint.shape
    return u, s, TensorType(None if shape is None else (*shape[:-2], shape[-1], shape[-2]), adjoint.dtype)


def _factored(call: Call, full: bool | None) -> tuple[TensorType, TensorType, TensorType]:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    real = real_of(operand.dtype)
    if shape is None or call.flag("compute_uv", True) is not True:
        values = None if shape is None else (*shape[:-2], _smaller(shape[-2], shape[-1]))
        return TensorType(None, operand.dtype), TensorType(values, real), TensorType(None, operand.dtype)
    rows, columns = shape[-2:]
    inner = _smaller(rows, columns)
    u, v = (None, None) if full is None else (rows, columns) if full else (inner, inner)
    return (
        TensorType((*shape[:-2], rows, u), operand.dtype),
        TensorType((*shape[:-2], inner), real),
        TensorType((*shape[:-2], v, columns), operand.dtype),
    )


@rule("linalg_svdvals")
def _svdvals(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    values = None if shape is None else (*shape[:-2], _smaller(shape[-2], shape[-1]))
    return TensorType(values, real_of(operand.dtype))


@rule("linalg_eigh _linalg_eigh")
def _eigh(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    values = TensorType(None if shape is None else shape[:-1], real_of(operand.dtype))
    return values, TensorType(shape if call.flag("compute_v", True) else None, operand.dtype)


@rule("linalg_eigvalsh")
def _eigvalsh(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    return TensorType(None if shape is None else shape[:-1], real_of(operand.dtype))


@rule("linalg_eig")
def _eig(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape, dtype = _batched(operand.shape), complex_of(operand.dtype)
    return TensorType(None if shape is None else shape[:-1], dtype), TensorType(shape, dtype)


@rule("linalg_eigvals _linalg_eigvals")
def _eigvals(call: Call) -> Result:
    operand = call.tensor(*_MATRIX)
    shape = _batched(operand.shape)
    return TensorType(None if shape is None else shape[:-1], complex_of(operand.dtype))


def _solved(matrix: TensorType, right: TensorType, left: bool | None) -> TensorType:
    a, b = _batched(matrix.shape), right.shape
    dtype = same_dtype(matrix, right)
    if a is None or b is None or left is None or len(b) < 2:
        return TensorType(None, dtype)
    return TensorType((*(broadcast(a[:-2], b[:-2]) or ()), *b[-2:]), dtype)


@rule("linalg_solve_triangular")
def _solve_triangular(call: Call) -> Result:
    return _solved(call.tensor("self"), call.tensor("B"), call.flag("left", True))


@rule("linalg_lu_solve")
def _lu_solve(call: Call) -> Result:
    return _solved(call.tensor("LU"), call.tensor("B"), call.flag("left", True))


@rule("lu_solve")
def _lu_solve_packed(call: Call) -> Result:
    return _solved(call.tensor("LU_data"), call.tensor("self"), True)


@rule("cholesky_solve")
def _cholesky_solve(call: Call) -> Result:
    return _solved(call.tensor("input2"), call.tensor("self"), True)


@rule("triangular_solve")
def _triangular_solve(call: Call) -> Result:
    solution = _solved(call.tensor("A"), call.tensor("self"), True)
    matrix = call.tensor("A").shape
    batch = None if solution.shape is None else solution.shape[:-2]
    return solution, TensorType(None if matrix is None or batch is None else (*batch, *matrix[-2:]), solution.dtype)


@rule("linalg_ldl_solve")
def _ldl_solve(call: Call) -> Result:
    return _solved(call.tensor("LD"), call.tensor("B"), True)


@rule("ormqr")
def _ormqr(call: Call) -> Result:
    other = call.tensor("input3")
    return TensorType(_batched(other.shape), other.dtype)


@rule("lu_unpack")
def _lu_unpack(call: Call) -> Result:
    factors, data, pivots = call.tensor("LU_data"), call.flag("unpack_data", True), call.flag("unpack_pivots", True)
    p, lower, upper = _triangles(factors)
    empty = TensorType((0,), factors.dtype)
    unknown = TensorType(None, factors.dtype)
    p = unknown if pivots is None else p if pivots else empty
    return (p, unknown, unknown) if data is None else (p, lower, upper) if data else (p, empty, empty)


@rule("linalg_lu")
def _lu(call: Call) -> Result:
    matrix, pivot = call.tensor("A"), call.flag("pivot", True)
    p, lower, upper = _triangles(matrix)
    p = TensorType(None, matrix.dtype) if pivot is None else p if pivot else TensorType((0,), matrix.dtype)
    return p, lower, upper


def _triangles(matrix: TensorType) -> tuple[TensorType, TensorType, TensorType]:
    """A permutation, and a lower and an upper triangle, whose product has the shape of `matrix`."""
    shape = _batched(matrix.shape)
    if shape is None:
        unknown = TensorType(None, matrix.dtype)
        return unknown, unknown, unknown
    rows, columns = shape[-2:]
    inner = _smaller(rows, columns)
    sizes = ((rows, rows), (rows, inner), (inner, columns))
    p, lower, upper = (TensorType((*shape[:-2], *pair), matrix.dtype) for pair in sizes)
    return p, lower, upper


def _solve_shape(call: Call) -> TensorType:
    """A right side of one dimension less than the batch of matrices is a batch of vectors."""
    matrix, right = call.tensor("A"), call.tensor("B")
    a, b = _batched(matrix.shape), right.shape
    if a is None or b is None:
        return TensorType(None, same_dtype(matrix, right))
    if len(b) == 1:
        return TensorType((*a[:-2], *b), same_dtype(matrix, right))
    if len(b) == len(a) - 1:
        vectors = None not in a[:-1] and None not in b
        return TensorType(b if vectors and b == a[:-1] else None, same_dtype(matrix, right))
    return _solved(matrix, right, call.flag("left", True))


@rule("linalg_solve")
def _solve(call: Call) -> Result:
    return _solve_shape(call)


@rule("linalg_solve_ex")
def _solve_checked(call: Call) -> Result:
    a = call.tensor("A").shape
    return _solve_shape(call), TensorType(None if a is None else a[:-2], "int32")


@rule("_linalg_solve_ex")
def _solve_ex(call: Call) -> Result:
    a = call.tensor("A")
    batch = None if a.shape is None else a.shape[:-2]
    pivots = None if a.shape is None else a.shape[:-1]
    return _solve_shape(call), TensorType(a.shape, a.dtype), TensorType(pivots, "int32"), TensorType(batch, "int32")


@rule("_linalg_det")
def _det_factors(call: Call) -> Result:
    a = call.tensor("A")
    batch = None if a.shape is None else a.shape[:-2]
    return TensorType(batch, a.dtype), TensorType(a.shape, a.dtype), TensorType(None, "int32")


@rule("_linalg_slogdet")
def _slogdet_factors(call: Call) -> Result:
    a = call.tensor("A")
    batch = None if a.shape is None else a.shape[:-2]
    sign, log = TensorType(batch, a.dtype), TensorType(batch, real_of(a.dtype))
    return sign, log, TensorType(a.shape, a.dtype), TensorType(None, "int32")


def _pivots(shape: Shape) -> Shape:
    return None if shape is None else (*shape[:-2], _smaller(shape[-2], shape[-1]))


@rule("linalg_lu_factor")
def _lu_factor(call: Call) -> Result:
    a = call.tensor("A")
    return TensorType(a.shape, a.dtype), TensorType(_pivots(_batched(a.shape)), "int32")


@rule("linalg_lu_factor_ex")
def _lu_factor_ex(call: Call) -> Result:
    a = call.tensor("A")
    shape = _batched(a.shape)
    info = TensorType(None if shape is None else shape[:-2], "int32")
    return TensorType(shape, a.dtype), TensorType(_pivots(shape), "int32"), info


@rule("linalg_ldl_factor")
def _ldl_factor(call: Call) -> Result:
    return _ldl_factor_ex(call)[:2]


@rule("linalg_ldl_factor_ex")
def _ldl_factor_ex(call: Call) -> tuple[TensorType, ...]:
    a = call.tensor("self")
    shape = _batched(a.shape)
    info = TensorType(None if shape is None else shape[:-2], "int32")
    return TensorType(shape, a.dtype), TensorType(_pivots(shape), "int32"), info


@rule("cross linalg_cross")
def _cross(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("other")
    return TensorType(broadcast(left.shape, right.shape), promote(left, right, default=call.default))


@rule("linalg_vecdot")
def _vecdot(call: Call) -> Result:
    left, right = call.tensor("x"), call.tensor("y")
    shape, dim = broadcast(left.shape, right.shape), call.number("dim", -1)
    if shape and dim is not None and -len(shape) <= dim < len(shape):
        dim = wrap_dim(dim, len(shape))
        shape = shape[:dim] + shape[dim + 1 :]
    else:
        shape = None
    return TensorType(shape, same_dtype(left, right))


def _register_fft() -> None:
    for prefix in ("", "i", "r", "ir", "h", "ih"):
        for suffix in ("", "2", "n"):

            def transform(call: Call, prefix: str = prefix, suffix: str = suffix) -> Result:
                return _transformed(call, prefix, suffix)

            rule(f"fft_{prefix}fft{suffix}")(transform)


def _transformed(call: Call, prefix: str, suffix: str) -> Result:
    operand = call.tensor("self")
    dtype = float_of(operand.dtype, call.default)
    dtype = real_of(dtype) if prefix in ("ir", "h") else complex_of(dtype)
    shape = operand.shape
    if not shape:
        return TensorType(None, dtype)
    sizes: object | None = call.args.get("s") if suffix else call.args.get("n")
    dims = call.args.get("dim", (-2, -1) if suffix == "2" else None if suffix else -1)
    if dims is None and sizes is None:
        dims = tuple(range(len(shape)))
    elif dims is None and isinstance(sizes, (list, tuple)):
        dims = tuple(range(-len(sizes), 0))
    dims = (dims,) if isinstance(dims, int) else dims
    sizes = (sizes,) * len(dims) if isinstance(dims, (list, tuple)) and sizes is None else sizes
    sizes = (sizes,) if isinstance(sizes, int) else sizes
    if (
        not isinstance(dims, (list, tuple))
        or not isinstance(sizes, (list, tuple))
        or not dims
        or len(dims) != len(sizes)
        or not all(isinstance(dim, int) for dim in dims)
    ):
        return TensorType(unknown_sizes(shape), dtype)
    result = list(shape)
    for dim, size in zip(dims, sizes, strict=True):
        dim = wrap_dim(dim, len(shape))
        if size is not None and size != -1:
            result[dim] = size if isinstance(size, int) else None
    last = wrap_dim(dims[-1], len(shape))
    size = result[last]
    if prefix in ("r", "ih"):
        result[last] = None if size is None else size // 2 + 1
    elif prefix in ("ir", "h") and (sizes[-1] is None or sizes[-1] == -1):
        result[last] = None if size is None else 2 * (size - 1)
    return TensorType(tuple(result), dtype)


_register_fft()


@rule("unfold_backward")
def _unfold_backward(call: Call) -> Result:
    return TensorType(call.ints("input_sizes"), call.tensor("grad_in").dtype)


@rule("_fft_c2c")
def _c2c(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, operand.dtype)


@rule("_fft_r2c")
def _r2c(call: Call) -> Result:
    operand, dims, onesided = call.tensor("self"), call.ints("dim"), call.flag("onesided")
    shape, dtype = operand.shape, complex_of(operand.dtype)
    if not shape or dims is None or onesided is None or None in dims:
        return TensorType(unknown_sizes(shape), dtype)
    last = dims[-1] if dims else None
    if onesided and last is not None:
        last = wrap_dim(last, len(shape))
        size = shape[last]
        shape = (*shape[:last], None if size is None else size // 2 + 1, *shape[last + 1 :])
    return TensorType(shape, dtype)


@rule("_fft_c2r")
def _c2r(call: Call) -> Result:
    operand, dims, size = call.tensor("self"), call.ints("dim"), call.number("last_dim_size")
    shape, dtype = operand.shape, real_of(operand.dtype)
    last = dims[-1] if dims else None
    if not shape or last is None:
        return TensorType(unknown_sizes(shape), dtype)
    last = wrap_dim(last, len(shape))
    return TensorType((*shape[:last], size, *shape[last + 1 :]), dtype)


@rule("fft_fftfreq")
def _fftfreq(call: Call) -> Result:
    return TensorType((call.number("n"),), call.cast(call.default))


@rule("fft_rfftfreq")
def _rfftfreq(call: Call) -> Result:
    n = call.number("n")
    return TensorType((None if n is None else n // 2 + 1,), call.cast(call.default))
