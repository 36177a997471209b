"""Programs about distributions, data, checkpoints and torch.autograd.functional."""


def leaf(torch, *shape):
    return torch.rand(*shape).mul(0.8).add(0.1).requires_grad_()


def flows(torch, *values):
    """Which of them are connected to a leaf."""
    return [v.requires_grad for v in values]


def sampled(torch, make, *shapes):
    """Graph of the log-probability and entropy, and whether samples are connected."""
    parameters = [leaf(torch, *shape) for shape in shapes]
    d = make(torch.distributions, *parameters)
    value = d.sample()
    found = [tuple(value.shape), value.requires_grad, d.has_rsample, d.log_prob(value), tuple(d.sample((4,)).shape)]
    if d.has_rsample:
        sample = d.rsample()
        found += [tuple(sample.shape), sample.requires_grad]
    return [*found, tuple(d.batch_shape), tuple(d.event_shape)]


def case_normal(torch):
    d = torch.distributions.Normal(leaf(torch, 3), leaf(torch, 3))
    return [
        sampled(torch, lambda ds, a, b: ds.Normal(a, b), (3,), (3,)),
        sampled(torch, lambda ds, a: ds.Normal(a, 1.0), (3,)),
        d.rsample(),
        d.mean,
        d.stddev,
        d.variance,
        d.entropy(),
    ]


def case_laplace(torch):
    return [
        sampled(torch, lambda ds, a, b: ds.Laplace(a, b), (3,), (3,)),
        torch.distributions.Laplace(leaf(torch, 3), 1.0).entropy(),
    ]


def case_uniform(torch):
    d = torch.distributions.Uniform(leaf(torch, 3), leaf(torch, 3) + 2)
    return [sampled(torch, lambda ds, a: ds.Uniform(a, a + 2), (3,)), d.rsample(), d.entropy(), d.mean]


def case_exponential(torch):
    d = torch.distributions.Exponential(leaf(torch, 3))
    return [sampled(torch, lambda ds, a: ds.Exponential(a), (3,)), d.rsample(), d.mean, d.entropy()]


def case_gamma(torch):
    d = torch.distributions.Gamma(leaf(torch, 3), leaf(torch, 3))
    return [sampled(torch, lambda ds, a, b: ds.Gamma(a, b), (3,), (3,)), d.rsample(), d.mean, d.variance]


def case_beta(torch):
    d = torch.distributions.Beta(leaf(torch, 3), leaf(torch, 3))
    return [sampled(torch, lambda ds, a, b: ds.Beta(a, b), (3,), (3,)), flows(torch, d.rsample(), d.mean, d.entropy())]


def case_dirichlet(torch):
    d = torch.distributions.Dirichlet(leaf(torch, 3))
    return [sampled(torch, lambda ds, a: ds.Dirichlet(a), (2, 3)), flows(torch, d.rsample(), d.mean, d.entropy())]


def case_poisson(torch):
    return sampled(torch, lambda ds, a: ds.Poisson(a), (3,))


def case_poisson_rsample(torch):
    try:
        torch.distributions.Poisson(leaf(torch, 3)).rsample()
    except NotImplementedError:
        return "not implemented"


def case_gumbel(torch):
    parts = sampled(torch, lambda ds, a, b: ds.Gumbel(a, b), (3,), (3,))
    return [parts[0], parts[1], parts[2], parts[3].requires_grad, parts[5:]]


def case_student(torch):
    d = torch.distributions.StudentT(leaf(torch, 3) + 3, leaf(torch, 3), leaf(torch, 3))
    return [
        sampled(torch, lambda ds, a, b: ds.StudentT(a, b), (3,), (3,)),
        flows(torch, d.rsample(), d.mean, d.variance, d.entropy()),
    ]


def case_bernoulli(torch):
    d = torch.distributions.Bernoulli(logits=leaf(torch, 3))
    return [
        sampled(torch, lambda ds, a: ds.Bernoulli(logits=a), (3,)),
        sampled(torch, lambda ds, a: ds.Bernoulli(a), (3,)),
        d.entropy(),
        d.probs,
        d.mean,
    ]


