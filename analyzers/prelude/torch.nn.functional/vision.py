import torch

_GRID_MODE = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_GRID_PADDING = {"zeros": 0, "border": 1, "reflection": 2}


def pad(input, pad, mode="constant", value=None):
    return torch.ops.aten.pad(input, pad, mode, value)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    return torch.ops.aten.im2col(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return torch.ops.aten.col2im(input, output_size, kernel_size, dilation, padding, stride)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    return torch.ops.aten.grid_sampler(
        input, grid, _GRID_MODE[mode], _GRID_PADDING[padding_mode], bool(align_corners)
    )


def affine_grid(theta, size, align_corners=None):
    return torch.ops.aten.affine_grid_generator(theta, size, bool(align_corners))


def _each(value, n):
    """One entry for each spatial dimension, as a list."""
    if value is None:
        return None
    return list(value) if isinstance(value, (tuple, list)) else [value] * n


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    n = 2 if mode in ("bilinear", "bicubic") else 1 if mode == "linear" else 3 if mode == "trilinear" else input.dim() - 2
    size = _each(size, n)
    scale = _each(scale_factor, n)
    corners = bool(align_corners)
    if scale is not None and recompute_scale_factor:
        size = [int(input.size(i + 2) * scale[i]) for i in range(n)]
        scale = None
    if mode == "bilinear":
        if antialias:
            return torch._C._nn._upsample_bilinear2d_aa(input, size, corners, scale)
        return torch._C._nn.upsample_bilinear2d(input, size, corners, scale)
    if mode == "bicubic":
        if antialias:
            return torch._C._nn._upsample_bicubic2d_aa(input, size, corners, scale)
        return torch._C._nn.upsample_bicubic2d(input, size, corners, scale)
    if mode == "trilinear":
        return torch._C._nn.upsample_trilinear3d(input, size, corners, scale)
    if mode == "linear":
        return torch._C._nn.upsample_linear1d(input, size, corners, scale)
    if mode == "lanczos":
        return torch._C._nn._upsample_lanczos2d_aa(input, size, corners, scale)
    if mode == "area":
        if size is None:
            size = [int(input.size(i + 2) * scale[i]) for i in range(n)]
        if n == 1:
            return torch.ops.aten.adaptive_avg_pool1d(input, size)
        if n == 2:
            return torch.ops.aten.adaptive_avg_pool2d(input, size)
        return torch.ops.aten.adaptive_avg_pool3d(input, size)
    if mode == "nearest-exact":
        if n == 1:
            return torch._C._nn._upsample_nearest_exact1d(input, size, scale)
        if n == 3:
            return torch._C._nn._upsample_nearest_exact3d(input, size, scale)
        return torch._C._nn._upsample_nearest_exact2d(input, size, scale)
    if n == 1:
        return torch._C._nn.upsample_nearest1d(input, size, scale)
    if n == 3:
        return torch._C._nn.upsample_nearest3d(input, size, scale)
    return torch._C._nn.upsample_nearest2d(input, size, scale)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "bilinear", True)
