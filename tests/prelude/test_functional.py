"""Every modelled function of torch.nn.functional, and every one that `torch` itself has in Python, makes the graph
that the real one makes."""

import itertools

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.prelude.compare import fresh, observe, tensors_in
from tests.prelude.loader import World, public_names, real

WORLD = World()
SAMPLES = 15
LIVED_WITH = {
    "nn.functional.kl_div": "batchmean of a tensor without dimensions divides once more",
}


DTYPES = (torch.float64, torch.complex128, torch.int64)
"""The first of these that an operator takes is what it is run on."""


UNLIKE = {"svd_lowrank", "pca_lowrank"}
"""Modelled by an operator with the same inputs and outputs."""

ARRANGED = {
    "nn.functional.embedding": lambda weight, *rest: (*rest, weight),
    "nn.functional.embedding_bag": lambda weight, input, *rest: (input, weight, *rest),
    "einsum": lambda tensors, equation: (equation, *tensors),
}
"""The order of a function's arguments, where the samples have another."""


def modelled():
    """Operators with samples whose function is in the prelude."""
    functional, plain = public_names("torch.nn.functional"), public_names("torch")
    for info in op_db:
        name = info.name.removeprefix("nn.functional.")
        if (
            name not in UNLIKE
            and info.dtypes.intersection(DTYPES)
            and info.variant_test_name[:7] != "chunked"
            and name in (functional if info.name.startswith("nn.functional.") else plain)
        ):
            yield info


OPERATORS = {(info.name, info.variant_test_name): info for info in modelled()}


def run(name, function, sample):
    args, kwargs = fresh(((sample.input, *sample.args), sample.kwargs))
    args = ARRANGED.get(name, lambda *args: args)(*args)
    inputs = [(f"input {i}", t) for i, t in enumerate(tensors_in((args, kwargs)))]
    torch.manual_seed(0)
    return observe(lambda: function(*args, **kwargs), inputs)


@pytest.mark.parametrize("key", sorted(OPERATORS), ids=".".join)
def test_function(key):
    info = OPERATORS[key]
    dotted = "torch." + info.name
    mine, theirs = WORLD.lookup(dotted), real(dotted)
    agreed = 0
    dtype = next(dtype for dtype in DTYPES if dtype in info.dtypes)
    floating = dtype.is_floating_point or dtype.is_complex
    samples = info.sample_inputs("cpu", dtype, requires_grad=floating and info.supports_autograd)
    for sample in itertools.islice(samples, SAMPLES):
        if tensors_in(sample.input)[0].dim() == 0 and info.name in LIVED_WITH:
            continue
        if info.name.endswith("local_response_norm") and sample.input.numel() == 0:
            continue  # Nothing in, the very same nothing out.
        if sample.kwargs.get("options") is not None:
            continue
        try:
            expected = run(info.name, theirs, sample)
        except (TypeError, ValueError):
            continue  # The samples are for a wrapper around the function.
        assert run(info.name, mine, sample) == expected, (sample.args, sample.kwargs)
        agreed += 1
    assert agreed


INPLACE = {
    "relu": (), "relu6": (), "threshold": (0.1, 20.0), "hardtanh": (), "elu": (), "selu": (), "celu": (),
    "leaky_relu": (), "rrelu": (), "hardsigmoid": (), "silu": (), "mish": (), "hardswish": (),
}  # fmt: skip


@pytest.mark.parametrize("name", INPLACE)
def test_in_place_activation(name):
    def call(function):
        leaf = torch.randn(3, 4, requires_grad=True)
        middle = leaf * 2
        return observe(lambda: function(middle, *INPLACE[name], inplace=True), [("leaf", leaf), ("middle", middle)])

    assert call(WORLD.lookup(f"torch.nn.functional.{name}")) == call(real(f"torch.nn.functional.{name}"))


DROPOUTS = {
    "dropout": 4,
    "dropout1d": 3,
    "dropout2d": 4,
    "dropout3d": 5,
    "alpha_dropout": 4,
    "feature_alpha_dropout": 4,
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("inplace", [True, False])
@pytest.mark.parametrize("unbatched", [True, False])
@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout(name, unbatched, inplace, training):
    def call(function):
        leaf = torch.randn(*[2] * (DROPOUTS[name] - unbatched), requires_grad=True)
        middle = leaf * 2
        inputs = [("leaf", leaf), ("middle", middle)]
        return observe(lambda: function(middle, 0.5, training=training, inplace=inplace), inputs)

    assert call(WORLD.lookup(f"torch.nn.functional.{name}")) == call(real(f"torch.nn.functional.{name}"))


@pytest.mark.parametrize("hard", [True, False])
def test_gumbel_softmax(hard):
    def call(function):
        leaf = torch.randn(3, 4, requires_grad=True)
        return observe(lambda: function(leaf, hard=hard), [("leaf", leaf)])

    name = "torch.nn.functional.gumbel_softmax"
    assert call(WORLD.lookup(name)) == call(real(name))


def test_coverage():
    """All that torch documents is modelled here, or is one native operator."""
    native = {
        n
        for n in dir(torch.nn.functional)
        if type(getattr(torch.nn.functional, n)).__name__ == "builtin_function_or_method"
    }
    native |= {
        "pairwise_distance",
        "cosine_similarity",
        "one_hot",
        "scaled_dot_product_attention",
        "bilinear",
        "sigmoid",
        "tanh",
    }
    public = {
        n
        for n in dir(torch.nn.functional)
        if not n.startswith("_")
        and getattr(getattr(torch.nn.functional, n), "__module__", None) == "torch.nn.functional"
    }
    missing = public - set(public_names("torch.nn.functional")) - native
    assert missing <= {
        "assert_int_or_pair",
        "scaled_mm",
        "scaled_grouped_mm",
        "grouped_mm",
        "ScalingType",
        "SwizzleType",
    }, missing
