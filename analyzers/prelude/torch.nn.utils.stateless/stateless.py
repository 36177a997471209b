import torch


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    return torch.func.functional_call(module, parameters_and_buffers, args, kwargs)
