"""Element by element operators: the result has the broadcast shape of the operands; groups differ in the dtype.

int64[3] / int64[3]  ->  float32[3]     true division lifts integers to the default dtype
float32[3] < 1.0     ->  bool[3]
"""

from __future__ import annotations

from analyzers.ops.infer_core import (
    UNKNOWN,
    Call,
    Result,
    ShapeError,
    TensorType,
    as_tensor,
    broadcast,
    fits,
    numel,
    promote,
    rule,
    same_dtype,
    show,
    wrap_dim,
)
from analyzers.ops.promote import COMPLEXES, complex_of, float_of, is_integral, real_of

_SELF = ("self", "input", "x", "A")


@rule(
    "neg negative positive clone contiguous relu relu6 ceil floor round trunc fix frac sign sgn bitwise_not "
    "hardtanh leaky_relu threshold nan_to_num hardshrink softshrink hardsigmoid hardswish mish celu selu elu "
    "gelu silu softplus fill zero alias detach _conj conj conj_physical _conj_physical _neg_view resolve_conj "
    "resolve_neg lift lift_fresh dropout alpha_dropout feature_dropout feature_alpha_dropout rrelu bernoulli tril triu "
    "fliplr flipud flip renorm scatter scatter_add scatter_reduce index_add index_fill "
    "index_copy index_reduce put index_put _unsafe_index_put slice_scatter select_scatter diagonal_scatter "
    "as_strided_scatter requires_grad retain_grad fft_fftshift fft_ifftshift channel_shuffle "
    "native_channel_shuffle cpu cuda pin_memory fill_diagonal msort logcumsumexp matrix_exp linalg_matrix_exp "
    "uniform random exponential cauchy log_normal geometric prelu _prelu_kernel log_sigmoid "
    "embedding_renorm detach_copy poisson _standard_gamma _sample_dirichlet _to_sparse"
)
def _unchanged(call: Call) -> Result:
    operand = call.tensor(*_SELF)
    return TensorType(operand.shape, operand.dtype)


@rule("roll")
def _roll(call: Call) -> Result:
    operand, dims = call.tensor("self"), call.ints("dims", ())
    if operand.shape == () and dims and dims[0] is not None:
        raise ShapeError(f"Dimension specified as {dims[0]} but tensor has no dimensions", "IndexError")
    return TensorType(operand.shape, operand.dtype)


@rule(
    "sin cos tan asin acos atan arcsin arccos arctan sinh cosh asinh acosh atanh arcsinh arccosh arctanh tanh exp exp2 "
    "expm1 log log2 log10 log1p sqrt rsqrt reciprocal sigmoid erf erfc erfinv lgamma digamma polygamma mvlgamma sinc "
    "logit i0 tanhshrink deg2rad rad2deg special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 "
    "special_bessel_y1 special_digamma special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 "
    "special_expit "
    "special_expm1 special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p special_log_ndtr "
    "special_logit special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
    "special_modified_bessel_k1 special_multigammaln special_ndtr special_ndtri special_polygamma special_psi "
    "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc special_spherical_bessel_j0"
)
def _floating(call: Call) -> Result:
    operand = call.tensor(*_SELF)
    return TensorType(operand.shape, float_of(operand.dtype, call.default))


@rule("abs absolute real imag")
def _real_part(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, real_of(operand.dtype))


@rule("angle")
def _angle(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, real_of(float_of(operand.dtype, call.default)))


@rule("square")
def _square(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, "int64" if operand.dtype == "bool" else operand.dtype)


@rule("logical_not isnan isinf isfinite isposinf isneginf signbit isreal")
def _test(call: Call) -> Result:
    return TensorType(call.tensor("self").shape, "bool")


@rule("frexp")
def _frexp(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, operand.dtype), TensorType(operand.shape, "int32")


@rule("view_as_real")
def _view_as_real(call: Call) -> Result:
    operand = call.tensor("self")
    shape = None if operand.shape is None else (*operand.shape, 2)
    return TensorType(shape, real_of(operand.dtype))


@rule("view_as_complex")
def _view_as_complex(call: Call) -> Result:
    operand = call.tensor("self")
    if operand.shape is not None and (not operand.shape or operand.shape[-1] not in (None, 2)):
        raise ShapeError("Tensor must have a last dimension of size 2")
    return TensorType(None if operand.shape is None else operand.shape[:-1], complex_of(operand.dtype))


def _operands(call: Call) -> tuple[TensorType, TensorType]:
    args = call.args
    left = call.tensor("self", "input", "x", "real", "abs", "condition")
    right = call.tensor("other", "exponent", "n", "q", "imag", "angle", "end", "values", "min", "max")
    return left, right if right is not left else as_tensor(args.get("other", UNKNOWN))


@rule(
    "add sub subtract rsub mul multiply remainder fmod floor_divide bitwise_and bitwise_or "
    "bitwise_xor bitwise_left_shift bitwise_right_shift __and__ __or__ __xor__ __lshift__ __rshift__ "
    "maximum minimum fmax fmin gcd lcm nextafter pow hypot "
    "clamp_min clamp_max logaddexp logaddexp2",
    broadcasting=True,
)
def _promoting(call: Call) -> Result:
    left, right = _operands(call)
    return TensorType(broadcast(left.shape, right.shape), promote(left, right, default=call.default))


