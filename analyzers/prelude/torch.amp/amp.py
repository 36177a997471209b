import autograd_machine
import torch


class GradScaler:
    """A scaler for a device that is not there is disabled and does nothing; one for the CPU works."""

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._enabled = enabled and device == "cpu"
        self._unscaled = {}

    def is_enabled(self):
        return self._enabled

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            return outputs * torch.full((), 65536.0)
        return type(outputs)([self.scale(o) for o in outputs])

    def unscale_(self, optimizer):
        if not self._enabled:
            return
        if optimizer in self._unscaled:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        found = False
        with torch.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        autograd_machine.write(p.grad)
                        found = True
        self._unscaled[optimizer] = found

    def step(self, optimizer, *args, **kwargs):
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if optimizer not in self._unscaled:
            self.unscale_(optimizer)
        if not self._unscaled[optimizer]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        self._unscaled = {}

    def get_scale(self):
        return autograd_machine.unknown_float()

    def get_growth_factor(self):
        return autograd_machine.unknown_float()

    def state_dict(self):
        return autograd_machine.unknown()

    def load_state_dict(self, state_dict):
        pass


class autocast:
    """Of no effect here: casts change neither what requires grad nor what is shared."""

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.device = device_type

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None

    def __call__(self, func):
        return func


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    return fwd if fwd is not None else _same


def custom_bwd(bwd=None, *, device_type="cuda"):
    return bwd if bwd is not None else _same


def _same(func):
    return func


def is_autocast_available(device_type):
    return True
