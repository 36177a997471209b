import contextlib

import torch


class _Kept:
    """A tensor written inside the block is copied first, if backward still needs it."""

    def __init__(self):
        self.active = True

    def pack(self, tensor):
        return tensor

    def unpack(self, tensor):
        if not self.active:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' context")
        return tensor

    def clear(self):
        pass


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    kept = _Kept()
    with torch.autograd.graph.saved_tensors_hooks(kept.pack, kept.unpack):
        try:
            yield kept
        finally:
            kept.active = False


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    yield
