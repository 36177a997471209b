import autograd_machine
import torch


def once_differentiable(fn):
    """The function's result has no graph; if it would have had one, it gets a node that only raises."""

    def wrapper(ctx, *args):
        with torch.no_grad():
            outputs = fn(ctx, *args)
        if not torch.is_grad_enabled():
            return outputs
        if not any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
            return outputs
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        message = "trying to differentiate twice a function that was marked with @once_differentiable"
        return tuple([None if v is None else autograd_machine.delayed_error(v, message) for v in outputs])

    return wrapper
