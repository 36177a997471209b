import autograd_machine
import torch


def _written(tensor):
    with torch.no_grad():
        autograd_machine.write(tensor)
    return tensor


def calculate_gain(nonlinearity, param=None):
    return autograd_machine.unknown_float()


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
    return _written(tensor)


def xavier_normal_(tensor, gain=1.0, generator=None):
    return _written(tensor)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return _written(tensor)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return _written(tensor)


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
