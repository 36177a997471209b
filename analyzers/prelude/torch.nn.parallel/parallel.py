import contextlib

import autograd_machine
import torch
from torch import nn


class DataParallel(nn.Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = device_ids

    def forward(self, *inputs, **kwargs):
        count = len(self.device_ids) if isinstance(self.device_ids, list) else None
        return autograd_machine.gathered(self.module(*inputs, **kwargs), count)


class _Reducer:
    """Waits for the gradients of all parameters that required grad when the module was wrapped."""

    def __init__(self, module, waits):
        self.parameters = [p for p in module.parameters() if autograd_machine.surely(p.requires_grad)]
        self.waits = waits
        self.begun = False

    def begin(self):
        autograd_machine.begin_reduction(self.parameters, self.waits and self.begun)
        self.begun = True


class _NoSync:
    def __init__(self, parallel):
        self.parallel = parallel
        self.before = parallel.require_backward_grad_sync

    def __enter__(self):
        self.parallel.require_backward_grad_sync = False

    def __exit__(self, *args):
        self.parallel.require_backward_grad_sync = self.before


class DistributedDataParallel(nn.Module):
    """Gradients are averaged over processes: one that did not arrive here may have arrived elsewhere."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, *args, **kwargs):
        super().__init__()
        self.module = module
        self.require_backward_grad_sync = True
        waits = autograd_machine.surely(not find_unused_parameters) and autograd_machine.surely(not static_graph)
        self.reducer = _Reducer(module, waits)
        for p in module.parameters():
            autograd_machine.share_gradient(p)

    def forward(self, *inputs, **kwargs):
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            self.reducer.begin()
        return self.module(*inputs, **kwargs)

    def no_sync(self):
        return _NoSync(self)

    def join(self, *args, **kwargs):
        return contextlib.nullcontext()

    def register_comm_hook(self, state, hook):
        pass

    def _set_static_graph(self):
        self.reducer.waits = False


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))
