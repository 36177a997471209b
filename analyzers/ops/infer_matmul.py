"""Products of vectors and matrices: inner sizes must agree, leading batch sizes broadcast.

matmul([8, 1, 2, 3], [5, 3, 4])  ->  [8, 5, 2, 4]
einsum("bij,bjk->bik", ...)      ->  one size for every letter
"""

from __future__ import annotations

from analyzers.ops.infer_core import (
    Call,
    Result,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    fits,
    meet_sizes,
    numel,
    promote,
    rule,
    same_dtype,
    show,
    wrap_dim,
)


def _rank(operand: TensorType, rank: int, what: str) -> tuple[int | None, ...]:
    shape = operand.shape
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ShapeError(f"{what} must be a {rank}-dimensional tensor, got {show(shape)}")
    return shape


def _agree(a: int | None, b: int | None, message: str) -> int | None:
    if a is not None and b is not None and a != b:
        raise ShapeError(message)
    return meet_sizes(a, b)


def _size(size: int | None) -> str:
    return "?" if size is None else str(size)


def _mm(left: tuple[int | None, ...], right: tuple[int | None, ...]) -> tuple[int | None, ...]:
    (n, k), (m, p) = left, right
    _agree(k, m, f"mat1 and mat2 shapes cannot be multiplied ({_size(n)}x{_size(k)} and {_size(m)}x{_size(p)})")
    return n, p


def matmul_shape(a: Shape, b: Shape) -> Shape:
    if (a is not None and not a) or (b is not None and not b):
        raise ShapeError("both arguments to matmul need to be at least 1D")
    if a is None or b is None:
        return None
    if len(b) == 1:
        if a[-1] is not None and b[0] is not None and a[-1] != b[0]:
            raise ShapeError(f"size mismatch, got {show(a)} and {show(b)}")
        return a[:-1]
    if len(a) == 1:
        _mm((1, a[0]), b[-2:])
        return (*b[:-2], b[-1])
    if len(b) == 2 and len(a) > 2:
        _mm((numel(a[:-1]), a[-1]), b)
        return (*a[:-1], b[-1])
    n, p = _mm(a[-2:], b[-2:])
    return (*(broadcast(a[:-2], b[:-2]) or ()), n, p)


