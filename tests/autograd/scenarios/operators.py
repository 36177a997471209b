"""What operators save, view, write and lay out: rows of the table, kernels, indices, `out=`, casts."""

from __future__ import annotations

from tests.autograd.api import Api
from tests.autograd.scenarios.registry import Scenarios

SCENARIOS = scenario = Scenarios()

ONE = (
    "sin", "cos", "exp", "log", "tanh", "sigmoid", "sqrt", "rsqrt", "reciprocal", "abs", "relu", "neg", "square",
    "erf", "atan", "sinh", "round", "clone", "sum", "mean", "prod", "std", "var", "norm", "cumsum", "cumprod",
    "logsumexp", "softmax", "amax", "t",
)  # fmt: skip

TWO = ("add", "sub", "mul", "div", "pow", "matmul", "mm", "maximum", "atan2", "lerp")

WITH_DIMENSION = {"cumsum", "cumprod", "logsumexp", "softmax", "amax"}


def _call(api: Api, name: str, operands: list[object]) -> object:
    more = [0] if name in WITH_DIMENSION else [0.5] if name == "lerp" else []
    return api.op(name, *operands, *more)


@scenario
def what_operators_of_one_tensor_save(api: Api) -> None:
    for name in ONE:
        _write_each(api, name, 1)


@scenario
def what_operators_of_two_tensors_save(api: Api) -> None:
    for name in TWO:
        _write_each(api, name, 2)


def _write_each(api: Api, name: str, count: int) -> None:
    """Write each operand, and the result, between an operator and its backward."""
    for written in range(count + 1):
        operands = [api.op("mul", api.tensor(2, 2, grad=True), 1) for _ in range(count)]
        result = _call(api, name, operands)
        api.see(name, result)
        if written == 0:
            api.see_graph(name, result)
        loss = api.op("sum", api.op("mul", result, 1))
        api.op("add_", [*operands, result][written], 1)
        api.attempt(f"{name}, {written}", lambda loss=loss: api.backward(loss))
        if written == 0:
            api.attempt(f"{name}, again", lambda loss=loss: api.backward(loss))


@scenario
def who_needs_the_gradient_decides_what_is_saved(api: Api) -> None:
    for name in ("mul", "div", "matmul", "pow"):
        for grads in ((True, False), (False, True)):
            operands = [api.op("mul", api.tensor(2, 2, grad=grad), 1) for grad in grads]
            for written in range(2):
                loss = api.op("sum", api.op(name, *operands))
                api.op("add_", operands[written], 1)
                api.attempt(f"{name}, {grads}, {written}", lambda loss=loss: api.backward(loss))


@scenario
def sizes_and_types_of_results(api: Api) -> None:
    x, small, whole = api.tensor(2, 1, 3, grad=True), api.tensor(4, 1), api.tensor(3, dtype="int64")
    wide = api.tensor(3, dtype="float64")
    api.see("broadcast", api.op("add", x, small))
    api.see("promoted", api.op("mul", x, wide))
    api.see("integer", api.op("add", x, whole))
    api.see("divided", api.op("div", whole, 2))
    api.see("by a float", api.op("mul", whole, 0.5))
    api.see("summed", api.op("sum", whole))
    api.see("kept", api.op("mean", x, 2, True))
    api.see("joined", api.op("torch.cat", [x, x], 1))
    api.see("where", api.op("torch.where", api.op("gt", x, 0), x, 0.0))
    api.attempt("sizes", lambda: api.op("add", api.tensor(2), api.tensor(3)))
    api.attempt("matrices", lambda: api.op("mm", api.tensor(2, 3), api.tensor(2, 3)))


@scenario
def indices(api: Api) -> None:
    x = api.tensor(4, 3, 2, grad=True)
    for name, index in {
        "number": 1,
        "negative": -1,
        "slice": slice(1, 3),
        "steps": slice(0, 4, 2),
        "several": (0, slice(None), 1),
        "new": (None, 0),
        "ellipsis": (..., 0),
        "list": [0, 2],
        "pair": ([0, 1], [1, 2]),
        "mixed": (slice(None), [0, 1], 0),
        "tensor": api.tensor(2, dtype="int64"),
        "one integer": api.tensor(dtype="int64"),
    }.items():
        found = api.item(x, index)
        api.see(name, found)
        api.see_graph(name, found)
    api.attempt("floats", lambda: api.item(x, api.tensor(2)))


