import math

import autograd_machine
import torch
from torch.optim import Optimizer


class LRScheduler:
    """A schedule computes the next rate if its own numbers, named by `_needs`, are known; otherwise it is unknown."""

    _needs = ()

    def __init__(self, optimizer, last_epoch=-1):
        if autograd_machine.surely(not isinstance(optimizer, Optimizer)):
            raise TypeError(type(optimizer).__name__ + " is not an Optimizer")
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            if autograd_machine.surely(last_epoch != -1 and "initial_lr" not in group):
                raise KeyError("param 'initial_lr' is not specified in param_groups")
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = False
        self._get_lr_called_within_step = False
        self._advance(None)

    def _advance(self, epoch):
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._unknown()
        self._set(rates)

    def _set(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates):
            if isinstance(group["lr"], torch.Tensor):
                autograd_machine.write(group["lr"])
            else:
                group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _unknown(self):
        return [autograd_machine.unknown_float() for _ in self.optimizer.param_groups]

    def get_lr(self):
        if not autograd_machine.known(self.last_epoch, *[getattr(self, name) for name in self._needs]):
            return self._unknown()
        groups = zip(self.optimizer.param_groups, self.base_lrs)
        return [self._next(group["lr"], base) for group, base in groups]

    def _next(self, rate, base):
        return autograd_machine.unknown_float()

    def get_last_lr(self):
        return self._last_lr

    def step(self, epoch=None):
        autograd_machine.note_scheduler(self)
        self._advance(epoch)

    def print_lr(self, *args):
        pass

    def state_dict(self):
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict):
        for name, value in state_dict.items():
            setattr(self, name, value)


class LambdaLR(LRScheduler):
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        groups = optimizer.param_groups
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(groups)
        if len(self.lr_lambdas) != len(groups):
            raise ValueError("Expected " + str(len(groups)) + " lr_lambdas, but got " + str(len(self.lr_lambdas)))
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * factor(self.last_epoch) for factor, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    def get_lr(self):
        rates = [group["lr"] for group in self.optimizer.param_groups]
        if self._step_count == 1:
            return rates
        return [rate * factor(self.last_epoch) for factor, rate in zip(self.lr_lambdas, rates)]


class StepLR(LRScheduler):
    _needs = ("step_size",)

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate, base):
        stays = self.last_epoch == 0 or self.last_epoch % self.step_size != 0
        return rate if stays else rate * self.gamma


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = list(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return super().get_lr() if autograd_machine.known(*self.milestones) else self._unknown()

    def _next(self, rate, base):
        times = len([epoch for epoch in self.milestones if epoch == self.last_epoch])
        return rate * self.gamma**times if times > 0 else rate


class ConstantLR(LRScheduler):
    _needs = ("total_iters",)

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self, rate, base):
        if self.last_epoch == 0:
            return rate * self.factor
        return rate if self.last_epoch != self.total_iters else rate * (1.0 / self.factor)


class LinearLR(LRScheduler):
    _needs = ("total_iters",)

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self, rate, base):
        if self.last_epoch == 0:
            return rate * self.start_factor
        if self.last_epoch > self.total_iters:
            return rate
        rise = self.end_factor - self.start_factor
        return rate * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate, base):
        return rate if self.last_epoch == 0 else rate * self.gamma


class PolynomialLR(LRScheduler):
    _needs = ("total_iters",)

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _next(self, rate, base):
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return rate
        left = (1.0 - self.last_epoch / self.total_iters) / (1.0 - (self.last_epoch - 1) / self.total_iters)
        return rate * left**self.power


class CosineAnnealingLR(LRScheduler):
    _needs = ("T_max",)

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _next(self, rate, base):
        if self.last_epoch == 0:
            return rate
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return rate + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        now, before = math.cos(math.pi * self.last_epoch / self.T_max), self.last_epoch - 1
        turn = (1 + now) / (1 + math.cos(math.pi * before / self.T_max))
        return turn * (rate - self.eta_min) + self.eta_min


class CosineAnnealingWarmRestarts(LRScheduler):
    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)


def _wants_momentum(optimizer, cycle_momentum):
    missing = "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults
    if cycle_momentum and autograd_machine.surely(missing):
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


class CyclicLR(LRScheduler):
    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9,
                 last_epoch=-1):
        _wants_momentum(optimizer, cycle_momentum)
        super().__init__(optimizer, last_epoch)


class OneCycleLR(LRScheduler):
    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self.total_steps = epochs * steps_per_epoch if total_steps is None else total_steps
        _wants_momentum(optimizer, cycle_momentum)
        for group in optimizer.param_groups:
            for name in ("initial_lr", "max_lr", "min_lr"):
                group[name] = autograd_machine.unknown_float()
            if cycle_momentum:
                group["max_momentum"] = max_momentum
                group["base_momentum"] = base_momentum
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if autograd_machine.surely(self.last_epoch > self.total_steps):
            raise ValueError("Tried to step ")
        return self._unknown()


class SequentialLR(LRScheduler):
    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        self._schedulers = schedulers
        super().__init__(optimizer, last_epoch)


class ChainedScheduler(LRScheduler):
    def __init__(self, schedulers, optimizer=None):
        self._schedulers = list(schedulers)
        self.optimizer = self._schedulers[0].optimizer if optimizer is None else optimizer
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self):
        autograd_machine.note_scheduler(self)
        for scheduler in self._schedulers:
            scheduler._advance(None)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


class ReduceLROnPlateau(LRScheduler):
    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, *args, **kwargs):
        if autograd_machine.surely(factor >= 1.0):
            raise ValueError("Factor should be < 1.0.")
        if autograd_machine.surely(not isinstance(optimizer, Optimizer)):
            raise TypeError(type(optimizer).__name__ + " is not an Optimizer")
        self.optimizer = optimizer
        self.best = autograd_machine.unknown_float()
        self.num_bad_epochs = 0
        self.last_epoch = 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics, epoch=None):
        """The metric is converted to a number: nothing of its graph is kept."""
        autograd_machine.note_scheduler(self)
        self.last_epoch += 1
        self.num_bad_epochs = autograd_machine.unknown_int()
        self._set(self._unknown())
