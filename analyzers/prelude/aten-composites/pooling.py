import torch


def _one(value):
    return value if isinstance(value, int) else value[0]


def _two(value):
    return [1, _one(value)]


def adaptive_avg_pool1d(self, output_size):
    return torch.ops.aten.adaptive_avg_pool2d(self.unsqueeze(-2), _two(output_size)).squeeze(-2)


def adaptive_avg_pool3d(self, output_size):
    if isinstance(output_size, int):
        output_size = [output_size] * 3
    if output_size[0] == 1 and output_size[1] == 1 and output_size[2] == 1:
        return self.mean([-1, -2, -3], True)
    return torch.ops.aten._adaptive_avg_pool3d(self, output_size)


def adaptive_max_pool1d(self, output_size):
    pooled, indices = torch.ops.aten.adaptive_max_pool2d(self.unsqueeze(-2), _two(output_size))
    return pooled.squeeze(-2), indices.squeeze(-2)


def avg_pool1d(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    stride = [] if not isinstance(stride, int) and len(stride) == 0 else [1, _one(stride)]
    return torch.ops.aten.avg_pool2d(
        self.unsqueeze(-2), _two(kernel_size), stride, [0, _one(padding)], ceil_mode, count_include_pad
    ).squeeze(-2)


def max_pool1d_with_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    stride = [] if not isinstance(stride, int) and len(stride) == 0 else [1, _one(stride)]
    pooled, indices = torch.ops.aten.max_pool2d_with_indices(
        self.unsqueeze(-2), _two(kernel_size), stride, [0, _one(padding)], [1, _one(dilation)], ceil_mode
    )
    return pooled.squeeze(-2), indices.squeeze(-2)


def max_pool1d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    if not (self.requires_grad and torch.is_grad_enabled()):
        return torch.ops.aten._max_pool1d_cpu_forward(self, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    if input.dim() == 4:
        return torch.ops.aten.grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
    return torch.ops.aten.grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)


def bilinear(input1, input2, weight, bias=None):
    a = input1.reshape(-1, input1.shape[-1])
    b = input2.reshape(-1, input2.shape[-1])
    output = torch.ops.aten._trilinear(a, weight, b, [1, 3], [0], [1, 2], [2, 3])
    output = output.reshape([*input1.shape[:-1], weight.shape[0]])
    return output if bias is None else output + bias


def _upsampled_sizes(input, output_size, scale_factors):
    if output_size is not None:
        return list(output_size)
    return [int(input.shape[i + 2] * scale_factors[i]) for i in range(len(scale_factors))]


def _scale(scale_factors, i):
    return None if scale_factors is None else scale_factors[i]


def upsample_nearest1d(input, output_size=None, scale_factors=None):
    return torch.ops.aten.upsample_nearest1d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), _scale(scale_factors, 0)
    )


def upsample_nearest2d(input, output_size=None, scale_factors=None):
    return torch.ops.aten.upsample_nearest2d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), _scale(scale_factors, 0), _scale(scale_factors, 1)
    )


def upsample_nearest3d(input, output_size=None, scale_factors=None):
    return torch.ops.aten.upsample_nearest3d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), _scale(scale_factors, 0), _scale(scale_factors, 1),
        _scale(scale_factors, 2),
    )


def upsample_linear1d(input, output_size=None, align_corners=False, scale_factors=None):
    return torch.ops.aten.upsample_linear1d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), align_corners, _scale(scale_factors, 0)
    )


def upsample_bilinear2d(input, output_size=None, align_corners=False, scale_factors=None):
    return torch.ops.aten.upsample_bilinear2d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), align_corners, _scale(scale_factors, 0),
        _scale(scale_factors, 1),
    )


def upsample_bicubic2d(input, output_size=None, align_corners=False, scale_factors=None):
    return torch.ops.aten.upsample_bicubic2d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), align_corners, _scale(scale_factors, 0),
        _scale(scale_factors, 1),
    )


def upsample_trilinear3d(input, output_size=None, align_corners=False, scale_factors=None):
    return torch.ops.aten.upsample_trilinear3d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), align_corners, _scale(scale_factors, 0),
        _scale(scale_factors, 1), _scale(scale_factors, 2),
    )


def _upsample_nearest_exact1d(input, output_size=None, scale_factors=None):
    return torch.ops.aten._upsample_nearest_exact1d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), _scale(scale_factors, 0)
    )


def _upsample_nearest_exact2d(input, output_size=None, scale_factors=None):
    return torch.ops.aten._upsample_nearest_exact2d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), _scale(scale_factors, 0), _scale(scale_factors, 1)
    )


def _upsample_nearest_exact3d(input, output_size=None, scale_factors=None):
    return torch.ops.aten._upsample_nearest_exact3d.default(
        input, _upsampled_sizes(input, output_size, scale_factors), _scale(scale_factors, 0), _scale(scale_factors, 1),
        _scale(scale_factors, 2),
    )


def _upsample_bilinear2d_aa(input, output_size=None, align_corners=False, scale_factors=None):
    return torch.ops.aten._upsample_bilinear2d_aa.default(
        input, _upsampled_sizes(input, output_size, scale_factors), align_corners, _scale(scale_factors, 0),
        _scale(scale_factors, 1),
    )


def _upsample_bicubic2d_aa(input, output_size=None, align_corners=False, scale_factors=None):
    return torch.ops.aten._upsample_bicubic2d_aa.default(
        input, _upsampled_sizes(input, output_size, scale_factors), align_corners, _scale(scale_factors, 0),
        _scale(scale_factors, 1),
    )
