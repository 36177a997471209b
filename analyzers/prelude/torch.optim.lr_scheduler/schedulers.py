import autograd_machine


class LRScheduler:
    """Of a schedule only its steps matter: what it computes is an unknown number."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = optimizer
        self.last_epoch = last_epoch + 1
        self.base_lrs = [g.setdefault("initial_lr", g["lr"]) for g in optimizer.param_groups]
        self._set()

    def _set(self):
        self._last_lr = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self._last_lr):
            group["lr"] = lr

    def get_lr(self):
        return [autograd_machine.unknown_float() for _ in self.optimizer.param_groups]

    def get_last_lr(self):
        return self._last_lr

    def step(self, epoch=None):
        autograd_machine.note_scheduler(self)
        self.last_epoch = autograd_machine.unknown_int()
        self._set()

    def print_lr(self, *args):
        pass

    def state_dict(self):
        return {"last_epoch": self.last_epoch, "base_lrs": self.base_lrs}

    def load_state_dict(self, state_dict):
        self.last_epoch = autograd_machine.unknown_int()


class LambdaLR(LRScheduler):
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]
        super().__init__(optimizer, last_epoch)


class MultiplicativeLR(LambdaLR):
    pass


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class ConstantLR(LRScheduler):
    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class LinearLR(LRScheduler):
    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class PolynomialLR(LRScheduler):
    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class CosineAnnealingLR(LRScheduler):
    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class CosineAnnealingWarmRestarts(LRScheduler):
    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        super().__init__(optimizer, last_epoch)


class CyclicLR(LRScheduler):
    def __init__(self, optimizer, base_lr, max_lr, *args, last_epoch=-1, **kwargs):
        super().__init__(optimizer, last_epoch)


class OneCycleLR(LRScheduler):
    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, *args, last_epoch=-1,
                 **kwargs):
        super().__init__(optimizer, last_epoch)


class SequentialLR(LRScheduler):
    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        self._schedulers = schedulers
        super().__init__(optimizer, last_epoch)


class ChainedScheduler(LRScheduler):
    def __init__(self, schedulers, optimizer=None):
        self._schedulers = list(schedulers)
        super().__init__(self._schedulers[0].optimizer if optimizer is None else optimizer)


class ReduceLROnPlateau(LRScheduler):
    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, *args, **kwargs):
        self.best = autograd_machine.unknown_float()
        self.num_bad_epochs = 0
        super().__init__(optimizer)

    def step(self, metrics, epoch=None):
        """The metric is turned into a number: nothing of its graph is kept."""
        super().step()
