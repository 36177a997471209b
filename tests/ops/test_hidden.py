"""Operators on tensors of unknown shape and dtype: nothing false is claimed, and what is lost is listed."""

import pytest

from tests.ops.hidden import Law, laws

NAMES = (
    "add", "mul", "matmul", "sum", "softmax", "where", "einsum", "cumsum", "take_along_dim", "outer", "trapezoid",
    "nn.functional.linear", "nn.functional.conv2d", "nn.functional.kl_div", "nn.functional.poisson_nll_loss",
    "nn.functional.margin_ranking_loss", "nn.functional.scaled_dot_product_attention", "nn.functional.rms_norm",
    "nn.functional.layer_norm", "nn.functional.avg_pool1d", "nn.functional.cosine_embedding_loss",
)  # fmt: skip

LOST = {
    # A batch that is no matrix may be copied before it is multiplied, and then the copy is saved.
    ("matmul", 0): ["t0 saved"],
    ("matmul", 1): ["t1 saved"],
    ("nn.functional.linear", 0): ["t0 saved"],
    ("outer", 0): ["t0 saved"],
    # Half precision is computed in single precision, on a copy, and cast back: the product with the weight is the last
    # node of one way and the last but one of the other.
    ("nn.functional.rms_norm", 0): ["t0 saved", "t1 saved"],
    # With four dimensions another kernel runs, which saves more than the samples' products do.
    ("nn.functional.scaled_dot_product_attention", 0): ["t2 saved"],
    ("nn.functional.scaled_dot_product_attention", 1): ["t2 saved"],
    ("nn.functional.scaled_dot_product_attention", 2): ["t2 saved"],
}
"""What all samples have and nobody claims, by operator and the number of the hidden operand."""


@pytest.fixture(scope="module")
def found() -> list[Law]:
    return list(laws(NAMES, most=3))


def test_nothing_is_claimed_that_a_sample_contradicts(found: list[Law]) -> None:
    assert [(law.name, *law.wrong()) for law in found if any(law.wrong())] == []


def test_what_all_samples_have_is_known(found: list[Law]) -> None:
    assert {(law.name, law.hidden): [*law.lost()] for law in found if any(law.lost())} == LOST


def test_each_operator_has_samples(found: list[Law]) -> None:
    assert {law.name for law in found} == set(NAMES)
