import torch


def _masked(module, name):
    """The parameter is renamed `_orig`; before each forward, its product with the mask is set as a plain attribute."""
    if name + "_orig" in module._parameters:
        return module
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    module.register_buffer(name + "_mask", torch.ones_like(weight))

    def recompute(module, args):
        orig = getattr(module, name + "_orig")
        setattr(module, name, getattr(module, name + "_mask").to(dtype=orig.dtype) * orig)

    recompute(module, None)
    module._prune_handle = module.register_forward_pre_hook(recompute)
    return module


def identity(module, name):
    return _masked(module, name)


def random_unstructured(module, name, amount):
    return _masked(module, name)


def l1_unstructured(module, name, amount, importance_scores=None):
    return _masked(module, name)


def random_structured(module, name, amount, dim):
    return _masked(module, name)


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    return _masked(module, name)


def custom_from_mask(module, name, mask):
    return _masked(module, name)


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    for module, name in parameters:
        _masked(module, name)


def is_pruned(module):
    return any([hasattr(m, "_prune_handle") for m in module.modules()])


def remove(module, name):
    value = getattr(module, name).data
    module._prune_handle.remove()
    orig = getattr(module, name + "_orig")
    delattr(module, name)
    delattr(module, name + "_orig")
    delattr(module, name + "_mask")
    orig.data = value
    setattr(module, name, orig)
    return module
