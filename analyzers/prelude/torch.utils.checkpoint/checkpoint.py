import contextlib

import autograd_machine
import torch


class CheckpointFunction(torch.autograd.Function):
    """Reentrant: the function runs under `no_grad`, so a graph is only created for inputs that require grad."""

    @staticmethod
    def forward(ctx, function, preserve_rng_state, *args):
        ctx.function = function
        ctx.inputs = args
        ctx.save_for_backward(*[a for a in args if isinstance(a, torch.Tensor)])
        with torch.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Backward runs the function again, and then that run's own backward, which reaches the function's
        parameters."""
        if autograd_machine.aimed():
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an"
                               " `inputs` parameter to .backward()")
        tensors = ctx.saved_tensors
        inputs = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, torch.Tensor) else a for a in ctx.inputs]
        with torch.enable_grad():
            outputs = ctx.function(*inputs)
        outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        roots = []
        given = []
        for output, grad in zip(outputs, grads):
            if isinstance(output, torch.Tensor) and output.requires_grad:
                roots.append(output)
                given.append(grad)
        if len(roots) == 0:
            autograd_machine.without_graph(
                outputs[0], "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        torch.autograd.backward(roots, given)
        return (None, None, *[a.grad if isinstance(a, torch.Tensor) else None for a in inputs])


class _Recomputed:
    """A run of a function that saves only its tensors: backward runs the function again to get the others."""

    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.inputs = autograd_machine.keep(*[a for a in args if isinstance(a, torch.Tensor)])
        self.walk = None

    def run(self):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, self.unpack):
            return self.function(*self.args, **self.kwargs)

    def unpack(self, tensor):
        autograd_machine.kept(self.inputs)
        if self.walk != autograd_machine.walk():
            self.walk = autograd_machine.walk()
            with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                self.function(*self.args, **self.kwargs)
        return tensor


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False,
               early_stop=True, preserve_rng_state=True, **kwargs):
    autograd_machine.runs_again(function)
    if use_reentrant is None or use_reentrant:
        if len(kwargs) > 0:
            raise ValueError("Unexpected keyword arguments: ")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    return _Recomputed(function, args, kwargs).run()


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    modules = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)
    size = len(modules) // segments

    def run(start, end):
        def forward(input):
            for module in modules[start:end]:
                input = module(input)
            return input

        return forward

    start = 0
    for _ in range(segments - 1):
        input = checkpoint(run(start, start + size), input, use_reentrant=use_reentrant)
        start += size
    return run(start, len(modules))(input)


def set_checkpoint_early_stop(enable):
    return contextlib.nullcontext()


def set_checkpoint_debug_enabled(enabled):
    return contextlib.nullcontext()
