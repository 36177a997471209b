import torch
from torch import nn


class ParametrizationList(nn.ModuleList):
    """The functions in a row; `original` is the parameter they start from."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        if isinstance(original, nn.Parameter):
            self.original = original
        else:
            self.register_buffer("original", original)

    def forward(self):
        value = self.original
        for module in self._modules.values():
            value = module(value)
        return value


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """The parameter moves to `parametrizations`; a hook stands for the property that computes it at each access."""
    if not hasattr(module, "parametrizations"):
        module.parametrizations = nn.ModuleDict()
    if tensor_name in module.parametrizations:
        entry = module.parametrizations[tensor_name]
        entry.append(parametrization)
        setattr(module, tensor_name, entry())
        return module
    original = getattr(module, tensor_name)
    delattr(module, tensor_name)
    entry = ParametrizationList([parametrization], original)
    module.parametrizations[tensor_name] = entry
    setattr(module, tensor_name, entry())

    def recompute(module, args):
        setattr(module, tensor_name, module.parametrizations[tensor_name]())

    module.register_forward_pre_hook(recompute)
    return module


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    entry = module.parametrizations[tensor_name]
    value = entry() if leave_parametrized else entry.original
    delattr(module, tensor_name)
    del module.parametrizations[tensor_name]
    with torch.no_grad():
        setattr(module, tensor_name, nn.Parameter(value.detach()))
    return module


def is_parametrized(module, tensor_name=None):
    if not hasattr(module, "parametrizations"):
        return False
    return tensor_name is None or tensor_name in module.parametrizations


class cached:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None
