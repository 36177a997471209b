import autograd_machine
import torch


def _more_than_one(input, groups, what):
    """A deviation needs more than one number."""
    if autograd_machine.surely(input.numel() == groups > 0):
        raise ValueError("Expected more than 1 " + what + " when training")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        _more_than_one(input, 1 if autograd_machine.surely(input.dim() < 2) else input.size(1), "value per channel")
    return torch.ops.aten.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    if use_input_stats:
        _more_than_one(input, input.size(0) * input.size(1), "spatial element")
    return torch.ops.aten.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return torch.ops.aten.layer_norm(input, normalized_shape, weight, bias, eps, True)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return torch.ops.aten.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    _more_than_one(input, num_groups, "value per channel")
    return torch.ops.aten.group_norm(input, num_groups, weight, bias, eps, True)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    around = (size // 2, (size - 1) // 2)
    if input.dim() == 3:
        padded = torch.ops.aten.pad(squares.unsqueeze(1), (0, 0, *around))
        mean = torch.ops.aten.avg_pool2d(padded, (size, 1), 1).squeeze(1)
    else:
        shape = input.size()
        padded = torch.ops.aten.pad(squares.view(shape[0], 1, shape[1], shape[2], -1), (0, 0, 0, 0, *around))
        mean = torch.ops.aten.avg_pool3d(padded, (size, 1, 1), 1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    if out is None:
        return input / length
    return torch.div(input, length, out=out)
