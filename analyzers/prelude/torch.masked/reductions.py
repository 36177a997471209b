import torch

_NARROW = (torch.uint8, torch.bool, torch.int8, torch.int16, torch.int32)


def _dims(dim, ndim):
    if dim is None or not isinstance(dim, int) and len(dim) == 0:
        return tuple(range(ndim))
    ndim = max(ndim, 1)
    if isinstance(dim, int):
        return (dim % ndim,)
    return tuple([d for d in range(ndim) if d in [each % ndim for each in dim]])


def _full_mask(input, mask):
    """The mask expanded to the shape of the input."""
    if mask.shape == input.shape:
        return mask
    return torch.broadcast_to(mask.clone(), input.shape).to(dtype=torch.bool)


def _chosen(input, mask):
    """`input`, with the identity of an operation where the mask is False."""
    if mask is None:
        return input
    return torch.where(_full_mask(input, mask), input, torch.zeros((), dtype=input.dtype))


def _accumulating(input, dtype):
    if dtype is not None:
        return dtype
    return torch.int64 if input.dtype in _NARROW else input.dtype


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = _accumulating(input, dtype)
    return torch.sum(_chosen(input, mask), _dims(dim, input.ndim), bool(keepdim), dtype=dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    result = _chosen(input, mask).to(dtype=_accumulating(input, dtype))
    dims = _dims(dim, input.ndim)
    for i in range(len(dims)):
        result = result.prod(dim=dims[len(dims) - 1 - i], keepdim=bool(keepdim))
    return result


def cumsum(input, dim, *, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.cumsum(_chosen(input, mask), _dims(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.cumprod(_chosen(input, mask), _dims(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.amax(_chosen(input, mask), _dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.amin(_chosen(input, mask), _dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.argmax(_chosen(input, mask), dim, bool(keepdim)).to(dtype=dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.argmin(_chosen(input, mask), dim, bool(keepdim)).to(dtype=dtype)


def _total_and_count(input, dim, keepdim, dtype, mask):
    if mask is None:
        count = sum(torch.ones(input.shape, dtype=torch.int64), dim, keepdim=keepdim)
        return sum(input, dim, keepdim=keepdim, dtype=dtype), count
    mask = _full_mask(input, mask)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask), sum(mask, dim, keepdim=keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    total, count = _total_and_count(input, dim, keepdim, dtype, mask)
    return total / count


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    exact = input.is_floating_point()
    source = input if exact else input.to(dtype=torch.float32)
    result = torch.nanmedian(_chosen(source, mask), _dims(dim, input.ndim)[0], keepdim).values
    return result if exact else result.to(dtype=dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.logsumexp(_chosen(input, mask), _dims(dim, input.ndim), keepdim=keepdim).to(dtype=dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.logaddexp(_chosen(input, input_mask), _chosen(other, other_mask)).to(dtype=dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.linalg.vector_norm(_chosen(input, mask), ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype)


def _spread(input, dim, unbiased, correction, keepdim, dtype, mask):
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    if dtype is None:
        dtype = input.dtype if input.is_floating_point() or input.is_complex() else torch.float32
    total, count = _total_and_count(input, dim, True, dtype, mask)
    x = torch.subtract(input, torch.divide(total, count))
    squares = sum(x * x.conj(), dim, keepdim=keepdim, dtype=dtype, mask=mask)
    if not keepdim:
        count = count.reshape(squares.shape)
    if correction != 0:
        count = count.to(torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32)
        count = torch.maximum(torch.subtract(count, correction), count.new_zeros([]))
    return torch.divide(squares, count).to(dtype=dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return torch.sqrt(_spread(input, dim, unbiased, correction, keepdim, dtype, mask))


def softmax(input, dim, *, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.nn.functional.softmax(_chosen(input, mask), _dims(dim, input.ndim)[0], dtype=dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.nn.functional.log_softmax(_chosen(input, mask), _dims(dim, input.ndim)[0], dtype=dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    return torch.nn.functional.softmin(_chosen(input, mask), _dims(dim, input.ndim)[0], dtype=dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    dtype = input.dtype if dtype is None else dtype
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return torch.divide(_chosen(input, mask), torch.maximum(size, size.new_full([], eps)))
