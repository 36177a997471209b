import torch


class Distribution:
    """Subclasses store tensors broadcast to a common shape; `_shape(n)` is the shape of a sample of that size."""

    has_rsample = False
    arg_constraints = {}

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @staticmethod
    def set_default_validate_args(value):
        pass

    def _shape(self, sample_shape):
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _extended_shape(self, sample_shape=()):
        return self._shape(sample_shape)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        raise NotImplementedError

    def sample_n(self, n):
        return self.sample((n,))

    def log_prob(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def perplexity(self):
        return torch.exp(self.entropy())

    def expand(self, batch_shape, _instance=None):
        return self


class ExponentialFamily(Distribution):
    pass


def _tensors(*values):
    """Numbers and tensors, converted to tensors of a common shape."""
    made = [torch.tensor(float(v)) if isinstance(v, (int, float)) else v for v in values]
    return torch.ops.aten.broadcast_tensors(made)


def _clamped(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)
