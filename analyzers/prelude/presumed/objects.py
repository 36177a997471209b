import autograd_machine
import torch
from lightning import drive
from transformers import drive as drive_trainer


class Model(torch.nn.Module):
    """A module of which no more is known than that it is one, and learns."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(0))

    def forward(self, *args, **kwargs):
        return autograd_machine.presumed_output(self.weight, *args, *kwargs.values())


def make_optimizer(models):
    """An optimizer over the parameters of some models."""
    return torch.optim.SGD([p for model in models for p in model.parameters()], lr=0.1)


def make_optimizer_over(parameters):
    """An optimizer of which no more is known than what it trains."""
    return torch.optim.SGD(parameters, lr=0.1)


def train_lightning(model):
    """A `LightningModule` in a trainer that nobody shows, on batches of which nothing is known."""
    drive(model, autograd_machine.unknown(), autograd_machine.unknown())


def train_transformers(trainer):
    """A subclass of `Trainer`, likewise, with a model of which no more is known than that it is one."""
    drive_trainer(trainer, Model(), autograd_machine.unknown())