@rule(
    "true_divide atan2 arctan2 copysign xlogy special_xlogy special_xlog1py special_zeta igamma igammac "
    "special_gammainc special_gammaincc special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
    "special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h "
    "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "
    "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
    "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w",
    broadcasting=True,
)
def _promoting_to_float(call: Call) -> Result:
    left, right = _operands(call)
    dtype = float_of(promote(left, right, default=call.default), call.default)
    return TensorType(broadcast(left.shape, right.shape), dtype)


@rule("div divide", broadcasting=True)
def _divide(call: Call) -> Result:
    left, right = _operands(call)
    dtype = promote(left, right, default=call.default)
    mode = call.args.get("rounding_mode")
    if mode is None:
        dtype = float_of(dtype, call.default)
    elif not isinstance(mode, str) and (dtype is None or is_integral(dtype)):
        dtype = None
    return TensorType(broadcast(left.shape, right.shape), dtype)


@rule("float_power", broadcasting=True)
def _float_power(call: Call) -> Result:
    left, right = _operands(call)
    dtype = promote(left, right, default=call.default)
    wide = None if dtype is None else "complex128" if dtype in COMPLEXES else "float64"
    return TensorType(broadcast(left.shape, right.shape), wide)


@rule("ldexp", broadcasting=True)
def _ldexp(call: Call) -> Result:
    left, right = _operands(call)
    # The power of two of a zero-dimensional tensor still counts as a number.
    power = promote(TensorType((), "float64", True), right, default=call.default)
    as_number = promote(left, TensorType((), power, True), default=call.default)
    dtype = as_number if not right.shape else promote(left, TensorType(right.shape, power), default=call.default)
    if right.shape is None and dtype != promote(left, TensorType((1,), power), default=call.default):
        dtype = None
    return TensorType(broadcast(left.shape, right.shape), dtype)


@rule(
    "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor isclose",
    broadcasting=True,
)
def _compare(call: Call) -> Result:
    left, right = _operands(call)
    return TensorType(broadcast(left.shape, right.shape), "bool")


@rule("heaviside lerp", broadcasting=True)
def _one_dtype(call: Call) -> Result:
    left, right = _operands(call)
    weight = call.optional("weight")
    shape = broadcast(left.shape, right.shape, () if weight is None else weight.shape)
    return TensorType(shape, same_dtype(left, right))


@rule("complex polar")
def _complex(call: Call) -> Result:
    left, right = _operands(call)
    return TensorType(broadcast(left.shape, right.shape), complex_of(same_dtype(left, right)))


@rule("addcmul addcdiv", broadcasting=True)
def _ternary(call: Call) -> Result:
    operands = [call.tensor("self"), call.tensor("tensor1"), call.tensor("tensor2")]
    dtype = promote(*operands, default=call.default)
    return TensorType(broadcast(*(t.shape for t in operands)), dtype)


@rule("where")
def _where(call: Call) -> Result:
    condition = call.tensor("condition")
    if "self" not in call.args and "other" not in call.args:
        return None
    left, right = call.tensor("self"), call.tensor("other")
    dtype = promote(left, right, default=call.default)
    return TensorType(broadcast(condition.shape, left.shape, right.shape), dtype)


@rule("clamp clip", broadcasting=True)
def _clamp(call: Call) -> Result:
    operands = [call.tensor("self")]
    operands += [as_tensor(call.args[name]) for name in ("min", "max") if call.given(name)]
    return TensorType(broadcast(*(t.shape for t in operands)), promote(*operands, default=call.default))


@rule("masked_fill masked_scatter")
def _masked_fill(call: Call) -> Result:
    operand, mask = call.tensor("self"), call.tensor("mask")
    return TensorType(broadcast(operand.shape, mask.shape), operand.dtype)


@rule("copy")
def _copy(call: Call) -> Result:
    operand, source = call.tensor("self"), call.tensor("src")
    if not fits(source.shape, operand.shape):
        raise ShapeError(f"source of shape {show(source.shape)} cannot be copied into {show(operand.shape)}")
    return TensorType(operand.shape, operand.dtype)


@rule("native_dropout _fused_dropout")
def _native_dropout(call: Call) -> Result:
    operand = call.tensor("input", "self")
    mask = "bool" if numel(operand.shape) else None  # an empty input gets a mask of its own dtype
    return TensorType(operand.shape, operand.dtype), TensorType(operand.shape, mask)


@rule("log_sigmoid_forward")
def _log_sigmoid_forward(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, operand.dtype), TensorType(None, operand.dtype)


@rule("_unsafe_masked_index_put_accumulate")
def _accumulated(call: Call) -> Result:
    operand = call.tensor("self")
    return TensorType(operand.shape, operand.dtype)


@rule("softmax log_softmax _softmax _log_softmax _safe_softmax special_softmax special_log_softmax softmin")
def _softmax(call: Call) -> Result:
    operand = call.tensor("self")
    dim = call.number("dim")
    if operand.shape is not None and dim is not None:
        wrap_dim(dim, len(operand.shape))
    half_to_float = call.flag("half_to_float")
    plain = float_of(operand.dtype, call.default) if operand.dtype is None or not is_integral(operand.dtype) else None
    if half_to_float is None:
        plain = None
    elif half_to_float:
        plain = "float32"
    return TensorType(operand.shape, call.cast(plain))


@rule("isin")
def _isin(call: Call) -> Result:
    return TensorType(call.tensor("elements").shape, "bool")


@rule("bucketize searchsorted")
def _bucketize(call: Call) -> Result:
    narrow = call.flag("out_int32")
    dtype = None if narrow is None else "int32" if narrow else "int64"
    return TensorType(call.tensor("self").shape, dtype)