@rule("mm")
def _mm_rule(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("mat2")
    shape = _mm(_rank(left, 2, "self"), _rank(right, 2, "mat2"))
    return TensorType(shape, same_dtype(left, right))


@rule("_scaled_mm _scaled_mm_v2")
def _scaled_mm(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("mat2")
    wanted = call.args.get("out_dtype")
    dtype = wanted if isinstance(wanted, str) else left.dtype if wanted is None else None
    return TensorType(_mm(_rank(left, 2, "self"), _rank(right, 2, "mat2")), dtype)


@rule("bmm")
def _bmm(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("mat2")
    return TensorType(_bmm_shape(left, right), same_dtype(left, right))


def _bmm_shape(left: TensorType, right: TensorType) -> Shape:
    a, b = _rank(left, 3, "batch1"), _rank(right, 3, "batch2")
    message = (
        f"Expected size for first two dimensions of batch2 tensor to be: [{_size(a[0])}, {_size(a[2])}] "
        f"but got: [{_size(b[0])}, {_size(b[1])}]."
    )
    _agree(a[2], b[1], message)
    return _agree(a[0], b[0], message), a[1], b[2]


@rule("mv")
def _mv(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("vec")
    shape = matmul_shape(_rank(left, 2, "self"), _rank(right, 1, "vec"))
    return TensorType(shape, same_dtype(left, right))


@rule("dot vdot")
def _dot(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("tensor", "other")
    (n,), (m,) = _rank(left, 1, "self"), _rank(right, 1, "tensor")
    _agree(n, m, f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements")
    return TensorType((), same_dtype(left, right))


@rule("matmul linalg_matmul __matmul__")
def _matmul(call: Call) -> Result:
    left, right = call.tensor("self", "input"), call.tensor("other")
    return TensorType(matmul_shape(left.shape, right.shape), same_dtype(left, right))


@rule("chain_matmul linalg_multi_dot")
def _chain_matmul(call: Call) -> Result:
    matrices = call.tensors("matrices" if "matrices" in call.args else "tensors")
    if not matrices:
        return TensorType(None, None)
    shape = matrices[0].shape
    for matrix in matrices[1:]:
        shape = matmul_shape(shape, matrix.shape)
    return TensorType(shape, same_dtype(*matrices))


@rule("outer ger")
def _outer(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("vec2")
    shape = (*_rank(left, 1, "self"), *_rank(right, 1, "vec2"))
    return TensorType(shape, promote(left, right, default=call.default))


@rule("inner")
def _inner(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("other")
    a, b = left.shape, right.shape
    if a == () or b == ():
        shape = None if a is None or b is None else a or b
        return TensorType(shape, promote(left, right, default=call.default))
    if a is None or b is None:
        return TensorType(None, None)
    _agree(a[-1], b[-1], f"inner() the last dimension must match on both input tensors, got {show(a)} and {show(b)}")
    return TensorType(a[:-1] + b[:-1], same_dtype(left, right))


def _plus(call: Call, product: Shape, *factors: TensorType) -> Result:
    bias = call.tensor("self")
    if not fits(bias.shape, product):
        raise ShapeError(
            f"The expanded size of the tensor {show(product)} must match the existing size {show(bias.shape)}"
        )
    return TensorType(product, same_dtype(*factors))


@rule("addmm sspaddmm _addmm_activation")
def _addmm(call: Call) -> Result:
    left, right = call.tensor("mat1"), call.tensor("mat2")
    return _plus(call, _mm(_rank(left, 2, "mat1"), _rank(right, 2, "mat2")), left, right)


@rule("baddbmm")
def _baddbmm(call: Call) -> Result:
    left, right = call.tensor("batch1"), call.tensor("batch2")
    return _plus(call, _bmm_shape(left, right), left, right)


@rule("addbmm")
def _addbmm(call: Call) -> Result:
    left, right = call.tensor("batch1"), call.tensor("batch2")
    shape = _bmm_shape(left, right)
    return _plus(call, None if shape is None else shape[1:], left, right)


@rule("addmv")
def _addmv(call: Call) -> Result:
    left, right = call.tensor("mat"), call.tensor("vec")
    product = matmul_shape(_rank(left, 2, "mat"), _rank(right, 1, "vec"))
    if numel(product) is None and not call.tensor("self").shape:
        return TensorType(None, same_dtype(left, right))  # an empty product leaves a zero-dimensional `self` as it is
    return _plus(call, None if numel(product) == 0 else product, left, right)


@rule("addr")
def _addr(call: Call) -> Result:
    left, right = call.tensor("vec1"), call.tensor("vec2")
    bias = call.tensor("self")
    shape = (*_rank(left, 1, "vec1"), *_rank(right, 1, "vec2"))
    return TensorType(shape, promote(bias, left, right, default=call.default))


@rule("linear")
def _linear(call: Call) -> Result:
    operand, weight = call.tensor("input"), call.tensor("weight")
    a, w = operand.shape, weight.shape
    dtype = same_dtype(operand, weight)
    if a == () or w == ():
        raise ShapeError("both arguments to linear need to be at least 1D")
    if w is not None and len(w) > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(w)}D")
    if w is None:
        return TensorType(None, dtype)
    if len(w) == 1:
        return TensorType(matmul_shape(a, w), dtype)
    if a is None:
        return TensorType(None, dtype)
    _mm((numel(a[:-1]), a[-1]), (w[1], w[0]))
    return TensorType((*a[:-1], w[0]), dtype)


@rule("bilinear")
def _bilinear(call: Call) -> Result:
    left, right, weight = call.tensor("input1"), call.tensor("input2"), call.tensor("weight")
    features = _rank(weight, 3, "weight")[0]
    lead = left.shape if left.shape is not None else right.shape
    return TensorType(None if lead is None else (*lead[:-1], features), same_dtype(left, right, weight))


@rule("tensordot")
def _tensordot(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("other")
    dims_left, dims_right = call.ints("dims_self"), call.ints("dims_other")
    dtype = same_dtype(left, right)
    if left.shape is None or right.shape is None or dims_left is None or dims_right is None:
        return TensorType(None, dtype)
    kept: list[int | None] = []
    for shape, dims in ((left.shape, dims_left), (right.shape, dims_right)):
        if None in dims:
            kept += [None] * (len(shape) - len(dims))
        else:
            gone = {wrap_dim(dim, len(shape)) for dim in dims if dim is not None}
            kept += [size for i, size in enumerate(shape) if i not in gone]
    return TensorType(tuple(kept), dtype)


@rule("kron")
def _kron(call: Call) -> Result:
    left, right = call.tensor("self"), call.tensor("other")
    dtype = promote(left, right, default=call.default)
    a, b = left.shape, right.shape
    if a is None or b is None:
        return TensorType(None, dtype)
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return TensorType(tuple(numel((x, y)) for x, y in zip(a, b, strict=True)), dtype)


@rule("einsum")
def _einsum(call: Call) -> Result:
    equation, operands = call.args.get("equation"), call.tensors("tensors")
    dtype = same_dtype(*operands) if operands else None
    if not isinstance(equation, str) or not operands:
        return TensorType(None, dtype)
    return TensorType(einsum_shape(equation, [t.shape for t in operands]), dtype)


def einsum_shape(equation: str, shapes: list[Shape]) -> Shape:
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ShapeError("einsum(): the number of subscripts does not match the number of operands")
    sizes: dict[str, int | None] = {}
    ellipses: list[Shape] = []
    for term, shape in zip(terms, shapes, strict=True):
        before, dots, after = term.partition("...")
        if shape is None:
            for letter in before + after:
                sizes.setdefault(letter, None)
            if dots:
                ellipses.append(None)
            continue
        named = len(before) + len(after)
        if named > len(shape) or (not dots and named != len(shape)):
            raise ShapeError(f"einsum(): the subscript {term} does not fit an operand of shape {show(shape)}")
        end = len(shape) - len(after)
        if dots:
            ellipses.append(shape[len(before) : end])
        for letter, size in [*zip(before, shape, strict=False), *zip(after, shape[end:], strict=True)]:
            sizes[letter] = _einsum_size(letter, sizes.get(letter, 1), size)
    if not arrow:
        letters = left.replace("...", "").replace(",", "")
        right = "..." * ("..." in left) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    batch = broadcast(*ellipses) if "..." in right else ()
    if batch is None:
        return None
    before, _, after = right.partition("...")
    return (*(sizes.get(c) for c in before), *batch, *(sizes.get(c) for c in after))


def _einsum_size(letter: str, a: int | None, b: int | None) -> int | None:
    """The size of a letter seen twice: one of the two may be 1, which broadcasts."""
    shape = broadcast((a,), (b,))
    return shape[0] if shape else None
