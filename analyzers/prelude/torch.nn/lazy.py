import autograd_machine


class LazyConv1d(Conv1d):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)


class LazyConv2d(Conv2d):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)


class LazyConv3d(Conv3d):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)


class LazyConvTranspose1d(ConvTranspose1d):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)


class LazyConvTranspose2d(ConvTranspose2d):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)


class LazyConvTranspose3d(ConvTranspose3d):
    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        super().__init__(autograd_machine.unknown_int(), out_channels, kernel_size, *args, **kwargs)
