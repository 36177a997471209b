import autograd_machine
import torch
from lightning import drive
from torch.utils.hooks import RemovableHandle
from transformers import drive as drive_trainer


class Model(torch.nn.Module):
    """An otherwise unknown module that learns. Its one parameter stands for many, of names that nobody knows."""

    def __init__(self):
        super().__init__()
        self.register_parameter("<any>", torch.nn.Parameter(torch.empty(0)))
        self._part_hooks = {}

    def __getitem__(self, index):
        return self._modules[str(index)] if str(index) in self._modules else autograd_machine.unknown(self)

    def __setitem__(self, index, module):
        setattr(self, str(index), module)

    def __iter__(self):
        return iter(autograd_machine.unknown(self))

    def add_adapter(self, *args, **kwargs):
        autograd_machine.add_adapters(self)

    def get_submodule(self, target):
        return autograd_machine.unknown(self)

    def children(self):
        return iter(autograd_machine.unknown(self))

    def modules(self):
        return iter(autograd_machine.unknown(self))

    def named_children(self):
        return zip(autograd_machine.unknown(), self.children())

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        return zip(autograd_machine.unknown(), self.modules())

    def register_part_hook(self, hook, *, with_kwargs=False, **kwargs):
        """A hook of a part, about which no more is known than that the output is computed with what it is passed."""
        return self._add_part_hook(hook, with_kwargs, True)

    def register_part_pre_hook(self, hook, *, with_kwargs=False, **kwargs):
        return self._add_part_hook(hook, with_kwargs, False)

    def _add_part_hook(self, hook, with_kwargs, is_after):
        handle = RemovableHandle(self._part_hooks)
        handle.id = handle  # a loop over parts adds hooks of which nobody knows how many there are
        self._part_hooks[handle] = hook, with_kwargs, is_after
        return handle

    def forward(self, *args, **kwargs):
        given = (*autograd_machine.parameters(self), *args, *kwargs.values())
        # A part need not come after those that the program has put into the model.
        within = (*self._parameters.values(), *args, *kwargs.values())
        parts = []
        for hook, with_kwargs, is_after in list(self._part_hooks.values()):
            inner = autograd_machine.presumed_output(self, *within, parts)
            outer = autograd_machine.presumed_output(self, *within, parts, inner)
            passed = (autograd_machine.unknown(self), (inner,), *(({},) if with_kwargs else ()), *((outer,) if is_after else ()))
            replaced = hook(*passed)
            parts.append(outer if replaced is None else replaced)
        return autograd_machine.presumed_output(self, *given, *([parts] if parts else []))


class Generator(Model):
    """A model of a library whose `generate` picks one token after the other, without gradients."""

    def generate(self, *args, **kwargs):
        return autograd_machine.presumed_data(*autograd_machine.parameters(self))


class Embedder(Model):
    """A model whose methods for users run without gradients; it learns through `forward`."""

    @torch.no_grad()
    def encode(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def predict(self, *args, **kwargs):
        return self.encode(*args, **kwargs)


class Pipeline(Model):
    """Several models that are run without gradients when the pipeline is called."""

    @torch.no_grad()
    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs)


class Metric(torch.nn.Module):
    """A module without parameters that computes a number from predictions, and keeps what it needs for a mean."""

    def forward(self, *args, **kwargs):
        return autograd_machine.presumed_output(self, *args, *kwargs.values())

    def update(self, *args, **kwargs):
        return None

    def compute(self):
        return autograd_machine.unknown()

    def reset(self):
        return None


def make_optimizer(models):
    """An optimizer over the parameters of some models."""
    return torch.optim.SGD([p for model in models for p in model.parameters()], lr=0.1)


def make_optimizer_over(parameters):
    """An optimizer about which nothing is known except what it trains."""
    return torch.optim.SGD(parameters, lr=0.1)


def train_lightning(model):
    """A `LightningModule` in an unseen trainer, on unknown batches."""
    drive(model, autograd_machine.unknown(), autograd_machine.unknown())


def train_transformers(trainer):
    """A subclass of `Trainer`, likewise, with an otherwise unknown model."""
    drive_trainer(trainer, Model(), autograd_machine.unknown())


def go_backward(made):
    """A loss of all that a module returned goes backward."""
    losses = [tensor.sum() for tensor in autograd_machine.tensors_in(made) if tensor.requires_grad]
    if losses:
        torch.autograd.backward(losses)
