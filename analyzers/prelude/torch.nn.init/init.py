import autograd_machine
import torch


def _written(tensor):
    with torch.no_grad():
        autograd_machine.write(tensor)
    return tensor


def _with_fans(tensor):
    if autograd_machine.surely(tensor.dim() < 2):
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    return _written(tensor)


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return 2.0**0.5
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return (2.0 / (1 + slope**2)) ** 0.5
    if nonlinearity == "selu":
        return 3.0 / 4
    return 1


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return _written(tensor)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return _written(tensor)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    return _written(tensor)


def constant_(tensor, val):
    return _written(tensor)


def ones_(tensor):
    return _written(tensor)


def zeros_(tensor):
    return _written(tensor)


def eye_(tensor):
    return _written(tensor)


def dirac_(tensor, groups=1):
    return _written(tensor)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    return _with_fans(tensor)


def xavier_normal_(tensor, gain=1.0, generator=None):
    return _with_fans(tensor)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return _with_fans(tensor)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return _with_fans(tensor)


def orthogonal_(tensor, gain=1, generator=None):
    return _written(tensor)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    return _written(tensor)


def uniform(tensor, a=0.0, b=1.0):
    return _written(tensor)


def normal(tensor, mean=0.0, std=1.0):
    return _written(tensor)


def constant(tensor, val):
    return _written(tensor)


def eye(tensor):
    return _written(tensor)


def dirac(tensor, groups=1):
    return _written(tensor)


def xavier_uniform(tensor, gain=1.0):
    return _written(tensor)


def xavier_normal(tensor, gain=1.0):
    return _written(tensor)


def kaiming_uniform(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    return _written(tensor)


def kaiming_normal(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    return _written(tensor)


def orthogonal(tensor, gain=1):
    return _written(tensor)


def sparse(tensor, sparsity, std=0.01):
    return _written(tensor)
