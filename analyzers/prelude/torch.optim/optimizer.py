import collections

import autograd_machine
import torch
from torch.utils.hooks import RemovableHandle


class Optimizer:
    """Every optimizer's `step` is this one; subclasses define the defaults of a group and the state of a parameter.

    `_takes` says which gradients it accepts: `any`, `dense` or `sparse`.
    """

    _takes = "any"

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._stepped = {}
        self._shown = False
        self.param_groups = []
        self._hooked = False
        self._fused = defaults.get("fused") is True
        self._differentiable = defaults.get("differentiable") is True
        if autograd_machine.surely(isinstance(params, torch.Tensor)):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts")
        if autograd_machine.surely(isinstance(params, torch.nn.Module) and not hasattr(params, "__iter__")):
            raise TypeError("'" + type(params).__name__ + "' object is not iterable")
        if autograd_machine.surely(callable(params)) and not isinstance(params, torch.nn.Module):
            raise TypeError("'method' object is not iterable")
        params = list(params)
        if autograd_machine.surely(len(params) == 0):
            raise ValueError("optimizer got an empty parameter list")
        if not autograd_machine.has_tensor(params) and isinstance(params[0], dict):
            for group in params:
                self.add_param_group(group)
        else:
            self.add_param_group({"params": params})
        if self._fused and self._differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if self._fused and defaults.get("foreach") is True:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        autograd_machine.note_optimizer(self)

    def __getattr__(self, name):
        """The per-parameter state of a step is created when it is first accessed."""
        if name != "state":
            return autograd_machine.unknown()
        state = collections.defaultdict(dict)
        for p, group in self._stepped.items():
            kept = self._state(p, group)
            _written(kept)
            if len(kept) > 0:
                state[p] = kept
        self._shown = True
        self.state = state
        return state

    def _state(self, p, group):
        return {}

    def _writes(self, group):
        """How often a step writes each parameter."""
        return 1

    def add_param_group(self, param_group):
        if autograd_machine.says_nothing(param_group):
            self.param_groups.append(param_group)
            return
        params = param_group["params"]
        params = [params] if isinstance(params, torch.Tensor) else list(params)
        names = [entry[0] for entry in params if isinstance(entry, tuple)]
        if autograd_machine.surely(len(names) > 0):
            if autograd_machine.surely(len(names) != len(params)):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
            params = [p for _, p in params]
        for p in params:
            if autograd_machine.surely(not self._differentiable and not p.is_leaf and not p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor", p)
        for group in self.param_groups:
            if autograd_machine.surely(("param_names" in group) != ("param_names" in param_group)):
                raise ValueError("all optimizer param groups should be with/without names. cannot add param group")
        taken = [p for group in self.param_groups for p in group["params"] if not autograd_machine.stands_for_many(p)]
        if any([p is q for p in taken for q in params]):
            raise ValueError("some parameters appear in more than one parameter group")
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        param_group["params"] = params
        self.param_groups.append(param_group)
        autograd_machine.presume_trained(params)

    def zero_grad(self, set_to_none=autograd_machine.torch_since(2, 0)):
        autograd_machine.note_zero(self)
        for group in self.param_groups:
            for p in autograd_machine.clear_gradients(group["params"]) if set_to_none else group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    _zero(p.grad)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        autograd_machine.note_step(self)
        if self._hooked:
            for hook in list(self._pre_hooks.values()):
                hook(self, (closure,), {})
        self._write_parameters()
        if self._hooked:
            for hook in list(self._post_hooks.values()):
                hook(self, (closure,), {})
        return loss

    def _write_parameters(self):
        """A fused step does not bump versions; a differentiable one is part of the graph."""
        if autograd_machine.steps_unseen(self):
            return
        self._check_layouts()
        write = autograd_machine.write_hidden if self._fused else autograd_machine.write
        with torch.set_grad_enabled(self._differentiable):
            for group in self.param_groups:
                left = group["params"]
                if not (self._differentiable or self._fused):
                    left = autograd_machine.take_step(self, group, self._writes(group))
                for p in left:
                    if p.grad is not None:
                        if self._differentiable:
                            autograd_machine.update(p, p.grad)
                        else:
                            for _ in range(1 if self._fused else self._writes(group)):
                                write(p)
                        self._keep(p, group)

    def _check_layouts(self):
        for group in self.param_groups if self._takes != "any" else []:
            left = group["params"]
            for p in autograd_machine.perhaps_sparse(left) if self._takes == "dense" else left:
                if p.grad is None:
                    continue
                if self._takes == "dense" and autograd_machine.surely(p.grad.is_sparse):
                    raise RuntimeError(type(self).__name__ + " does not support sparse gradients")
                if self._takes == "sparse" and autograd_machine.surely(not p.grad.is_sparse):
                    raise RuntimeError(type(self).__name__ + " does not support dense gradients")

    def _keep(self, p, group):
        """The parameter has state from now on, which is written by each step."""
        if not self._shown and "state" not in self.__dict__:
            self._stepped[p] = group
            return
        kept = self._state(p, group)
        if len(kept) == 0:
            return
        state = self.state[p]
        if len(state) == 0:
            state.update(kept)
        _written(state)

    def state_dict(self):
        groups = []
        numbers = {}
        for group in self.param_groups:
            packed = dict(group)
            for p in group["params"]:
                numbers[p] = len(numbers)
            packed["params"] = [numbers[p] for p in group["params"]]
            groups.append(packed)
        return {"state": {numbers[p]: state for p, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """The contents of a file are unknown."""
        if autograd_machine.surely(isinstance(state_dict, dict) and isinstance(state_dict["param_groups"], list)):
            self._load(state_dict["param_groups"], state_dict["state"])
            return
        for group in self.param_groups:
            group["lr"] = autograd_machine.unknown_float()
        self.state = autograd_machine.unknown()
        self._shown = False

    def _load(self, groups, states):
        if autograd_machine.surely(len(groups) != len(self.param_groups)):
            raise ValueError("loaded state dict has a different number of parameter groups")
        params = {}
        for own, given in zip(self.param_groups, groups):
            if autograd_machine.surely(len(own["params"]) != len(given["params"])):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of")
            for p, number in zip(own["params"], given["params"]):
                params[number] = p
        self.param_groups = [{**given, "params": own["params"]} for own, given in zip(self.param_groups, groups)]
        self.state = collections.defaultdict(dict)
        for number, state in states.items():
            if number in params:
                self.state[params[number]] = dict(state)
        self._shown = True

    def register_step_pre_hook(self, hook):
        return _hook(self, "_pre_hooks", hook)

    def register_step_post_hook(self, hook):
        return _hook(self, "_post_hooks", hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return RemovableHandle({})

    def register_state_dict_post_hook(self, hook, prepend=False):
        return RemovableHandle({})

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return RemovableHandle({})

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return RemovableHandle({})


def _written(state):
    """How often a step writes its state is not tracked."""
    for value in state.values():
        if isinstance(value, torch.Tensor):
            autograd_machine.blur(value)


def _zero(grad):
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _hook(optimizer, table, hook):
    if not optimizer._hooked:
        optimizer._pre_hooks = {}
        optimizer._post_hooks = {}
        optimizer._hooked = True
    hooks = getattr(optimizer, table)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _refuse(wrong, message):
    """An unknown setting is not refused."""
    if autograd_machine.surely(wrong):
        raise ValueError(message)


def _check_rate(lr, message="Invalid learning rate"):
    if autograd_machine.surely(isinstance(lr, torch.Tensor)):
        _refuse(lr.numel() != 1, "Tensor lr must be 1-element")
    else:
        _refuse(lr < 0.0, message)


def _check_betas(betas):
    for index in range(2):
        if not autograd_machine.surely(isinstance(betas[index], torch.Tensor)):
            _refuse(betas[index] < 0.0, "Invalid beta parameter at index")
            _refuse(betas[index] >= 1.0, "Invalid beta parameter at index")


def _scalar(value):
    """A count that torch stores as a tensor."""
    return torch.tensor(value, dtype=torch.float32)
