import autograd_machine
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


class Trainer:
    """Iterates over batches: `training_step`, which calls `compute_loss` and backward, then a step."""

    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None,
                 processing_class=None, model_init=None, compute_loss_func=None, compute_metrics=None, callbacks=None,
                 optimizers=(None, None), *more, **kwargs):
        self.model = model_init() if autograd_machine.surely(model is None) and model_init is not None else model
        self.args = args
        self.data_collator = data_collator
        self.train_dataset = train_dataset
        self.eval_dataset = eval_dataset
        self.compute_loss_func = compute_loss_func
        self.optimizer, self.lr_scheduler = optimizers
        self.accelerator = Accelerator()

    def log(self, logs, *args, **kwargs):
        pass

    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, batch_size=2, collate_fn=self.data_collator)

    def create_optimizer(self):
        if autograd_machine.surely(self.optimizer is None):
            self.optimizer = torch.optim.AdamW([p for p in self.model.parameters() if p.requires_grad])
        return self.optimizer

    def _prepare_inputs(self, inputs):
        return inputs

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        if self.compute_loss_func is not None:
            labels = inputs.pop("labels", None)
            outputs = model(**inputs)
            loss = self.compute_loss_func(outputs, labels, num_items_in_batch=num_items_in_batch)
        else:
            outputs = model(**inputs)
            loss = outputs[0] if isinstance(outputs, (tuple, list)) else outputs["loss"]
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss = self.compute_loss(model, inputs)
        loss.backward()
        return loss.detach()

    def train(self, *args, **kwargs):
        autograd_machine.note_training()
        # A model of which nothing is known is presumed where the methods of a subclass are run by themselves.
        if autograd_machine.says_nothing(self.model) or autograd_machine.unknown():
            return
        optimizer = self.create_optimizer()
        for inputs in self.get_train_dataloader():
            self.training_step(self.model, inputs)
            optimizer.step()
            self.model.zero_grad()


def drive(trainer, model, batches):
    """Train a model; the optimizer, whatever it holds, steps out of sight, and gradients are cleared."""
    trainer.model = model
    for inputs in batches:
        trainer.training_step(model, inputs)
        model.zero_grad()
