import torch


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    if return_indices:
        return torch.ops.aten.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return torch.ops.aten.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    if return_indices:
        return torch.ops.aten.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return torch.ops.aten.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    if return_indices:
        return torch.ops.aten.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return torch.ops.aten.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _filled(input, output_size, n):
    """An output size with an entry for each dimension; None is replaced by the input's size."""
    if not isinstance(output_size, (tuple, list)):
        return [output_size] * n
    return [input.size(i - n) if output_size[i] is None else output_size[i] for i in range(n)]


def adaptive_max_pool1d(input, output_size, return_indices=False):
    pooled = torch.ops.aten.adaptive_max_pool1d(input, output_size)
    return pooled if return_indices else pooled[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    pooled = torch.ops.aten.adaptive_max_pool2d(input, _filled(input, output_size, 2))
    return pooled if return_indices else pooled[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    pooled = torch.ops.aten.adaptive_max_pool3d(input, _filled(input, output_size, 3))
    return pooled if return_indices else pooled[0]


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool3d(input, output_size, True)


def adaptive_avg_pool2d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool2d(input, _filled(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    return torch.ops.aten.adaptive_avg_pool3d(input, _filled(input, output_size, 3))


def _times(value, n):
    return value if isinstance(value, (tuple, list)) else (value,) * n


def _samples(input, samples, n):
    if samples is not None:
        return samples
    batch = 1 if input.dim() == n + 1 else input.size(0)
    return torch.rand(batch, input.size(-n - 1), n, dtype=input.dtype)


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                          _random_samples=None):
    if output_size is None:
        ratio = _times(output_ratio, 2)
        output_size = [int(input.size(-2) * ratio[0]), int(input.size(-1) * ratio[1])]
    samples = _samples(input, _random_samples, 2)
    pooled = torch.ops.aten.fractional_max_pool2d(input, kernel_size, output_size, samples)
    return pooled if return_indices else pooled[0]


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                          _random_samples=None):
    if output_size is None:
        ratio = _times(output_ratio, 3)
        output_size = [int(input.size(i - 3) * ratio[i]) for i in range(3)]
    samples = _samples(input, _random_samples, 3)
    pooled = torch.ops.aten.fractional_max_pool3d(input, kernel_size, output_size, samples)
    return pooled if return_indices else pooled[0]


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    return fractional_max_pool2d(input, kernel_size, output_size, output_ratio, True, _random_samples)


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    return fractional_max_pool3d(input, kernel_size, output_size, output_ratio, True, _random_samples)


def _unpooled(input, kernel_size, stride, padding, output_size, n):
    if output_size is not None:
        return list(output_size)[-n:]
    kernel = _times(kernel_size, n)
    stride = kernel if stride is None else _times(stride, n)
    padding = _times(padding, n)
    return [(input.size(i - n) - 1) * stride[i] + kernel[i] - 2 * padding[i] for i in range(n)]


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = [*_unpooled(input, kernel_size, stride, padding, output_size, 1), 1]
    return torch.ops.aten.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return torch.ops.aten.max_unpool2d(
        input, indices, _unpooled(input, kernel_size, stride, padding, output_size, 2)
    )


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = _unpooled(input, kernel_size, stride, padding, output_size, 3)
    stride = kernel_size if stride is None else stride
    return torch.ops.aten.max_unpool3d(input, indices, size, _times(stride, 3), _times(padding, 3))


def _power_mean(pooled, cells, norm_type):
    return (torch.sign(pooled) * torch.relu(torch.abs(pooled))).mul(cells).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    stride = [] if stride is None else stride
    pooled = torch.ops.aten.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _power_mean(pooled, kernel_size, norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    stride = [] if stride is None else stride
    kernel = _times(kernel_size, 2)
    pooled = torch.ops.aten.avg_pool2d(input.pow(norm_type), kernel, stride, 0, ceil_mode)
    return _power_mean(pooled, kernel[0] * kernel[1], norm_type)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    stride = [] if stride is None else stride
    kernel = _times(kernel_size, 3)
    pooled = torch.ops.aten.avg_pool3d(input.pow(norm_type), kernel, stride, 0, ceil_mode)
    return _power_mean(pooled, kernel[0] * kernel[1] * kernel[2], norm_type)
