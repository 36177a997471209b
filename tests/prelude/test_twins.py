"""Small programs, run once on real torch and once on the prelude: autograd sees the same."""

import pytest
import torch as real_torch
from torch.nn.utils import prune as _  # noqa: F401

from tests.prelude import programs_nn, programs_optim, programs_rest
from tests.prelude.compare import graph
from tests.prelude.loader import World

WORLD = World()
TWIN = WORLD.overlay("torch")
CASES = [
    f
    for module in (programs_nn, programs_optim, programs_rest)
    for n, f in vars(module).items()
    if n.startswith("case_")
]


def describe(value, names):
    if isinstance(value, real_torch.Tensor):
        return {
            "shape": tuple(value.shape), "dtype": value.dtype, "requires_grad": value.requires_grad,
            "leaf": value.is_leaf, "view": value._is_view(), "parameter": isinstance(value, real_torch.nn.Parameter),
            "graph": graph(value, names), "grad": value.grad is not None if value.is_leaf else None,
        }  # fmt: skip
    if isinstance(value, dict):
        return {k: describe(v, names) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [describe(v, names) for v in value]
    assert value is None or isinstance(value, (bool, int, float, str)), type(value)
    return value


def outcome(program, torch):
    real_torch.manual_seed(0)
    try:
        return describe(program(torch), {})
    except Exception as error:
        return (type(error).__name__, str(error.args[0]))


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_twin(program):
    expected, found = outcome(program, real_torch), outcome(program, TWIN)
    if isinstance(expected, tuple):
        assert isinstance(found, tuple), (found, expected)
        assert found[0] == expected[0] and expected[1].startswith(found[1]), (found, expected)
        assert len(found[1]) > 8
    else:
        assert found == expected