@scenario
def results_given_by_out(api: Api) -> None:
    x, target = api.tensor(3), api.tensor(3)
    api.op("torch.add", x, 1, out=target)
    api.see("written", target)
    api.attempt("operand", lambda: api.op("torch.add", api.tensor(3, grad=True), 1, out=target))
    api.attempt("target", lambda: api.op("torch.add", x, 1, out=api.tensor(3, grad=True)))
    with api.mode(False):
        api.op("torch.add", api.tensor(3, grad=True), 1, out=target)
    api.see("without grad", target)
    small = api.tensor(0)
    api.op("torch.mul", x, x, out=small)
    api.see("resized", small)


@scenario
def where_elements_lie(api: Api) -> None:
    x = api.tensor(2, 3, 4)
    for name, made in {
        "itself": x,
        "turned": api.op("transpose", x, 0, 2),
        "permuted": api.op("permute", x, 2, 0, 1),
        "row": api.item(x, 1),
        "column": api.item(x, (slice(None), slice(1, 3), 2)),
        "viewed": api.op("view", x, 6, 4),
        "expanded": api.op("expand", api.tensor(3, 1), 3, 4),
        "copied": api.op("clone", api.op("transpose", x, 0, 2)),
        "in order": api.op("contiguous", api.op("transpose", x, 0, 2)),
        "strided": api.op("as_strided", x, (2, 2), (1, 2), 3),
    }.items():
        api.see_layout(name, made)
    turned = api.op("transpose", x, 0, 1)
    api.attempt("view", lambda: api.op("view", turned, 24))
    flat, same = api.op("reshape", turned, (24,)), api.op("reshape", x, (24,))
    api.see("copied", flat)
    api.see("viewed", same)


@scenario
def kernels_of_several_parts(api: Api) -> None:
    x, w = api.tensor(2, 3, grad=True), api.tensor(4, 3, grad=True)
    wanted = api.tensor(2, dtype="int64")
    for name, made in {
        "linear": api.op("torch.nn.functional.linear", x, w),
        "matmul": api.op("matmul", api.tensor(5, 2, 3, grad=True), api.op("t", w)),
        "vector": api.op("matmul", x, api.tensor(3, grad=True)),
        "softmax": api.op("softmax", x, 1),
        "dropout": api.op("torch.dropout", x, 0.5, True),
        "no dropout": api.op("torch.dropout", x, 0.5, False),
        "layer norm": api.op("torch.layer_norm", x, (3,)),
        "convolution": api.op("torch.conv1d", api.tensor(1, 3, 8, grad=True), api.tensor(5, 3, 3, grad=True)),
        "nll": api.op("torch._C._nn.nll_loss", x, wanted, None, 1),
        "cross entropy": api.op("torch._C._nn.cross_entropy_loss", x, wanted, None, 1),
        "std": api.op("std", x),
        "where": api.op("torch.where", api.op("gt", x, 0), x, x),
    }.items():
        api.see(name, made)
        api.see_graph(name, made)


@scenario
def a_number_is_wanted(api: Api) -> None:
    x, number = api.tensor(3), api.tensor(grad=True)
    api.attempt("clamp", lambda: api.op("clamp", x, number))
    api.attempt("leaky", lambda: api.op("torch._C._nn.leaky_relu", x, number))
    api.attempt("add", lambda: api.op("add", x, x, alpha=number))
    api.attempt("full", lambda: api.op("fill_", api.tensor(3), number))


@scenario
def gradients_take_the_way_of_torch(api: Api) -> None:
    x, y = api.tensor(2, 2, grad=True), api.tensor(2, 2, grad=True)
    for name in ("mul", "div", "matmul", "pow", "sub", "maximum"):
        loss = api.op("sum", api.op(name, x, y))
        for which, found in zip("xy", api.grad([loss], [x, y], create=True), strict=True):
            api.see(f"{name} to {which}", found)
            api.see_graph(f"{name} to {which}", found)
    for name in ("tanh", "sqrt", "log", "cos", "prod", "mean", "softmax", "cumsum"):
        loss = api.op("sum", api.op("mul", _call(api, name, [x]), 3))
        (found,) = api.grad([loss], [x], create=True)
        api.see_graph(name, found)
