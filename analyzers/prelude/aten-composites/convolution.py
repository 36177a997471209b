import autograd_machine
import torch


def _spread(value, n):
    """One entry for each spatial dimension, as a list."""
    if isinstance(value, int):
        return [value] * n
    return [value[0]] * n if len(value) == 1 else list(value)


def _parts(tensor):
    both = torch.view_as_real(tensor)
    return both.select(-1, 0), both.select(-1, 1)


def _complex_convolution(input, weight, bias, settings):
    """Three real convolutions."""
    x_real, x_imaginary = _parts(input)
    w_real, w_imaginary = _parts(weight)
    real_bias, imaginary_bias, both_bias = None, None, None
    if bias is not None:
        real_bias, imaginary_bias = _parts(bias)
        both_bias = real_bias + imaginary_bias
    a = torch.ops.aten.convolution(x_real, w_real, real_bias, *settings)
    b = torch.ops.aten.convolution(x_imaginary, w_imaginary, None, *settings)
    c = torch.ops.aten.convolution(x_real + x_imaginary, w_real + w_imaginary, both_bias, *settings)
    return a - b + (c - a - b) * 1j


def _convolution(input, weight, bias, settings):
    if autograd_machine.surely(input.is_complex() != weight.is_complex()):
        raise RuntimeError("Input type and weight type should be the same")
    if weight.is_complex():
        return _complex_convolution(input, weight, bias, settings)
    return torch.ops.aten.convolution(input, weight, bias, *settings)


def _conv(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, n):
    batched = input.dim() == n + 2
    x = input if batched else input.unsqueeze(0)
    stride = _spread(stride, n)
    dilation = _spread(dilation, n)
    if isinstance(padding, str):
        if padding == "valid":
            padding = [0] * n
        else:
            left, right = [], []
            for i in range(n):
                total = dilation[i] * (weight.shape[i + 2] - 1)
                left.append(total // 2)
                right.append(total - total // 2)
            if left != right:
                extra = []
                for i in range(n - 1, -1, -1):
                    extra += [0, right[i] - left[i]]
                x = torch.ops.aten.constant_pad_nd(x, extra, 0)
            padding = left
    settings = [stride, _spread(padding, n), dilation, transposed, _spread(output_padding, n), groups]
    result = _convolution(x, weight, bias, settings)
    return result if batched else result.squeeze(0)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(input, weight, bias, stride, padding, dilation, False, 0, groups, 1)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(input, weight, bias, stride, padding, dilation, False, 0, groups, 2)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(input, weight, bias, stride, padding, dilation, False, 0, groups, 3)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _conv(input, weight, bias, stride, padding, dilation, True, output_padding, groups, 1)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _conv(input, weight, bias, stride, padding, dilation, True, output_padding, groups, 2)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _conv(input, weight, bias, stride, padding, dilation, True, output_padding, groups, 3)
