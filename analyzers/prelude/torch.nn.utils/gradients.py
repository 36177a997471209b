import autograd_machine
import torch


def _listed(parameters):
    if isinstance(parameters, torch.Tensor):
        return [parameters]
    return list(parameters)


def _grads(parameters):
    return [p.grad for p in parameters if p.grad is not None]


@torch.no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    norms = [torch.linalg.vector_norm(t, norm_type) for t in _listed(tensors)]
    if len(norms) == 0:
        return torch.tensor(0.0)
    return torch.linalg.vector_norm(torch.stack(norms), norm_type)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    for g in _grads(_listed(parameters)):
        autograd_machine.write(g)


@torch.no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Every gradient is written, even if none exceeds the norm."""
    parameters = _listed(parameters)
    autograd_machine.note_clip(parameters)
    for g in _grads(autograd_machine.write_gradients(parameters)):
        autograd_machine.write(g)
    return torch.empty(())


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    return clip_grad_norm_(parameters, max_norm, norm_type)


@torch.no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    """From below, and from above."""
    parameters = _listed(parameters)
    autograd_machine.note_clip(parameters)
    for g in _grads(parameters):
        autograd_machine.write(g)
        autograd_machine.write(g)


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Each parameter becomes a window into the vector, through `.data`."""
    start = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[start:start + n].view_as(p).data
        start += n


def skip_init(module_cls, *args, **kwargs):
    return module_cls(*args, **kwargs)


def convert_conv2d_weight_memory_format(module, memory_format):
    return module


def convert_conv3d_weight_memory_format(module, memory_format):
    return module
