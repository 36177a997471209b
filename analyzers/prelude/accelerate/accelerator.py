import autograd_machine
import torch


class Plain:
    """A context that has no effect on autograd."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None


class Accelerator:
    """Prepares modules, optimizers and loaders, which are returned unchanged, and calls backward."""

    def __init__(self, *args, **kwargs):
        self.gradient_accumulation_steps = kwargs.get("gradient_accumulation_steps", 1)
        self.sync_gradients = autograd_machine.unknown()

    def prepare(self, *args, device_placement=None):
        return args[0] if len(args) == 1 else tuple(args)

    def prepare_model(self, model, device_placement=None, evaluation_mode=False):
        return model

    def prepare_optimizer(self, optimizer, device_placement=None):
        return optimizer

    def prepare_scheduler(self, scheduler):
        return scheduler

    def prepare_data_loader(self, data_loader, device_placement=None, slice_fn_for_dispatch=None):
        return data_loader

    def unwrap_model(self, model, keep_fp32_wrapper=True, keep_torch_compile=False):
        return model

    def backward(self, loss, **kwargs):
        (loss / self.gradient_accumulation_steps).backward(**kwargs)

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type=norm_type)

    def clip_grad_value_(self, parameters, clip_value):
        torch.nn.utils.clip_grad_value_(parameters, clip_value)

    def unscale_gradients(self, optimizer=None):
        pass

    def accumulate(self, *models):
        return Plain()

    def no_sync(self, model):
        return Plain()

    def autocast(self, autocast_handler=None):
        return Plain()

    def join_uneven_inputs(self, joinables, even_batches=None):
        return Plain()

    def gather(self, tensor):
        return tensor

    def gather_for_metrics(self, input_data, use_gather_object=False):
        return input_data

    def pad_across_processes(self, tensor, dim=0, pad_index=0, pad_first=False):
        return tensor

    def print(self, *args, **kwargs):
        pass

    def log(self, values, step=None, log_kwargs=None):
        pass

    def init_trackers(self, project_name, config=None, init_kwargs=None):
        pass

    def wait_for_everyone(self):
        pass

    def save_state(self, output_dir=None, **kwargs):
        pass

    def save(self, obj, f, safe_serialization=False):
        pass

    def save_model(self, model, save_directory, **kwargs):
        pass

    def register_for_checkpointing(self, *objects):
        pass

    def end_training(self):
        pass