def case_categorical(torch):
    d = torch.distributions.Categorical(logits=leaf(torch, 2, 3))
    return [
        sampled(torch, lambda ds, a: ds.Categorical(logits=a), (2, 3)),
        sampled(torch, lambda ds, a: ds.Categorical(a), (2, 3)),
        d.entropy(),
        d.probs,
    ]


def case_categorical_keeps_its_logits(torch):
    d = torch.distributions.Categorical(leaf(torch, 3))
    a = torch.tensor(1)
    d.log_prob(a).backward()
    try:
        d.log_prob(a).backward()
    except RuntimeError as error:
        return str(error)[:45]


def case_one_hot(torch):
    return [
        sampled(torch, lambda ds, a: ds.OneHotCategorical(logits=a), (2, 3)),
        torch.distributions.OneHotCategoricalStraightThrough(logits=leaf(torch, 3)).rsample(),
    ]


def case_multinomial(torch):
    return sampled(torch, lambda ds, a: ds.Multinomial(4, a), (2, 3))


def case_multivariate(torch):
    eye = torch.eye(3)
    d = torch.distributions.MultivariateNormal(leaf(torch, 3), scale_tril=eye * leaf(torch, 1))
    return [
        flows(torch, d.rsample(), d.sample(), d.log_prob(torch.ones(3)), d.entropy(), d.mean, d.variance),
        tuple(d.batch_shape),
        tuple(d.event_shape),
    ]


def case_relaxed(torch):
    ds = torch.distributions
    soft = ds.RelaxedOneHotCategorical(torch.tensor(0.5), logits=leaf(torch, 3))
    bits = ds.RelaxedBernoulli(torch.tensor(0.5), logits=leaf(torch, 3))
    return flows(torch, soft.rsample(), soft.sample(), soft.log_prob(soft.sample()), bits.rsample(), bits.sample())


def case_independent(torch):
    make = lambda ds, a, b: ds.Independent(ds.Normal(a, b), 1)  # noqa: E731
    d = make(torch.distributions, leaf(torch, 2, 3), leaf(torch, 2, 3))
    return [sampled(torch, make, (2, 3), (2, 3)), d.rsample(), d.entropy()]


def case_transformed(torch):
    ds = torch.distributions
    squashed = ds.TransformedDistribution(
        ds.Normal(leaf(torch, 3), 1.0), [ds.transforms.TanhTransform(), ds.AffineTransform(0, 2.0)]
    )
    sample = squashed.rsample()
    log = ds.LogNormal(leaf(torch, 3), leaf(torch, 3))
    return flows(
        torch,
        sample,
        squashed.sample(),
        squashed.log_prob(squashed.sample() * 0.5),
        log.rsample(),
        log.sample(),
        log.mean,
        log.log_prob(torch.ones(3)),
        log.entropy(),
    )


def case_mixture(torch):
    ds = torch.distributions
    d = ds.MixtureSameFamily(ds.Categorical(logits=leaf(torch, 3)), ds.Normal(leaf(torch, 3), leaf(torch, 3)))
    return [flows(torch, d.sample(), d.mean, d.log_prob(torch.ones(2))), tuple(d.log_prob(torch.ones(2)).shape)]


def case_kl(torch):
    ds = torch.distributions
    normal = lambda: ds.Normal(leaf(torch, 2, 3), leaf(torch, 2, 3))  # noqa: E731
    logits = lambda: ds.Categorical(logits=leaf(torch, 2, 3))  # noqa: E731
    bits = lambda: ds.Bernoulli(logits=leaf(torch, 3))  # noqa: E731
    return [
        ds.kl_divergence(normal(), normal()),
        ds.kl_divergence(normal(), ds.Normal(0.0, 1.0)),
        ds.kl_divergence(logits(), logits()),
        ds.kl_divergence(bits(), bits()),
        ds.kl_divergence(ds.Independent(normal(), 1), ds.Independent(normal(), 1)),
        flows(
            torch, ds.kl_divergence(ds.Beta(leaf(torch, 2), leaf(torch, 2)), ds.Beta(leaf(torch, 2), leaf(torch, 2)))
        ),
    ]


