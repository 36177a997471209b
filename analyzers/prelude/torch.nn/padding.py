import autograd_machine
import torch
import torch.nn.functional as F


class _ConstantPadNd(Module):
    def __init__(self, padding, value, n):
        super().__init__()
        self.padding = autograd_machine.sizes(padding, 2 * n)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)


class _PadNd(Module):
    def __init__(self, padding, mode, n):
        super().__init__()
        self.padding = autograd_machine.sizes(padding, 2 * n)
        self.mode = mode

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)


class ConstantPad1d(_ConstantPadNd):
    def __init__(self, padding, value):
        super().__init__(padding, value, 1)


class ZeroPad1d(_ConstantPadNd):
    def __init__(self, padding):
        super().__init__(padding, 0.0, 1)


class ReflectionPad1d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "reflect", 1)


class ReplicationPad1d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "replicate", 1)


class CircularPad1d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "circular", 1)


class ConstantPad2d(_ConstantPadNd):
    def __init__(self, padding, value):
        super().__init__(padding, value, 2)


class ZeroPad2d(_ConstantPadNd):
    def __init__(self, padding):
        super().__init__(padding, 0.0, 2)


class ReflectionPad2d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "reflect", 2)


class ReplicationPad2d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "replicate", 2)


class CircularPad2d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "circular", 2)


class ConstantPad3d(_ConstantPadNd):
    def __init__(self, padding, value):
        super().__init__(padding, value, 3)


class ZeroPad3d(_ConstantPadNd):
    def __init__(self, padding):
        super().__init__(padding, 0.0, 3)


class ReflectionPad3d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "reflect", 3)


class ReplicationPad3d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "replicate", 3)


class CircularPad3d(_PadNd):
    def __init__(self, padding):
        super().__init__(padding, "circular", 3)
