import autograd_machine
import torch
from torch.utils.hooks import RemovableHandle


class Module:
    def __init__(self, *args, **kwargs):
        autograd_machine.begin(self)

    def __call__(self, *args, **kwargs):
        if autograd_machine.says_nothing(self._hooked):
            if autograd_machine.presumes("unknown code leaves the results of modules alone"):
                return self.forward(*args, **kwargs)
            return _call_perhaps_hooked(self, args, kwargs)
        if self._hooked:
            return _call_hooked(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError("Module is missing the required \"forward\" function")

    def extra_repr(self):
        return ""

    def _get_name(self):
        return self.__class__.__name__

    # --- registration

    def register_parameter(self, name, param):
        if param is not None and not isinstance(param, torch.nn.Parameter):
            raise TypeError("cannot assign")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        self._modules[name] = module

    def register_module(self, name, module):
        self.add_module(name, module)

    def get_submodule(self, target):
        found = self
        if target != "":
            for part in target.split("."):
                found = getattr(found, part)
        return found

    def set_submodule(self, target, module, strict=False):
        owner, _, name = target.rpartition(".")
        setattr(self.get_submodule(owner), name, module)

    def get_parameter(self, target):
        owner, _, name = target.rpartition(".")
        return getattr(self.get_submodule(owner), name)

    def get_buffer(self, target):
        return self.get_parameter(target)

    # --- what is inside

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        if not recurse:
            found = [(n, p) for n, p in self._parameters.items() if p is not None]
        else:
            autograd_machine.tell_apart(self)
            found = autograd_machine.named_parameters(self)
        if prefix == "":
            return iter(found)
        return iter([(prefix + "." + n, p) for n, p in found])

    def parameters(self, recurse=True):
        if recurse:
            autograd_machine.tell_apart(self)
            return iter(autograd_machine.parameters(self))
        return iter([p for p in self._parameters.values() if p is not None])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        if not recurse:
            found = [(n, b) for n, b in self._buffers.items() if b is not None]
        else:
            found = autograd_machine.named_buffers(self)
        if prefix == "":
            return iter(found)
        return iter([(prefix + "." + n, b) for n, b in found])

    def buffers(self, recurse=True):
        return iter([b for _, b in self.named_buffers("", recurse)])

    def named_children(self):
        return iter([(n, m) for m, n in {m: n for n, m in self._modules.items() if m is not None}.items()])

    def children(self):
        return iter(autograd_machine.once([m for m in self._modules.values() if m is not None]))

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        found = autograd_machine.named_modules(self)
        if prefix == "":
            return iter(found)
        return iter([(prefix + "." + n if n else prefix, m) for n, m in found])

    def modules(self):
        return iter([m for _, m in autograd_machine.named_modules(self)])

    # --- modes and moves

    def train(self, mode=True):
        if not autograd_machine.set_training(self, mode):
            self.training = mode
            for module in self.children():
                module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in autograd_machine.set_requires_grad(autograd_machine.parameters(self), requires_grad):
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=autograd_machine.torch_since(2, 0)):
        for p in autograd_machine.parameters(self):
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    _zero(p.grad)

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        for p in autograd_machine.parameters(self):
            p.data = fn(p.data)
            if p.grad is not None:
                p.grad.data = fn(p.grad.data)
        for _, module in autograd_machine.named_modules(self):
            for name, b in module._buffers.items():
                if b is not None:
                    module._buffers[name] = fn(b)
        return self

    def to(self, *args, **kwargs):
        """Only a change of dtype is modelled: the effect of a device is not."""
        dtype = kwargs.get("dtype")
        for a in args:
            if not autograd_machine.is_device(a) and a in _DTYPES:
                dtype = a
        if dtype is not None:
            if autograd_machine.surely(dtype not in _DTYPES):
                raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=")
            _cast(self, dtype)
        return self

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        _cast(self, torch.float32)
        return self

    def double(self):
        _cast(self, torch.float64)
        return self

    def half(self):
        _cast(self, torch.float16)
        return self

    def bfloat16(self):
        _cast(self, torch.bfloat16)
        return self

    def cuda(self, device=None):
        return self

    def cpu(self):
        return self

    def xpu(self, device=None):
        return self

    def to_empty(self, *, device, recurse=True):
        return self._apply(lambda t: torch.empty_like(t))

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        pass

    # --- state

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if destination is None:
            destination = {}
        if autograd_machine.fill_state(self, destination, prefix, keep_vars):
            return destination
        for name, p in self._parameters.items():
            if p is not None:
                destination[prefix + name] = p if keep_vars else p.detach()
        for name, b in self._buffers.items():
            if b is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = b if keep_vars else b.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if assign:
            for _, module in autograd_machine.named_modules(self):
                for name, p in module._parameters.items():
                    if p is not None:
                        module._parameters[name] = torch.nn.Parameter(torch.empty_like(p), p.requires_grad)
        else:
            state_dict = autograd_machine.alike(state_dict)
            if autograd_machine.load_state(self, state_dict):
                return autograd_machine.unknown()
            if autograd_machine.surely(isinstance(state_dict, dict)):
                for name, p in autograd_machine.named_parameters(self):
                    if name in state_dict:
                        autograd_machine.follow(p, state_dict[name])
            for _, module in autograd_machine.named_modules(self):
                for tensor in [*module._parameters.values(), *module._buffers.values()]:
                    if tensor is not None:
                        autograd_machine.write(tensor)
        return autograd_machine.unknown()

    def get_extra_state(self):
        return autograd_machine.unknown()

    def set_extra_state(self, state):
        pass

    # --- hooks

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return _hook(self, "_forward_pre_hooks", (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return _hook(self, "_forward_hooks", (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        return _hook(self, "_backward_hooks", hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return _hook(self, "_backward_pre_hooks", hook, prepend)

    def register_backward_hook(self, hook):
        return RemovableHandle({})

    def register_state_dict_pre_hook(self, hook):
        return RemovableHandle({})

    def register_state_dict_post_hook(self, hook):
        return RemovableHandle({})

    def _register_state_dict_hook(self, hook):
        return RemovableHandle({})

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return RemovableHandle({})

    def register_load_state_dict_pre_hook(self, hook):
        return RemovableHandle({})

    def register_load_state_dict_post_hook(self, hook):
        return RemovableHandle({})


_DTYPES = {
    torch.float32: None, torch.float64: None, torch.float16: None, torch.bfloat16: None, torch.complex64: None,
    torch.complex128: None,
}


def _cast(module, dtype):
    for p in autograd_machine.parameters(module):
        p.data = p.data.to(dtype)
        if p.grad is not None:
            p.grad.data = p.grad.data.to(dtype)
    for _, inner in autograd_machine.named_modules(module):
        for name, b in inner._buffers.items():
            if b is not None and b.dtype in _DTYPES:
                inner._buffers[name] = b.to(dtype)


def _zero(grad):
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _hook(module, table, hook, prepend):
    if not module._hooked:
        module._forward_pre_hooks = {}
        module._forward_hooks = {}
        module._backward_hooks = {}
        module._backward_pre_hooks = {}
        module._hooked = True
    hooks = getattr(module, table)
    handle = RemovableHandle(hooks)
    if prepend:
        older = list(hooks.items())
        hooks.clear()
        hooks[handle.id] = hook
        hooks.update(older)
    else:
        hooks[handle.id] = hook
    return handle


def _call_hooked(module, args, kwargs):
    for hook, with_kwargs in list(module._forward_pre_hooks.values()):
        if with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    watch = None
    if len(module._backward_hooks) > 0 or len(module._backward_pre_hooks) > 0:
        watch = _BackwardHooks(module)
        args = watch.before(args)
    result = module.forward(*args, **kwargs)
    for hook, with_kwargs in list(module._forward_hooks.values()):
        changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if changed is not None:
            autograd_machine.note_replaced(hook, changed)
            result = changed
    return result if watch is None else watch.behind(result)


def _call_perhaps_hooked(module, args, kwargs):
    """Unseen hooks may modify their arguments, and may replace the result."""
    hook = autograd_machine.unknown()
    if module._hooked:
        args = autograd_machine.either(args, hook(module, args, kwargs))
    result = module.forward(*args, **kwargs)
    return autograd_machine.either(result, hook(module, args, kwargs, result))


class BackwardHookFunction(torch.autograd.Function):
    """A full backward hook puts this identity before and after the module: its results are views."""

    @staticmethod
    def forward(ctx, meet, *args):
        ctx.meet = meet
        ctx.mark_non_differentiable(*[a for a in args if autograd_machine.surely(not a.requires_grad)])
        return args

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.meet(grads))


class _BackwardHooks:
    """The backward hooks of one call of a module."""

    def __init__(self, module):
        self.module = module
        self.hooks = list(module._backward_hooks.values())
        self.pre_hooks = list(module._backward_pre_hooks.values())
        self.count = 0
        self.watched = False
        self.grad_outputs = None

    def before(self, args):
        self.count = len(args)
        through = _through_backward_hook(args, self.enter)
        self.watched = through is not args
        return through

    def behind(self, result):
        return _through_backward_hook(result, self.leave)

    def leave(self, grads):
        """The gradient of the results has arrived; that of the inputs is never requested if none requires grad."""
        for hook in self.pre_hooks:
            changed = hook(self.module, grads)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        if self.watched:
            self.grad_outputs = grads
        else:
            for hook in self.hooks:
                hook(self.module, tuple([None for _ in range(self.count)]), grads)
        return grads

    def enter(self, grads):
        if self.grad_outputs is None:
            return grads
        for hook in self.hooks:
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        self.grad_outputs = None
        return grads


def _through_backward_hook(values, meet):
    if not torch.is_grad_enabled():
        return values
    if isinstance(values, torch.Tensor):
        return BackwardHookFunction.apply(meet, values)[0] if values.requires_grad else values
    if not isinstance(values, tuple):
        return values
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    if not any([t.requires_grad for t in tensors]):
        return values
    hooked = iter(BackwardHookFunction.apply(meet, *tensors))
    return tuple([next(hooked) if isinstance(v, torch.Tensor) else v for v in values])