def case_loader(torch):
    data = torch.utils.data
    x = torch.ones(4, 3, requires_grad=True)
    for a, b in data.DataLoader(data.TensorDataset(x.detach(), torch.ones(4)), batch_size=2):
        return [a, b, a._is_view(), isinstance(a, torch.Tensor)]
    return None


def case_loader_of_own_data(torch):
    class Mine(torch.utils.data.Dataset):
        def __getitem__(self, i):
            return torch.ones(3), {"y": i, "z": torch.zeros(2, requires_grad=True)}

        def __len__(self):
            return 1

    for x, more in torch.utils.data.DataLoader(Mine()):
        return [x, more["y"], more["z"]]
    return None


def case_checkpoint(torch):
    checkpoint = torch.utils.checkpoint.checkpoint
    layer = torch.nn.Linear(2, 2)
    plain, wanted = torch.ones(1, 2), torch.ones(1, 2, requires_grad=True)
    return [
        flows(
            torch,
            checkpoint(layer, plain),
            checkpoint(layer, wanted),
            checkpoint(layer, plain, use_reentrant=True),
            checkpoint(layer, plain, use_reentrant=False),
            checkpoint(layer, wanted, use_reentrant=False),
        ),
        checkpoint(layer, wanted),
        checkpoint(layer, wanted, use_reentrant=False),
    ]


def case_checkpoint_backward(torch):
    layer = torch.nn.Linear(2, 2)
    x = torch.ones(1, 2, requires_grad=True)
    torch.utils.checkpoint.checkpoint(layer, x).sum().backward()
    sequential = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2))
    out = torch.utils.checkpoint.checkpoint_sequential(sequential, 2, x)
    return [x.grad is not None, layer.weight.grad is not None, out.requires_grad]


def functional(torch, name, *args):
    x, w = leaf(torch, 3), leaf(torch, 3)
    found = []
    for create_graph in (False, True):
        result = getattr(torch.autograd.functional, name)(
            lambda t: (t * w).exp().sum(), x, *args, create_graph=create_graph
        )
        result = result if isinstance(result, tuple) else (result,)
        found.append([(tuple(r.shape), r.requires_grad) for r in result])
    return found


def case_jacobian(torch):
    x = leaf(torch, 3)
    many = torch.autograd.functional.jacobian(lambda a, b: (a * b, a.sum()), (x, leaf(torch, 3)))
    return [functional(torch, "jacobian"), [[tuple(t.shape) for t in row] for row in many], x.grad is None]


def case_hessian(torch):
    return functional(torch, "hessian")


def case_products(torch):
    v = torch.ones(3)
    return [
        functional(torch, "vjp"),
        functional(torch, "jvp", v),
        functional(torch, "hvp", v),
        functional(torch, "vhp", v),
    ]


def case_func(torch):
    w = leaf(torch, 3)
    f = lambda t: (t * w).exp().sum()  # noqa: E731
    x = torch.ones(3)
    g, value = torch.func.grad_and_value(f)(x)
    return [flows(torch, torch.func.grad(f)(x), g, value, torch.func.jacrev(f)(x)), tuple(torch.func.grad(f)(x).shape)]


def case_python_operators(torch):
    x = leaf(torch, 2, 2)
    return [
        torch.einsum("ij,jk->ik", x, x),
        torch.norm(x),
        torch.norm(x, dim=1),
        torch.cdist(x, x + 1),
        torch.meshgrid(x[0], x[1], indexing="ij"),
        torch.tensordot(x, x),
        torch.broadcast_tensors(x, x[0]),
        torch.atleast_2d(x[0]),
        torch.unique(torch.tensor([1, 1]), return_counts=True),
    ]
