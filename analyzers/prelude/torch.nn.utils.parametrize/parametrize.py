import autograd_machine
import torch
from torch import nn

_CACHE = {"depth": 0, "kept": {}}


class ParametrizationList(nn.ModuleList):
    """The functions applied in sequence; `original` is the parameter they start from, or `original0` and so on if the
    first function takes several."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        start = original
        with torch.no_grad():
            for module in reversed(list(self._modules.values())):
                if hasattr(module, "right_inverse"):
                    start = module.right_inverse(start)
        self._names = ["original"]
        if isinstance(start, torch.Tensor):
            _set(original, start)
            self._register("original", original)
        else:
            self._names = ["original" + str(i) for i in range(len(start))]
            for name, tensor in zip(self._names, start):
                if isinstance(original, nn.Parameter):
                    tensor = nn.Parameter(tensor, original.requires_grad)
                self._register(name, tensor)

    def _register(self, name, tensor):
        if isinstance(tensor, nn.Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def right_inverse(self, value):
        """Assignment to the attribute: sets the originals to what would produce this value."""
        with torch.no_grad():
            for module in reversed(list(self._modules.values())):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError("parametrization " + type(module).__name__ + " does not implement right_inverse.")
                value = module.right_inverse(value)
            values = [value] if isinstance(value, torch.Tensor) else value
            for name, tensor in zip(self._names, values):
                _set(getattr(self, name), tensor)

    def forward(self):
        if _CACHE["depth"] == 0:
            return self._computed()
        if self not in _CACHE["kept"]:
            _CACHE["kept"][self] = self._computed()
        return _CACHE["kept"][self]

    def _computed(self):
        modules = list(self._modules.values())
        value = modules[0](*[getattr(self, name) for name in self._names])
        for module in modules[1:]:
            value = module(value)
        return value


def _set(original, value):
    """`original.set_(value)`: counts as a write, even if both are the same tensor."""
    if value is not original:
        original.data = value.data
    with torch.no_grad():
        autograd_machine.write(original)


def _entry(module, name, entry):
    """From here on, the machine answers each access to `module.name` by calling the entry."""
    delattr(module, name)
    if not is_parametrized(module):
        module.parametrizations = nn.ModuleDict()
    module.parametrizations[name] = entry


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
    else:
        original = getattr(module, tensor_name)
        _entry(module, tensor_name, ParametrizationList([parametrization], original))
    return module


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    entry = module.parametrizations[tensor_name]
    with torch.no_grad():
        value = entry() if leave_parametrized else entry.original
    del module.parametrizations[tensor_name]
    setattr(module, tensor_name, nn.Parameter(value.detach()))
    if len(module.parametrizations) == 0:
        del module.parametrizations
    return module


def is_parametrized(module, tensor_name=None):
    if "parametrizations" not in module._modules:
        return False
    return tensor_name is None or tensor_name in module.parametrizations


class cached:
    """Inside the block, each parametrized tensor is computed only once."""

    def __enter__(self):
        _CACHE["depth"] += 1
        return None

    def __exit__(self, *args):
        _CACHE["depth"] -= 1
        if _CACHE["depth"] == 0:
            _CACHE["kept"] = {}
