import torch


def _correction(unbiased):
    return 1 if unbiased else 0


def var_mean(self, dim=None, unbiased=True, keepdim=False):
    return torch.ops.aten.var_mean.correction(self, dim, correction=_correction(unbiased), keepdim=keepdim)


def std_mean(self, dim=None, unbiased=True, keepdim=False):
    return torch.ops.aten.std_mean.correction(self, dim, correction=_correction(unbiased), keepdim=keepdim)


def nanmean(self, dim=None, keepdim=False, dtype=None):
    count = torch.isnan(self.detach()).logical_not_().sum(dim, keepdim)
    return torch.nansum(self, dim, keepdim, dtype=dtype).div(count)


def trapezoid(y, x=None, dx=1, dim=-1):
    if x is None:
        if y.shape[dim] == 0:
            return torch.zeros([y.shape[d] for d in range(y.dim()) if d != dim % y.dim()], dtype=y.dtype)
        return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx
    return ((_before(y, dim) + _after(y, dim)) * _steps(x, y, dim)).sum(dim) / 2.0


def _after(y, dim):
    return torch.ops.aten.slice(y, dim, 1)


def _before(y, dim):
    return torch.ops.aten.slice(y, dim, 0, -1)


def _steps(x, y, dim):
    if x.dim() == 1 and y.dim() != 1:
        sizes = [1] * y.dim()
        sizes[dim] = x.shape[0]
        x = x.view(sizes)
    if x.dim() < y.dim():
        x = x.view([1] * (y.dim() - x.dim()) + list(x.shape))
    return torch.ops.aten.slice(x, dim, 1) - torch.ops.aten.slice(x, dim, 0, -1)


def trapz(y, x=None, dx=1, dim=-1):
    return trapezoid(y, x, dx, dim)


def cumulative_trapezoid(y, x=None, dx=1, dim=-1):
    if x is None:
        return ((_before(y, dim) + _after(y, dim)) * (dx / 2.0)).cumsum(dim)
    return ((_before(y, dim) + _after(y, dim)) * _steps(x, y, dim)).cumsum(dim) / 2.0


def cov(self, correction=1, fweights=None, aweights=None):
    source = self.view(1, -1) if self.dim() < 2 else self
    weights = fweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    elif aweights is not None:
        weights = aweights
    if weights is None:
        count = source.shape[1]
        total = torch.tensor(1.0)
        mean = source.sum(1) / total
        norm = total
    else:
        total = weights.sum()
        mean = (source * weights).sum(1) / total
        if correction == 0:
            norm = total
        elif aweights is None:
            norm = total - correction
        else:
            norm = total - correction * (weights * aweights).sum() / total
    source = source - mean.unsqueeze(1)
    other = source if weights is None else source * weights
    c = torch.mm(source, other.t().conj())
    if c.is_complex() and source.shape[0] == 1:
        real = c.real
        c = torch.complex(real, torch.zeros_like(real))
    return (c / norm).squeeze()


def corrcoef(self):
    c = torch.ops.aten.cov(self)
    if c.dim() == 0:
        return c / c
    d = c.diagonal()
    stddev = torch.sqrt(d.real if d.is_complex() else d)
    c = c / stddev.view(-1, 1) / stddev.view(1, -1)
    if c.is_complex():
        return torch.complex(torch.real(c).clip(-1, 1), torch.imag(c).clip(-1, 1))
    return c.clip(-1, 1)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    dims = [input.dim() - 1 - i for i in range(len(normalized_shape))]
    mean = input.pow(2).mean(dims, True)
    result = input * torch.ops.aten.add.Scalar(mean, 1e-5 if eps is None else eps).rsqrt()
    return result if weight is None else result * weight
