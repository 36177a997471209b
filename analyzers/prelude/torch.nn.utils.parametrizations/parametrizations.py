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
    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, weight):
        n, k = weight.size(-2), weight.size(-1)
        transposed = n < k
        if transposed:
            weight, n, k = weight.mT, k, n
        if self.orthogonal_map == "householder":
            lower = weight.tril(diagonal=-1)
            scales = 2.0 / (1.0 + (lower * lower).sum(dim=-2))
            made = torch.linalg.householder_product(lower, scales)
            made = made * weight.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            made = self._of_skew(weight.tril(), n, k)
        if self.use_trivialization:
            made = self.base @ made
        return made.mT if transposed else made

    def _of_skew(self, lower, n, k):
        if n != k:
            zeros = lower.new_zeros(n, n - k).expand(*lower.shape[:-2], -1, -1)
            lower = torch.cat([lower, zeros], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            made = torch.matrix_exp(skew)
        else:
            eye = torch.eye(n, dtype=skew.dtype)
            made = torch.linalg.solve(torch.add(eye, skew, alpha=-0.5), torch.add(eye, skew, alpha=0.5))
        return made if n == k else made[..., :k]

    def right_inverse(self, weight):
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise NotImplementedError("It is not possible to assign to the matrix exponential ")
            return weight.detach().clone()
        n, k = weight.size(-2), weight.size(-1)
        size = n if n > k else k
        self.base = torch.zeros((*weight.shape[:-2], size, size), dtype=weight.dtype)
        return torch.zeros_like(weight)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    function = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, function, unsafe=True)
