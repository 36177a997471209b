"""The overload that `resolve` chooses is the one torch runs: the row's node appears on the result."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from analyzers.ops import resolve as resolution
from analyzers.ops import table
from analyzers.ops.resolve import python_names, resolve

SQUARE = [[0.3, 0.5], [0.7, 0.2]]


def matrix() -> torch.Tensor:
    return torch.tensor(SQUARE, requires_grad=True).clone()


def kind(value: Any) -> str:
    match value:
        case None:
            return "none"
        case torch.Tensor():
            return "tensor"
        case bool() | int() | float() | complex() | str():
            return type(value).__name__
        case torch.dtype():
            return "dtype"
        case [] | ():
            return "list:empty"
        case [first, *_] | (first, *_):
            return f"list:{kind(first)}"
    return "object"


def real(name: str) -> Callable[..., Any]:
    found: Any = torch.Tensor if name.startswith("Tensor.") else torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    if not callable(found):  # Tensor.T
        return found.__get__  # type: ignore[no-any-return]
    return found  # type: ignore[no-any-return]


def node_name(result: Any) -> str | None:
    first = result[0] if isinstance(result, (list, tuple)) else result
    return None if first.grad_fn is None else type(first.grad_fn).__name__


class _Tensor:
    """Stands for a tensor argument; its name must not change from process to process."""

    def __repr__(self) -> str:
        return "X"


X = _Tensor()
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("torch.add", (X, 2), {}),
    ("torch.add", (X, X), {"alpha": 2}),
    ("Tensor.add_", (X, 0.5), {}),
    ("Tensor.add_", (X, 0.5, X), {}),
    ("Tensor.addcmul_", (X, 0.5, X, X), {}),
    ("Tensor.mul", (X, 2), {}),
    ("Tensor.div", (X, 2), {"rounding_mode": "floor"}),
    ("torch.sub", (2, X), {}),
    ("Tensor.__add__", (X, 2), {}),
    ("Tensor.__radd__", (X, 2), {}),
    ("Tensor.__sub__", (X, 1.5), {}),
    ("Tensor.__rsub__", (X, 1), {}),
    ("Tensor.__rsub__", (X, X), {}),
    ("Tensor.__rmul__", (X, 2), {}),
    ("Tensor.__truediv__", (X, 2), {}),
    ("Tensor.__itruediv__", (X, 2), {}),
    ("Tensor.__mod__", (X, 2), {}),
    ("Tensor.__rmod__", (X, 2), {}),
    ("Tensor.__pow__", (X, 2), {}),
    ("Tensor.__pow__", (X, X), {}),
    ("Tensor.__rpow__", (X, 2), {}),
    ("Tensor.__ipow__", (X, 2), {}),
    ("Tensor.__neg__", (X,), {}),
    ("Tensor.__abs__", (X,), {}),
    ("Tensor.__iadd__", (X, X), {}),
    ("torch.pow", (X, 2), {}),
    ("torch.pow", (2, X), {}),
    ("torch.pow", (X, X), {}),
    ("Tensor.pow_", (X, 2), {}),
    ("torch.sum", (X,), {}),
    ("torch.sum", (X, 1), {}),
    ("torch.sum", (X,), {"axis": 0, "keepdims": True}),
    ("torch.sum", (), {"input": X, "dim": [0, 1]}),
    ("Tensor.mean", (X,), {}),
    ("Tensor.mean", (X, -1), {}),
    ("torch.max", (X,), {}),
    ("torch.max", (X, 1), {}),
    ("Tensor.amax", (X,), {"dim": (0, 1)}),
    ("Tensor.prod", (X, 0), {}),
    ("torch.cumsum", (X,), {"axis": 0}),
    ("torch.logsumexp", (X, [0]), {}),
    ("Tensor.view", (X, 4), {}),
    ("Tensor.view", (X, 1, 4), {}),
    ("Tensor.view", (X, (4, 1)), {}),
    ("Tensor.permute", (X, 1, 0), {}),
    ("torch.permute", (X, (1, 0)), {}),
    ("Tensor.expand", (X, 3, -1, -1), {}),
    ("Tensor.repeat", (X, 2, 2), {}),
    ("Tensor.transpose", (X, 0, 1), {}),
    ("Tensor.t", (X,), {}),
    ("Tensor.T", (X,), {}),
    ("Tensor.mT", (X,), {}),
    ("Tensor.unsqueeze", (X, 0), {}),
    ("Tensor.squeeze", (X, 0), {}),
    ("Tensor.select", (X, 0, 1), {}),
    ("Tensor.unbind", (X,), {}),
    ("Tensor.split", (X, 1), {}),
    ("Tensor.split", (X, [1, 1]), {}),
    ("torch.split", (X, 1), {"dim": 1}),
    ("torch.split", (X,), {"split_size_or_sections": [1, 1]}),
    ("torch.cat", ([X, X],), {}),
    ("torch.cat", ([X, X], 1), {}),
    ("torch.stack", ((X, X),), {"dim": 1}),
    ("torch.where", (torch.tensor(True), X, X), {}),
    ("torch.clamp", (X,), {"min": 0}),
    ("torch.clamp", (X, X), {}),
    ("Tensor.clamp_", (X, 0, 1), {}),
    ("torch.mm", (X, X), {}),
    ("torch.addmm", (X, X, X), {"beta": 2}),
    ("torch.lerp", (X, X, 0.5), {}),
    ("torch.lerp", (X, X, X), {}),
    ("torch.masked_fill", (X, torch.tensor(True), 0.0), {}),
    ("Tensor.masked_fill_", (X, torch.tensor(True), 0.0), {}),
    ("Tensor.fill_", (X, 1), {}),
    ("Tensor.zero_", (X,), {}),
    ("Tensor.copy_", (X, X), {}),
    ("Tensor.clone", (X,), {}),
    ("Tensor.gather", (X, 0, torch.zeros(1, 1, dtype=torch.long)), {}),
    ("Tensor.index_select", (X, 0, torch.tensor([0])), {}),
    ("Tensor.sort", (X,), {}),
    ("Tensor.sort", (X,), {"dim": 0, "descending": True}),
    ("Tensor.topk", (X, 1), {}),
    ("torch.norm", (X,), {}),
    ("torch.linalg.inv_ex", (X,), {}),
    ("torch.linalg.vector_norm", (X,), {}),
    ("torch.special.erf", (X,), {}),
    ("torch.nn.functional.gelu", (X,), {}),
    ("torch.nn.functional.gelu", (X,), {"approximate": "tanh"}),
    ("torch.nn.functional.softplus", (X,), {}),
    ("torch._C._nn.mse_loss", (X, X), {}),
    ("torch.sigmoid", (X,), {}),
    ("Tensor.relu_", (X,), {}),
    ("Tensor.eq", (X, 1), {}),
    ("Tensor.__lt__", (X, X), {}),
    ("Tensor.argmax", (X,), {}),
    ("torch.zeros_like", (X,), {}),
    ("torch.multiply", (X, 2), {}),
    ("torch.true_divide", (X, X), {}),
    ("torch.absolute", (X,), {}),
    ("torch.subtract", (X, 2), {}),
    ("torch.negative", (X,), {}),
    ("torch.arctan2", (X, X), {}),
    ("torch.clip", (X, 0, 1), {}),
    ("Tensor.greater", (X, 0), {}),
    ("Tensor.arccos", (X,), {}),
    ("Tensor.multiply_", (X, X), {}),
]


COMPOSITES = {"Tensor.T", "Tensor.mT"}


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS, ids=str)
def test_torch_runs_the_row(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    def concrete(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(concrete, value))
        return matrix() if value is X else value

    real_args = [concrete(value) for value in args]
    real_kwargs = {key: concrete(value) for key, value in kwargs.items()}
    if name == "torch.norm":  # A Python function: only its C++ namesake is resolved.
        name = "torch._VF.norm"
    function = torch._C._VariableFunctions.norm if name == "torch._VF.norm" else real(name)
    got = resolve(name, [kind(value) for value in real_args], {key: kind(value) for key, value in real_kwargs.items()})
    assert got is not None
    assert not got.ambiguous
    row = got.row
    if row.kind == "composite" and row.alias_of is not None:
        aliased = table.row(row.alias_of)
        assert aliased is not None
        row = aliased
    expected = node_name(function(*real_args, **real_kwargs))
    if row.kind == "composite":
        assert name in COMPOSITES
    else:
        assert row.grad_fn == expected


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("Tensor.reshape", ["tensor", "int", "list:int"]),
        ("Tensor.add", ["tensor", "str"]),
        ("torch.add", ["tensor"]),
        ("torch.matmul", ["tensor", "int"]),
        ("torch.no_such_operator", []),
    ],
)
def test_a_call_that_fits_nothing(name: str, args: list[str]) -> None:
    assert resolve(name, args, {}) is None


def test_an_unknown_argument_leaves_candidates() -> None:
    got = resolve("torch.pow", ["tensor", "unknown"], {})
    assert got is not None
    assert [row.name for row in got.candidates] == ["pow.Tensor_Tensor", "pow.Tensor_Scalar"]


def test_an_unknown_argument_that_changes_nothing_is_not_ambiguous() -> None:
    got = resolve("torch.mul", ["unknown", "unknown"], {})
    assert got is not None
    assert (got.row.name, got.ambiguous) == ("mul.Tensor", False)


def test_all_arguments_make_one_list_of_sizes() -> None:
    got = resolve("Tensor.view", ["tensor", "int", "unknown"], {})
    assert got is not None
    assert got.binding == {"self": ("arg", 0), "size": ("rest", 1)}


def test_a_reversed_operator_binds_its_receiver_to_the_right_operand() -> None:
    got = resolve("Tensor.__rpow__", ["tensor", "int"], {})
    assert got is not None
    assert got.binding == {"exponent": ("arg", 0), "self": ("arg", 1)}


def test_deprecated_order_of_arguments() -> None:
    got = resolve("Tensor.add_", ["tensor", "float", "tensor"], {})
    assert got is not None
    assert got.binding == {"self": ("arg", 0), "alpha": ("arg", 1), "other": ("arg", 2)}


def test_out_chooses_the_row_that_writes() -> None:
    got = resolve("torch.max", ["tensor", "int"], {"out": "list:tensor"})
    assert got is not None
    assert (got.row.name, got.row.out) == ("max.dim_max", True)
    assert got.binding["max"] == got.binding["max_values"] == ("kw", "out")
    plain = resolve("torch.add", ["tensor", "tensor"], {"out": "none"})
    assert plain is not None
    assert plain.row.name == "add.Tensor"


def test_schemas_by_name() -> None:
    got = resolve("torch.ops.aten.mul.Tensor", ["tensor", "tensor"], {})
    assert got is not None
    assert got.row.name == "mul.Tensor"


def test_every_signature_leads_to_rows() -> None:
    for name in python_names():
        for signature in resolution.signatures(name):
            assert table.row(signature.row) is not None, name
            assert signature.out_row is None or table.row(signature.out_row) is not None, name


def test_no_binding_of_torch_is_missing() -> None:
    missing = {
        f"{prefix}.{name}"
        for prefix, owner in (
            ("torch.linalg", torch.linalg),
            ("torch.fft", torch.fft),
            ("torch.special", torch.special),
        )
        for name, value in vars(owner).items()
        if type(value).__name__ == "builtin_function_or_method" and not name.startswith("_")
    } - python_names()
    assert not missing
