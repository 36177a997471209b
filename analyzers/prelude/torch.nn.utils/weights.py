import torch
from torch import nn


def weight_norm(module, name="weight", dim=0):
    """The old API: before each forward, the weight is computed from `_g` and `_v` and set as a plain attribute."""
    weight = getattr(module, name)
    if dim is None:
        dim = -1
    norm = torch.norm_except_dim(weight, 2, dim).data
    delattr(module, name)
    module.register_parameter(name + "_g", nn.Parameter(norm))
    module.register_parameter(name + "_v", nn.Parameter(weight.data))

    def recompute(module, args):
        setattr(module, name, torch._weight_norm(getattr(module, name + "_v"), getattr(module, name + "_g"), dim))

    recompute(module, None)
    module._weight_norm_handle = module.register_forward_pre_hook(recompute)
    return module


def remove_weight_norm(module, name="weight"):
    weight = getattr(module, name)
    module._weight_norm_handle.remove()
    delattr(module, name)
    delattr(module, name + "_g")
    delattr(module, name + "_v")
    setattr(module, name, nn.Parameter(weight.data))
    return module


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """The old API: `_orig` is the parameter, `_u` and `_v` are buffers written by each forward in train mode."""
    weight = getattr(module, name)
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    with torch.no_grad():
        matrix = _as_matrix(weight, dim)
        module.register_buffer(name + "_u", torch.empty(matrix.size(0)))
        module.register_buffer(name + "_v", torch.empty(matrix.size(1)))

    def recompute(module, args):
        u = getattr(module, name + "_u")
        v = getattr(module, name + "_v")
        weight = getattr(module, name + "_orig")
        matrix = _as_matrix(weight, dim)
        if module.training:
            with torch.no_grad():
                v.copy_(torch.mv(matrix.t(), u))
                u.copy_(torch.mv(matrix, v))
                u = u.clone()
                v = v.clone()
        sigma = torch.dot(u, torch.mv(matrix, v))
        setattr(module, name, weight / sigma)

    module._spectral_norm_handle = module.register_forward_pre_hook(recompute)
    return module


def _as_matrix(weight, dim):
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


def remove_spectral_norm(module, name="weight"):
    weight = getattr(module, name)
    module._spectral_norm_handle.remove()
    delattr(module, name)
    delattr(module, name + "_u")
    delattr(module, name + "_v")
    delattr(module, name + "_orig")
    module.register_parameter(name, nn.Parameter(weight.detach()))
    return module
