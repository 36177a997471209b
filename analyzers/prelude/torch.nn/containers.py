import autograd_machine
import torch


class Sequential(Module):
    def __init__(self, *args):
        super().__init__()
        if autograd_machine.are_layers(args) or not (len(args) == 1 and isinstance(args[0], dict)):
            for i, module in enumerate(autograd_machine.layers(args)):
                self.add_module(str(i), module)
        else:
            for name, module in args[0].items():
                self.add_module(name, module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __contains__(self, module):
        return module in list(self._modules.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Sequential(dict(list(self._modules.items())[index]))
        return list(self._modules.values())[index]

    def __setitem__(self, index, module):
        self._modules[list(self._modules.keys())[index]] = module

    def __delitem__(self, index):
        kept = list(self._modules.values())
        del kept[index]
        _refill(self, kept)

    def __add__(self, other):
        return Sequential(*list(self), *list(other))

    def append(self, module):
        self.add_module(str(len(self._modules)), module)
        return self

    def extend(self, sequential):
        for module in sequential:
            self.append(module)
        return self

    def insert(self, index, module):
        kept = list(self._modules.values())
        kept.insert(index, module)
        _refill(self, kept)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module


def _refill(container, modules):
    container._modules.clear()
    for i, module in enumerate(modules):
        container._modules[str(i)] = module


class ModuleList(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(list(modules))

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __contains__(self, module):
        return module in list(self._modules.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ModuleList(list(self._modules.values())[index])
        return list(self._modules.values())[index]

    def __setitem__(self, index, module):
        self._modules[list(self._modules.keys())[index]] = module

    def __delitem__(self, index):
        kept = list(self._modules.values())
        del kept[index]
        _refill(self, kept)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList(list(self) + list(other))

    def append(self, module):
        self.add_module(str(len(self._modules)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        kept = list(self._modules.values())
        kept.insert(index, module)
        _refill(self, kept)

    def pop(self, key):
        module = self[key]
        del self[key]
        return module


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules):
        pairs = modules if isinstance(modules, list) else modules.items()
        for key, module in pairs:
            self.add_module(key, module)


class ParameterList(Module):
    """Tensors become parameters; other values are stored unchanged."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        return getattr(self, str(index if index >= 0 else index + self._size))

    def __setitem__(self, index, value):
        setattr(self, str(index if index >= 0 else index + self._size), _as_parameter(value))

    def append(self, value):
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values):
        if isinstance(values, torch.Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got a tensor")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)

    def pop(self, index=-1):
        """Only supports the last item, the usual case."""
        self._size -= 1
        value = getattr(self, str(self._size))
        delattr(self, str(self._size))
        return value


def _as_parameter(value):
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(value)
    return value


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def values(self):
        return [getattr(self, k) for k in self._keys]

    def items(self):
        return [(k, getattr(self, k)) for k in self._keys]

    def get(self, key, default=None):
        return self[key] if key in self._keys else default

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def setdefault(self, key, default=None):
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def copy(self):
        return ParameterDict(dict(self.items()))

    def update(self, parameters):
        pairs = parameters if isinstance(parameters, list) else parameters.items()
        for key, value in pairs:
            self[key] = value
