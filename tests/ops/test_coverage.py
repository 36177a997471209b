"""The analyzer beside torch on the first samples of some operators; `tests.ops.coverage` runs all of all."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.ops.cases import name_of
from tests.ops.cases import operators as all_operators
from tests.ops.coverage import Operator, judge_all
from tests.ops.extras import EXTRAS
from tests.ops.seen import UNKNOWN, GraphNode, Seen, SeenTensor, compare

FLOOR = 0.99
"""The share of operators about which all is known, and right."""

ALWAYS = (
    "add", "mul", "matmul", "sum", "softmax", "cat", "where", "einsum", "sort", "copysign", "acosh", "diff", "meshgrid",
    "squeeze", "as_strided", "float_power", "stft", "istft", "svd_lowrank", "cdist", "gradient", "linspace", "empty",
    "linalg.matrix_power", "linalg.vecdot", "tensordot", "fft.ihfftn", "nn.functional.batch_norm", "unbind_copy",
    "nn.functional.dropout", "nn.functional.relu",
)  # fmt: skip
"""Operators that are always among the sampled: those that users write most, and those that were hard."""

SAMPLED = 120
"""So many others are drawn, always the same; what is written by hand is run as a whole."""


EXTRA_NAMES = tuple(name_of(extra) for extra in EXTRAS)


def names() -> tuple[str, ...]:
    others = sorted({name_of(info) for info in all_operators()} - {*ALWAYS, *EXTRA_NAMES})
    return (*ALWAYS, *random.Random(0).sample(others, SAMPLED))


@pytest.fixture(scope="module")
def operators() -> list[Operator]:
    # Torch notes the whole call stack with every sample, and pytest's is deep; a thread of its own has a short one.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: [*judge_all(names(), most=1, quick=True), *judge_all(EXTRA_NAMES)]).result()


def test_nothing_is_claimed_that_torch_does_not_do(operators: list[Operator]) -> None:
    bad = {operator.name for operator in operators if operator.verdict in ("crash", "wrong", "missed")}
    assert not bad


def test_most_operators_are_known_in_full(operators: list[Operator]) -> None:
    judged = [operator for operator in operators if operator.programs]
    agreeing = [operator for operator in judged if operator.verdict == "agrees"]
    missing = sorted({operator.name for operator in judged} - {operator.name for operator in agreeing})
    assert len(agreeing) / len(judged) >= FLOOR, missing


def seen(graph: object, requires_grad: object = True) -> Seen:
    return Seen(None, {"r": SeenTensor("r", requires_grad=requires_grad, graph=graph)}, [])


LEAF = GraphNode(("leaf0",), ())
TRUTH = seen(GraphNode(("MulBackward0",), (LEAF, None)))


@pytest.mark.parametrize(
    ("graph", "kinds"),
    [
        (GraphNode(("MulBackward0",), (LEAF, None)), []),
        (GraphNode(("MulBackward0",), (LEAF,)), []),
        (GraphNode(("AddBackward0",), (LEAF, None)), ["wrong"]),
        (GraphNode(("MulBackward0",), (LEAF, LEAF)), ["wrong"]),
        (GraphNode(("AddBackward0", "MulBackward0"), (LEAF, None)), ["unknown"]),
        (GraphNode(("MulBackward0",), None), ["unknown"]),
        (UNKNOWN, ["unknown"]),
        (None, ["wrong"]),
    ],
)
def test_a_graph_is_judged_by_its_names_and_edges(graph: object, kinds: list[str]) -> None:
    assert [difference.kind for difference in compare(seen(graph), TRUTH)] == kinds


def test_a_raise_must_be_foretold() -> None:
    raises = Seen("a leaf Variable that requires grad is being used in an in-place operation.", {}, [])
    assert [d.kind for d in compare(seen(LEAF), raises)] == ["missed"]
    assert [d.kind for d in compare(raises, TRUTH)] == ["wrong"]
    assert not list(compare(raises, raises))
