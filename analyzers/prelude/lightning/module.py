import torch


class LightningModule(torch.nn.Module):
    """A module driven by a trainer, which calls its hooks around `training_step`."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self.automatic_optimization = True
        self._made = None

    def optimizers(self, use_pl_optimizer=True):
        if self._made is None:
            self._made = optimizers_in(self.configure_optimizers())
        return self._made[0] if len(self._made) == 1 else self._made

    def log(self, name, value, *args, **kwargs):
        pass

    def log_dict(self, dictionary, *args, **kwargs):
        pass

    def print(self, *args, **kwargs):
        pass

    def save_hyperparameters(self, *args, **kwargs):
        pass

    def backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)

    def manual_backward(self, loss, *args, **kwargs):
        self.backward(loss, *args, **kwargs)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        if gradient_clip_val is not None:
            params = [p for group in optimizer.param_groups for p in group["params"]]
            torch.nn.utils.clip_grad_norm_(params, gradient_clip_val)

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        optimizer.zero_grad()

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        optimizer.step(closure=optimizer_closure)

    def lr_scheduler_step(self, scheduler, metric):
        scheduler.step()

    def toggle_optimizer(self, optimizer):
        pass

    def untoggle_optimizer(self, optimizer):
        pass

    def freeze(self):
        for p in self.parameters():
            p.requires_grad = False
        self.eval()

    def unfreeze(self):
        for p in self.parameters():
            p.requires_grad = True
        self.train()

    def on_before_zero_grad(self, optimizer):
        pass

    def on_before_backward(self, loss):
        pass

    def on_after_backward(self):
        pass

    def on_before_optimizer_step(self, optimizer):
        pass

    def on_train_start(self):
        pass

    def on_train_epoch_start(self):
        pass

    def on_train_batch_end(self, outputs, batch, batch_idx):
        pass

    def on_train_epoch_end(self):
        pass

    def setup(self, stage):
        pass

    def validation_step(self, *args, **kwargs):
        pass


def optimizers_in(configured):
    """The optimizers in the result of `configure_optimizers`, in any of its forms."""
    if isinstance(configured, torch.optim.Optimizer):
        return [configured]
    if isinstance(configured, dict):
        return [configured["optimizer"]]
    if isinstance(configured, (list, tuple)):
        if len(configured) == 2 and isinstance(configured[0], (list, tuple)):
            return list(configured[0])
        return [made["optimizer"] if isinstance(made, dict) else made for made in configured]
    return []
