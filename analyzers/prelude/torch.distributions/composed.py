import torch


def _sum_rightmost(value, n):
    if n == 0:
        return value
    return value.reshape(*value.shape[:-n], -1).sum(-1)


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = len(base_distribution._batch_shape) - reinterpreted_batch_ndims
        shape = base_distribution._batch_shape
        super().__init__(shape[:cut], (*shape[cut:], *base_distribution._event_shape))

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


class TransformedDistribution(Distribution):
    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = transforms if isinstance(transforms, list) else [transforms]
        super().__init__(base_distribution._batch_shape, base_distribution._event_shape)

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def sample(self, sample_shape=()):
        with torch.no_grad():
            x = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                x = transform(x)
            return x

    def rsample(self, sample_shape=()):
        x = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        n = len(self._event_shape)
        total = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(x, y), n)
            y = x
        return total + self.base_dist.log_prob(y)

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self.base_dist.cdf(value)


class LogNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale), ExpTransform())

    @property
    def loc(self):
        return self.base_dist.loc

    @property
    def scale(self):
        return self.base_dist.scale

    @property
    def mean(self):
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def variance(self):
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class LogisticNormal(LogNormal):
    pass


class MixtureSameFamily(Distribution):
    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        super().__init__(component_distribution._batch_shape[:-1], component_distribution._event_shape)

    def _weights(self):
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + torch.Size([1] * len(self._event_shape)))

    @property
    def mean(self):
        return torch.sum(self._weights() * self.component_distribution.mean, dim=-1 - len(self._event_shape))

    @property
    def variance(self):
        return torch.sum(self._weights() * self.component_distribution.variance, dim=-1 - len(self._event_shape))

    def log_prob(self, value):
        value = value.unsqueeze(-1 - len(self._event_shape))
        log_prob = self.component_distribution.log_prob(value)
        return torch.logsumexp(log_prob + torch.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            dim = len(sample_shape) + len(self._batch_shape)
            return self.component_distribution.sample(sample_shape).select(dim, 0)


class Transform:
    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return self._call(x)

    @property
    def inv(self):
        return _Inverse(self)

    def log_abs_det_jacobian(self, x, y):
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        return self


class _Inverse(Transform):
    def __init__(self, transform):
        self._transform = transform

    def _call(self, y):
        return self._transform._inverse(y)

    def _inverse(self, x):
        return self._transform._call(x)

    @property
    def inv(self):
        return self._transform

    def log_abs_det_jacobian(self, x, y):
        return -self._transform.log_abs_det_jacobian(y, x)


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        self.parts = parts

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = torch.zeros_like(x)
        for part in self.parts:
            y = part(x)
            total = total + part.log_abs_det_jacobian(x, y)
            x = y
        return total


class ExpTransform(Transform):
    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class AffineTransform(Transform):
    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc = loc
        self.scale = scale

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, (int, float)):
            return torch.full_like(x, 0.5)
        return torch.abs(self.scale).log().expand(x.shape)


class SigmoidTransform(Transform):
    def _call(self, x):
        return torch.clamp(torch.sigmoid(x), min=1e-30, max=1.0)

    def _inverse(self, y):
        y = y.clamp(min=1e-30, max=1.0)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -torch.ops.aten.softplus(-x) - torch.ops.aten.softplus(x)


class TanhTransform(Transform):
    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (0.69 - x - torch.ops.aten.softplus(-2.0 * x))


class SoftplusTransform(Transform):
    def _call(self, x):
        return torch.ops.aten.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -torch.ops.aten.softplus(-x)


class PowerTransform(Transform):
    def __init__(self, exponent, cache_size=0):
        (self.exponent,) = _tensors(exponent)

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class AbsTransform(Transform):
    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class SoftmaxTransform(Transform):
    def _call(self, x):
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y):
        return y.log()
