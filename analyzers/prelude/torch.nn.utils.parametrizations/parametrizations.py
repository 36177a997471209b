import autograd_machine
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrize


class _WeightNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return torch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return torch.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    return parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(nn.Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        self.dim = dim
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.ndim > 1:
            with torch.no_grad():
                matrix = self._as_matrix(weight)
                self.register_buffer("_u", torch.empty(matrix.size(0)))
                self.register_buffer("_v", torch.empty(matrix.size(1)))

    def _as_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            with torch.no_grad():
                autograd_machine.write(self._u)
                autograd_machine.write(self._v)
        u = self._u.clone()
        v = self._v.clone()
        return weight / torch.vdot(u, torch.mv(matrix, v))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    function = _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, function)


class _Orthogonal(nn.Module):
    """One matrix exponential, whichever map is asked for."""

    def forward(self, weight):
        lower = weight.tril()
        if weight.size(-1) == weight.size(-2):
            return torch.linalg.matrix_exp(lower - lower.mH)
        return torch.linalg.householder_product(lower, torch.ones(weight.size(-1)))


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    return parametrize.register_parametrization(module, name, _Orthogonal())
