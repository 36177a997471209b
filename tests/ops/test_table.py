"""Every row that torch's own sample inputs reach must say what torch does with real tensors.

The samples of `op_db` are run once without grad while a dispatch mode writes down each primitive call below autograd.
Each primitive is then called again with every single differentiable input, and with all of them, requiring grad.
"""

import itertools
import subprocess
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from analyzers.ops import table
from analyzers.ops.table import Row

warnings.filterwarnings("ignore")

SAMPLES_PER_OPERATOR = 4
CALLS_PER_ROW = 3


class Recorder(TorchDispatchMode):
    """Keeps the first small calls of each primitive."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, list[tuple[Any, tuple[Any, ...], dict[str, Any]]]] = defaultdict(list)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.namespace != "aten":
            return func(*args, **kwargs)
        kept = self.calls[func._schema.name.removeprefix("aten::") + f".{func._schema.overload_name}".rstrip(".")]
        if len(kept) == CALLS_PER_ROW:
            return func(*args, **kwargs)
        call = (func, map_tensors(copy, args), map_tensors(copy, kwargs))
        result = func(*args, **kwargs)
        kept.append(call)
        return result


def map_tensors(change: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: map_tensors(change, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(map_tensors(change, item) for item in value)
    return value


def copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


@pytest.fixture(scope="module")
def calls() -> dict[str, list[tuple[Any, tuple[Any, ...], dict[str, Any]]]]:
    recorder = Recorder()
    torch.manual_seed(0)
    for op in op_db:
        if torch.float64 not in op.dtypes:
            continue
        # Not `op.sample_inputs`: that reads the source of every caller on the stack, ten times the cost of the samples.
        sampled = op.sample_inputs_func(op, "cpu", torch.float64, requires_grad=False)
        samples = list(itertools.islice(sampled, SAMPLES_PER_OPERATOR))
        for sample, variant in itertools.product(samples, (op.op, op.inplace_variant)):
            if variant is not None:
                try:
                    with torch.no_grad(), recorder:
                        variant(map_tensors(copy, sample.input), *sample.args, **sample.kwargs)
                except (RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError):
                    continue
    return recorder.calls


def bind(row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**{a.name: value for a, value in zip(row.args, args, strict=False)}, **kwargs}


def is_differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def requiring(names: frozenset[str], bound: dict[str, Any]) -> dict[str, Any]:
    """Fresh arguments: those named are non-leaf tensors that require grad, which in-place operators may write."""

    def fresh(tensor: torch.Tensor, needs: bool) -> torch.Tensor:
        plain = copy(tensor)
        return plain.requires_grad_().clone() if needs and is_differentiable(plain) else plain

    return {name: map_tensors(lambda t, name=name: fresh(t, name in names), value) for name, value in bound.items()}


def has_tensor(value: Any) -> bool:
    items = value if isinstance(value, (list, tuple)) else [value]
    return any(map(is_differentiable, items))


def disagreements(row: Row, func: Any, bound: dict[str, Any], names: frozenset[str]) -> Iterator[str]:
    """What torch does with these inputs requiring grad that the row does not say."""
    given = requiring(names, bound)
    before = {name: value._version for name, value in given.items() if isinstance(value, torch.Tensor)}
    result = func(**given)
    outputs = list(result) if isinstance(result, (list, tuple)) else [result]
    flat = [t for o in outputs for t in (o if isinstance(o, list) else [o]) if isinstance(t, torch.Tensor)]
    for name, version in before.items():
        if (name in row.bumps) != (given[name]._version > version):
            yield f"version of {name}: {version} -> {given[name]._version}"
    expects_node = row.kind in ("derivative", "not-implemented") and not names.isdisjoint(row.differentiable)
    hidden = set(row.not_differentiable)
    nodes = {}
    for index, output in enumerate(outputs):
        for tensor in output if isinstance(output, list) else [output]:
            if not isinstance(tensor, torch.Tensor):
                continue
            expected = expects_node and index not in hidden and is_differentiable(tensor)
            unchanged = row.inplace and row.kind == "no-grad" and "self" in names
            if tensor.requires_grad != (expected or unchanged):
                yield f"output {index} requires_grad={tensor.requires_grad}"
            elif expected:
                nodes[id(tensor.grad_fn)] = tensor.grad_fn
    for node in nodes.values():
        if type(node).__name__ != row.grad_fn:
            yield f"grad_fn {type(node).__name__}"
        elif row.kind == "derivative":
            yield from saved_disagreements(row, node, given, flat, names)
    if row.view is None and not row.inplace and any(t._is_view() for t in flat):
        yield "is a view"
    if row.view is not None and is_differentiable(given.get("self")) and expects_node:
        multi = torch._C._autograd.CreationMeta.MULTI_OUTPUT_NODE
        made = {torch._C._autograd._get_creation_meta(t) == multi for t in flat if t._is_view()}
        if flat and made != {row.view == "multi"}:
            yield f"view made as multi: {made}"


def saved_disagreements(
    row: Row, node: Any, given: dict[str, Any], outputs: list[Any], names: frozenset[str]
) -> Iterator[str]:
    found = {}
    for attribute in dir(node):
        if attribute.startswith("_raw_saved_"):
            name = attribute.removeprefix("_raw_saved_")
            value = getattr(node, f"_saved_{name}")
            if value is not None and (isinstance(value, torch.Tensor) or value):
                found[name] = value
    expected = {}
    for saved in row.saves:
        if saved.for_inputs is not None and names.isdisjoint(saved.for_inputs):
            continue
        source = outputs[saved.index] if saved.is_output else given.get("self" if saved.is_private else saved.name)
        if source is not None and not (isinstance(source, (list, tuple)) and not source):
            expected["self" if saved.is_private else saved.name] = (saved, source)
    if set(found) != set(expected):
        yield f"saved {sorted(found)} instead of {sorted(expected)}"
        return
    for name, (saved, source) in expected.items():
        if isinstance(source, torch.Tensor) and source.layout == torch.strided and source.numel():
            same = found[name].data_ptr() == source.data_ptr()
            if same == saved.is_private:
                yield f"saved {name} is {'the' if same else 'not the'} tensor itself"


def subsets(row: Row, bound: dict[str, Any]) -> list[frozenset[str]]:
    inputs = [a.name for a in row.args if a.is_tensor and has_tensor(bound.get(a.name)) and a.name not in row.forbidden]
    singles = [frozenset([name]) for name in inputs]
    return [frozenset(), *singles, *([frozenset(inputs)] if len(inputs) > 1 else [])]


# Operators whose behaviour no row can state.
UNSTATED = {
    "empty_permuted": "is a view of the memory that it allocates itself",
    "_embedding_bag_forward_only": "returns integers, for which the fallback kernel raises",
    "resize_": "raises if self requires grad",
    "resize_as_": "raises if self requires grad",
}


def test_rows_say_what_torch_does(calls: dict[str, Any]) -> None:
    wrong: list[str] = []
    checked: set[str] = set()
    for name, recorded in sorted(calls.items()):
        row = table.row(name)
        assert row is not None, name
        if row.out or name in UNSTATED:
            continue
        for func, args, kwargs in recorded:
            bound = bind(row, args, kwargs)
            for names in subsets(row, bound):
                found = list(disagreements(row, func, bound, names))
                wrong += [f"{name} {sorted(names)}: {what}" for what in found]
        checked.add(name)
    assert not wrong
    assert len(checked) > 500


def test_a_forbidden_input_raises() -> None:
    row = table.row("_native_batch_norm_legit")
    assert row is not None
    assert "running_mean" in row.forbidden
    x, mean, var = torch.rand(2, 3), torch.zeros(3, requires_grad=True), torch.ones(3)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'running_mean'"):
        torch.ops.aten._native_batch_norm_legit(x, None, None, mean * 1, var, True, 0.1, 1e-5)


def saves(name: str) -> dict[str, tuple[str, ...] | None]:
    row = table.row(name)
    assert row is not None
    return {saved.name: saved.for_inputs for saved in row.saves}


def test_a_product_keeps_each_factor_for_the_sake_of_the_other() -> None:
    assert saves("mul.Tensor") == {"self": ("other",), "other": ("self",)}


def test_in_place_keeps_a_private_copy_of_what_it_overwrites() -> None:
    assert saves("mul_.Tensor") == {"original_self": ("other",), "other": ("self",)}
    row = table.row("mul_.Tensor")
    assert row is not None
    assert [saved.is_private for saved in row.saves] == [True, False]


@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh", "sqrt", "rsqrt", "reciprocal", "relu", "_softmax"])
def test_these_keep_their_result_only(name: str) -> None:
    assert saves(name) == {"result": None}


@pytest.mark.parametrize("name", ["sin", "log", "abs", "clamp", "elu", "gelu", "pow.Tensor_Scalar", "gather"])
def test_these_keep_an_input_not_their_result(name: str) -> None:
    row = table.row(name)
    assert row is not None
    assert any(not saved.is_output for saved in row.saves)
    assert not any(saved.is_output for saved in row.saves)


@pytest.mark.parametrize(
    "name", ["add.Tensor", "sub.Tensor", "neg", "sum", "mean", "clone", "cat", "view", "slice.Tensor"]
)
def test_these_keep_nothing(name: str) -> None:
    assert saves(name) == {}


def test_division_keeps_the_divisor_always_and_the_dividend_for_the_divisor() -> None:
    assert saves("div.Tensor") == {"other": None, "self": ("other",)}


def test_a_layer_norm_keeps_hidden_outputs() -> None:
    row = table.row("native_layer_norm")
    assert row is not None
    assert {saved.index for saved in row.saves if saved.is_output} == {1, 2}
    assert row.not_differentiable == (1, 2)


def test_kinds() -> None:
    kinds = {
        name: row.kind
        for name in ("mul.Tensor", "linear", "argmax", "eq.Tensor", "floor_divide", "randn_like")
        if (row := table.row(name))
    }
    assert kinds == {
        "mul.Tensor": "derivative",
        "linear": "composite",
        "argmax": "no-grad",
        "eq.Tensor": "no-grad",
        "floor_divide": "not-implemented",
        "randn_like": "no-grad",
    }


def test_pieces_are_multi_output_views() -> None:
    views = {
        name: row.view
        for name in ("split.Tensor", "unbind.int", "select.int", "unsafe_split.Tensor", "clone")
        if (row := table.row(name))
    }
    assert views == {
        "split.Tensor": "multi",
        "unbind.int": "multi",
        "select.int": "view",
        "unsafe_split.Tensor": None,
        "clone": None,
    }


def test_schemas_are_read_whole() -> None:
    args, returns = table.parse_schema(
        "(Tensor(a!) self, int[2] stride=[1, 1], *, str mode='a', Tensor(b -> *)[] rest) -> (Tensor(a!) x, Tensor)"
    )
    assert [(a.name, a.type, a.default, a.kwarg_only, a.alias, a.written) for a in args] == [
        ("self", "Tensor", None, False, "a", True),
        ("stride", "int[2]", "[1, 1]", False, None, False),
        ("mode", "str", "'a'", True, None, False),
        ("rest", "Tensor[]", None, True, "b", False),
    ]
    assert [(r.type, r.name, r.alias, r.written) for r in returns] == [
        ("Tensor", "x", "a", True),
        ("Tensor", None, None, False),
    ]


def test_every_row_parses_and_names_its_own_arguments() -> None:
    for base in table.names():
        for row in table.rows(base):
            names = {a.name for a in row.args}
            mentioned = {*row.differentiable, *row.forbidden, *row.gradient_not_implemented}
            mentioned |= {s.name for s in row.saves if not s.is_output and not s.is_private}
            mentioned |= {name for s in row.saves for name in s.for_inputs or ()}
            assert mentioned <= names, row.name
            assert all(saved.index < max(1, len(row.returns)) for saved in row.saves), row.name


def test_the_data_is_what_the_generator_writes() -> None:
    generator = Path(__file__).parents[2] / "tools/generate_ops.py"
    assert subprocess.run([sys.executable, generator, "--check"], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("absolute", "abs"),
        ("multiply.Tensor", "mul.Tensor"),
        ("true_divide_.Tensor", "div_.Tensor"),
        ("clip", "clamp"),
        ("special_expit", "sigmoid"),
        ("max.other", "maximum"),
        ("matmul", None),
        ("prelu", None),
        ("square", None),
    ],
)
def test_a_composite_that_only_forwards_names_its_target(name: str, target: str | None) -> None:
    row = table.row(name)
    assert row is not None
    assert row.alias_of == target


def test_composite_views() -> None:
    names = ("chunk", "tensor_split.sections", "narrow", "reshape", "ravel", "contiguous", "to.dtype", "matmul")
    assert [row.view for name in names if (row := table.row(name))] == [
        "multi",
        "view",
        "view",
        "maybe",
        "maybe",
        "maybe",
        "maybe",
        None,
    ]
