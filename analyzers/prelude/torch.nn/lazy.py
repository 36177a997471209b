import autograd_machine
import torch


class _Lazy:
    """A layer whose parameters get their sizes from the first input; they exist before that, and remain the same
    objects."""

    _waiting = True

    def forward(self, input, *args):
        if self._waiting:
            self._settle(_features(input, self._spatial))
            self._waiting = False
        return super().forward(input, *args)


def _features(input, spatial):
    """The size of the dimension after the batch; `spatial` are the dimensions after that, None for the last one."""
    if spatial is None:
        return input.shape[-1]
    if autograd_machine.surely(input.dim() == spatial + 1):
        return input.shape[0]
    return input.shape[1]


def _resize(tensor, shape):
    if tensor is not None:
        tensor.data = torch.empty(shape, dtype=tensor.dtype)


class LazyLinear(_Lazy, Linear):
    _spatial = None

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(autograd_machine.unknown_int(), out_features, bias, device, dtype)

    def _settle(self, features):
        self.in_features = features
        _resize(self.weight, (self.out_features, features))


class _LazyConv(_Lazy):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)

    def _settle(self, features):
        self.in_channels = features
        if self.transposed:
            _resize(self.weight, (features, self.out_channels // self.groups, *self.kernel_size))
        else:
            _resize(self.weight, (self.out_channels, features // self.groups, *self.kernel_size))


class LazyConv1d(_LazyConv, Conv1d):
    _spatial = 1


class LazyConv2d(_LazyConv, Conv2d):
    _spatial = 2


class LazyConv3d(_LazyConv, Conv3d):
    _spatial = 3


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    _spatial = 1


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    _spatial = 2


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    _spatial = 3


class _LazyNorm(_Lazy):
    def __init__(self, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), *args, **kwargs)

    def _settle(self, features):
        self.num_features = features
        for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
            _resize(tensor, (features,))


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    _spatial = 0


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    _spatial = 2


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    _spatial = 3


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    _spatial = 1


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    _spatial = 2


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    _spatial = 3
