import autograd_machine
import torch


class GradScaler:
    """A scaler for an unavailable device is disabled and does nothing; the one for the CPU works."""

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._enabled = enabled and (device == "cpu" or autograd_machine.presumes("there is a GPU"))
        self._scale = None
        self._stages = {}
        self._checked = {}

    def is_enabled(self):
        return self._enabled

    def scale(self, outputs):
        autograd_machine.note_scale(outputs)
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = torch.full((), 65536.0)
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale
        return type(outputs)([self.scale(o) for o in outputs])

    def _check_scaled(self, name):
        if self._scale is None:
            raise AssertionError(
                "Attempted " + name + " but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    def unscale_(self, optimizer):
        autograd_machine.note_unscale(optimizer)
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        stage = self._stages.get(optimizer)
        if autograd_machine.surely(stage == "unscaled"):
            autograd_machine.refuse("unscale_() has already been called on this optimizer since the last update().")
        if autograd_machine.surely(stage == "stepped"):
            autograd_machine.refuse("unscale_() is being called after step().")
        found = [autograd_machine.have_gradients(group["params"]) for group in optimizer.param_groups]
        with torch.no_grad():
            for group in optimizer.param_groups:
                for p in autograd_machine.write_gradients(group["params"]):
                    if p.grad is not None:
                        autograd_machine.write(p.grad)
        self._checked[optimizer] = any(found)
        self._stages[optimizer] = "unscaled"

    def step(self, optimizer, *args, **kwargs):
        autograd_machine.note_scaled_step(optimizer)
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        stage = self._stages.get(optimizer)
        if autograd_machine.surely(stage == "stepped"):
            autograd_machine.refuse("step() has already been called since the last update().")
        if stage is None:
            self.unscale_(optimizer)
        if not self._checked[optimizer]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = optimizer.step(*args, **kwargs)
        self._stages[optimizer] = "stepped"
        return result

    def update(self, new_scale=None):
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is None and not any(self._checked.values()):
            raise AssertionError("No inf checks were recorded prior to update.")
        self._stages = {}
        self._checked = {}

    def get_scale(self):
        return autograd_machine.unknown_float()

    def get_growth_factor(self):
        return autograd_machine.unknown_float()

    def state_dict(self):
        return autograd_machine.unknown()

    def load_state_dict(self, state_dict):
        pass


class autocast:
    """No effect here: casts change neither what requires grad nor what is shared."""

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
