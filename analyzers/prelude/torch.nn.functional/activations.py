import torch


def relu(input, inplace=False):
    return torch.relu_(input) if inplace else torch.relu(input)


def relu6(input, inplace=False):
    if inplace:
        return torch.ops.aten.relu6_(input)
    return torch.ops.aten.relu6(input)


def threshold(input, threshold, value, inplace=False):
    if inplace:
        return torch.ops.aten.threshold_(input, threshold, value)
    return torch.ops.aten.threshold(input, threshold, value)


def glu(input, dim=-1):
    return torch.ops.aten.glu(input, dim)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if inplace:
        return torch.ops.aten.hardtanh_(input, min_val, max_val)
    return torch.ops.aten.hardtanh(input, min_val, max_val)


def elu(input, alpha=1.0, inplace=False):
    if inplace:
        return torch.ops.aten.elu_(input, alpha)
    return torch.ops.aten.elu(input, alpha)


def selu(input, inplace=False):
    if inplace:
        return torch.selu_(input)
    return torch.selu(input)


def celu(input, alpha=1.0, inplace=False):
    if inplace:
        return torch.celu_(input, alpha)
    return torch.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    if inplace:
        return torch.ops.aten.leaky_relu_(input, negative_slope)
    return torch.ops.aten.leaky_relu(input, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    if inplace:
        return torch.rrelu_(input, lower, upper, training)
    return torch.rrelu(input, lower, upper, training)


def tanhshrink(input):
    return input - input.tanh()


def softsign(input):
    return input / (input.abs() + 1)


def hardsigmoid(input, inplace=False):
    if inplace:
        return torch.ops.aten.hardsigmoid_(input)
    return torch.ops.aten.hardsigmoid(input)


def silu(input, inplace=False):
    if inplace:
        return torch.ops.aten.silu_(input)
    return torch.ops.aten.silu(input)


def mish(input, inplace=False):
    if inplace:
        return torch.ops.aten.mish_(input)
    return torch.ops.aten.mish(input)


def hardswish(input, inplace=False):
    if inplace:
        return torch.ops.aten.hardswish_(input)
    return torch.ops.aten.hardswish(input)


def _softmax_dim(input, dim):
    if dim is not None:
        return dim
    return 0 if input.dim() in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dtype is None:
        return input.softmax(_softmax_dim(input, dim))
    return input.softmax(_softmax_dim(input, dim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return softmax(-input, dim, 3, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dtype is None:
        return input.log_softmax(_softmax_dim(input, dim))
    return input.log_softmax(_softmax_dim(input, dim), dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


def dropout(input, p=0.5, training=True, inplace=False):
    if inplace:
        return torch.ops.aten.dropout_(input, p, training)
    return torch.ops.aten.dropout(input, p, training)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    if inplace:
        return torch.ops.aten.alpha_dropout_(input, p, training)
    return torch.ops.aten.alpha_dropout(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    if inplace:
        return torch.ops.aten.feature_alpha_dropout_(input, p, training)
    return torch.ops.aten.feature_alpha_dropout(input, p, training)


def _dropout_channels(input, p, training, inplace):
    if inplace:
        return torch.ops.aten.feature_dropout_(input, p, training)
    return torch.ops.aten.feature_dropout(input, p, training)


def _dropout_unbatched(input, p, training, inplace):
    """Dimension 0 is prepended temporarily; in place, `input` itself gets the new shape, then the old one again."""
    if inplace:
        return _dropout_channels(input.unsqueeze_(0), p, training, True).squeeze_(0)
    return _dropout_channels(input.unsqueeze(0), p, training, False).squeeze(0)


def dropout1d(input, p=0.5, training=True, inplace=False):
    if input.dim() == 2:
        return _dropout_unbatched(input, p, training, inplace)
    return _dropout_channels(input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    return _dropout_channels(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    if input.dim() == 4:
        return _dropout_unbatched(input, p, training, inplace)
    return _dropout_channels(input, p, training, inplace)
