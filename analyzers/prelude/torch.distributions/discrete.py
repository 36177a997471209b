import torch


class _ProbsLogits(Distribution):
    """Either `probs` or `logits` is given; the other is computed on first use, and cached with its graph."""

    def __init__(self, probs, logits, event):
        given = logits if probs is None else probs
        if not event:
            (given,) = _tensors(given)
        self._probs = self._normal_probs(given) if probs is not None else None
        self._logits = self._normal_logits(given) if probs is None else None
        self._param = self._logits if probs is None else self._probs
        if event:
            super().__init__(given.shape[:-1])
        else:
            super().__init__(given.size())

    def _normal_probs(self, probs):
        return probs

    def _normal_logits(self, logits):
        return logits

    @property
    def probs(self):
        if self._probs is None:
            with torch.enable_grad():
                self._probs = self._to_probs(self._logits)
        return self._probs

    @property
    def logits(self):
        if self._logits is None:
            with torch.enable_grad():
                self._logits = self._to_logits(self._probs)
        return self._logits

    def _to_probs(self, logits):
        return torch.sigmoid(logits)

    def _to_logits(self, probs):
        clamped = _clamped(probs)
        return torch.log(clamped) - torch.log1p(-clamped)

    @property
    def param_shape(self):
        return self._param.size()


class Bernoulli(_ProbsLogits):
    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(probs, logits, False)

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._shape(sample_shape)))

    def log_prob(self, value):
        logits, value = _tensors(self.logits, value)
        return -torch.ops.aten.binary_cross_entropy_with_logits(logits, value, None, None, 0)

    def entropy(self):
        return torch.ops.aten.binary_cross_entropy_with_logits(self.logits, self.probs, None, None, 0)


class ContinuousBernoulli(Bernoulli):
    has_rsample = True

    def rsample(self, sample_shape=()):
        u = torch.rand(self._shape(sample_shape))
        return (torch.log1p(-self.probs) + u * self.probs).exp()

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)


class Geometric(_ProbsLogits):
    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(probs, logits, False)

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        with torch.no_grad():
            u = torch.rand(self._shape(sample_shape))
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        value, probs = _tensors(value, self.probs)
        probs = probs.clone()
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return torch.ops.aten.binary_cross_entropy_with_logits(self.logits, self.probs, None, None, 0) / self.probs


class _Counted(_ProbsLogits):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self.total_count = total_count
        super().__init__(probs, logits, False)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._shape(sample_shape)))

    def log_prob(self, value):
        return value * self.logits - self.total_count * torch.log1p(torch.exp(-torch.abs(self.logits)))


class Binomial(_Counted):
    pass


class NegativeBinomial(_Counted):
    pass


class Categorical(_ProbsLogits):
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(probs, logits, True)
        self._num_events = self._param.size(-1)

    def _normal_probs(self, probs):
        return probs / probs.sum(-1, keepdim=True)

    def _normal_logits(self, logits):
        return logits - logits.logsumexp(dim=-1, keepdim=True)

    def _to_probs(self, logits):
        return logits.softmax(-1)

    def _to_logits(self, probs):
        return torch.log(_clamped(probs))

    @property
    def mean(self):
        return torch.full(self._batch_shape, float("nan"))

    @property
    def mode(self):
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            count = torch.Size(sample_shape).numel()
            return torch.multinomial(rows, count, True).T.reshape(self._shape(sample_shape))

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        value, logits = torch.ops.aten.broadcast_tensors([value, self.logits])
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=-3e38)
        return -(logits * self.probs).sum(-1)


class OneHotCategorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical._batch_shape, self._categorical._param.shape[-1:])

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def mean(self):
        return self._categorical.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        return torch.ops.aten.one_hot(self.probs.argmax(dim=-1), self._categorical._num_events).to(self.probs)

    def sample(self, sample_shape=()):
        indices = self._categorical.sample(sample_shape)
        return torch.ops.aten.one_hot(indices, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=()):
        samples = self.sample(sample_shape)
        return samples + (self._categorical.probs - self._categorical.probs.detach())


class Multinomial(Distribution):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical._batch_shape, self._categorical._param.shape[-1:])

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            samples = self._categorical.sample((self.total_count, *sample_shape))
            counts = torch.zeros(self._shape(sample_shape))
            shifted = samples.permute(*range(1, samples.dim()), 0)
            return counts.scatter_add_(-1, shifted, torch.ones(shifted.shape))

    def log_prob(self, value):
        logits, value = _tensors(self.logits, value)
        logits = logits.clone()
        factor = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -float("inf"))] = 0
        return factor + (logits * value).sum(-1)


class RelaxedBernoulli(_ProbsLogits):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(probs, logits, False)

    def rsample(self, sample_shape=()):
        u = torch.rand(self._shape(sample_shape)).clamp(min=1e-6)
        noise = torch.log(u) - torch.log1p(-u)
        return torch.sigmoid((noise + self.logits) / self.temperature)

    def log_prob(self, value):
        diff = self.logits - torch.logit(value) * self.temperature
        return diff - 2 * diff.exp().log1p() - torch.log(value)


class RelaxedOneHotCategorical(Distribution):
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical._batch_shape, self._categorical._param.shape[-1:])

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    def rsample(self, sample_shape=()):
        noise = -torch.empty(self._shape(sample_shape)).exponential_().log()
        scores = (self.logits + noise) / self.temperature
        return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()

    def log_prob(self, value):
        score = self.logits - value.log() * self.temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) - value.log().sum(-1)
