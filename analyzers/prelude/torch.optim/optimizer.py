import collections

import autograd_machine
import torch
from torch.utils.hooks import RemovableHandle


class Optimizer:
    """Each optimizer's `step` is this one; subclasses give the defaults of a group."""

    def __init__(self, params, defaults):
        self.defaults = defaults
        self.state = collections.defaultdict(dict)
        self.param_groups = []
        self._hooked = False
        self._fused = defaults.get("fused") is True
        if isinstance(params, torch.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts")
        params = list(params)
        if len(params) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if isinstance(params[0], dict):
            for group in params:
                self.add_param_group(group)
        else:
            self.add_param_group({"params": params})

    def add_param_group(self, param_group):
        params = param_group["params"]
        params = [params] if isinstance(params, torch.Tensor) else list(params)
        if len(params) > 0 and isinstance(params[0], tuple):
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        for p in params:
            if not p.is_leaf and not p.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor", p)
        taken = [p for group in self.param_groups for p in group["params"]]
        if any([p is q for p in taken for q in params]):
            raise ValueError("some parameters appear in more than one parameter group")
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        param_group["params"] = params
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        autograd_machine.note_zero(self)
        for group in self.param_groups:
            for p in group["params"]:
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
        write = autograd_machine.write_hidden if self._fused else autograd_machine.write
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        write(p)
        if self._hooked:
            for hook in list(self._post_hooks.values()):
                hook(self, (closure,), {})
        return loss

    def state_dict(self):
        groups = []
        start = 0
        for group in self.param_groups:
            packed = dict(group)
            packed["params"] = list(range(start, start + len(group["params"])))
            start += len(group["params"])
            groups.append(packed)
        return {"state": autograd_machine.unknown(), "param_groups": groups}

    def load_state_dict(self, state_dict):
        for group in self.param_groups:
            group["lr"] = autograd_machine.unknown_float()
        self.state = autograd_machine.unknown()

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
    hooks[handle] = hook
    return handle
