import torch


def _places(M, dtype, requires_grad):
    """The points at which the window is sampled."""
    return torch.linspace(0.0, 1.0, M, dtype=dtype, requires_grad=requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad)
    return torch.exp(-torch.abs(_places(M, dtype, requires_grad)))


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad)
    return torch.sin(_places(M, dtype, requires_grad))


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad)
    return torch.exp(-(_places(M, dtype, requires_grad) ** 2))


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad)
    if M == 1:
        return torch.ones((1,), dtype=dtype, requires_grad=requires_grad)
    beta = torch.tensor(beta, dtype=dtype)
    return torch.i0(torch.sqrt(beta * beta - torch.pow(_places(M, dtype, requires_grad), 2))) / torch.i0(beta)


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad)
    if M == 1:
        return torch.ones((1,), dtype=dtype, requires_grad=requires_grad)
    return 1 - torch.abs(_places(M, dtype, requires_grad))


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad)
    if M == 1:
        return torch.ones((1,), dtype=dtype, requires_grad=requires_grad)
    k = _places(M, dtype, requires_grad)
    weights = torch.ones(len(a), dtype=dtype)
    places = torch.arange(len(a), dtype=dtype)
    return (weights.unsqueeze(-1) * torch.cos(places.unsqueeze(-1) * k)).sum(0)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_hamming(M, sym=sym, dtype=dtype, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_cosine(M, a=[0.3, 0.4, 0.2, 0.1], sym=sym, dtype=dtype, requires_grad=requires_grad)
