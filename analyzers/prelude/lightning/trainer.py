import autograd_machine
import torch


class Trainer:
    """Iterates over batches and steps after each; much of this can be configured differently."""

    def __init__(self, *args, num_sanity_val_steps=2, **kwargs):
        self._looks_first = num_sanity_val_steps != 0

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None):
        if autograd_machine.unknown():
            return
        if autograd_machine.surely(train_dataloaders is None):
            train_dataloaders = (model if datamodule is None else datamodule).train_dataloader()
        model.setup("fit")
        if autograd_machine.surely(val_dataloaders is None):
            val_dataloaders = autograd_machine.unknown()
        elif self._looks_first:
            model.eval()
            with torch.no_grad():
                autograd_machine.call_fitting(model.validation_step, next(iter(val_dataloaders)), 0)
            model.train()
        drive(model, train_dataloaders, val_dataloaders)


def drive(model, batches, others):
    """Train a module: forward, `zero_grad`, backward and step, in the order of an optimizer's closure."""
    optimizers = model.optimizers()
    model.train()
    model.on_train_start()
    for epoch in autograd_machine.unknown():
        model.on_train_epoch_start()
        batch_idx = 0
        for batch in batches:
            outputs = autograd_machine.call_fitting(model.training_step, batch, batch_idx)
            if model.automatic_optimization:
                optimize(model, optimizers, outputs, epoch, batch_idx)
            autograd_machine.call_fitting(model.on_train_batch_end, None, batch, batch_idx)
            batch_idx += 1
        model.on_train_epoch_end()
        model.eval()
        with torch.no_grad():
            for batch in others:
                autograd_machine.call_fitting(model.validation_step, batch, autograd_machine.unknown())
        model.train()


def optimize(model, optimizer, outputs, epoch, batch_idx):
    """What follows `training_step` under automatic optimization; a step without a loss is skipped."""
    loss = autograd_machine.loss_of(outputs, model.training_step)
    if loss is not None:
        model.on_before_zero_grad(optimizer)
        model.optimizer_zero_grad(epoch, batch_idx, optimizer)
        model.on_before_backward(loss)
        model.backward(loss)
        model.on_after_backward()
        model.on_before_optimizer_step(optimizer)
        model.configure_gradient_clipping(optimizer)
        model.optimizer_step(epoch, batch_idx, optimizer)


class Fabric:
    """Sets up modules and optimizers, which are returned unchanged, and calls backward."""

    def __init__(self, *args, **kwargs):
        pass

    def setup(self, module, *optimizers, **kwargs):
        return (module, *optimizers) if optimizers else module

    def setup_module(self, module, **kwargs):
        return module

    def setup_optimizers(self, *optimizers):
        return optimizers[0] if len(optimizers) == 1 else optimizers

    def setup_dataloaders(self, *loaders, **kwargs):
        return loaders[0] if len(loaders) == 1 else list(loaders)

    def launch(self, *args, **kwargs):
        pass

    def backward(self, tensor, *args, **kwargs):
        tensor.backward(*args, **kwargs)

    def clip_gradients(self, module, optimizer, clip_val=None, max_norm=None, norm_type=2.0, error_if_nonfinite=True):
        if max_norm is None:
            return torch.nn.utils.clip_grad_value_(module.parameters(), clip_val)
        return torch.nn.utils.clip_grad_norm_(module.parameters(), max_norm)

    def print(self, *args, **kwargs):
        pass

    def log(self, name, value, step=None):
        pass

    def log_dict(self, metrics, step=None):
        pass
