from accelerate import Accelerator


class Trainer:
    """Iterates over batches: `training_step`, which calls `compute_loss` and backward, then a step."""

    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, *more, **kwargs):
        self.model = model
        self.args = args
        self.accelerator = Accelerator()

    def log(self, logs, *args, **kwargs):
        pass

    def _prepare_inputs(self, inputs):
        return inputs

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        loss = outputs["loss"]
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss = self.compute_loss(model, inputs)
        loss.backward()
        return loss.detach()


def drive(trainer, model, batches):
    """Train a model; the optimizer, whatever it holds, steps out of sight, and gradients are cleared."""
    trainer.model = model
    for inputs in batches:
        trainer.training_step(model, inputs)
        model.zero_grad()
