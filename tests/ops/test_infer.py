"""Inferred shapes and dtypes against torch: whatever is claimed must be what torch gives, however little is known.

Torch's own sample inputs are run; every aten call they make, and every composite operator called by its schema, is
replayed through `infer`: once with all arguments known, and again with knowledge erased at random.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from analyzers.ops.infer import (
    MOST_PIECES,
    NUMBERS,
    UNKNOWN,
    OpenList,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    index_shape,
    infer,
    infer_list,
    promote,
)

SAMPLES = 4  # per operator and dtype
DTYPES = (torch.float32, torch.int64, torch.complex64)
FLOOR = 0.97  # share of recorded aten calls that have a rule
COMPOSITE_FLOOR = 0.87


@dataclass(frozen=True)
class Recorded:
    """One aten call: its arguments as `infer` takes them, and what torch returned."""

    base: str
    overload: str
    args: Mapping[str, object]
    outputs: tuple[TensorType, ...]
    is_list: bool


def describe(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return TensorType(tuple(value.shape), str(value.dtype).removeprefix("torch."))
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, complex, str)) else UNKNOWN


def bind(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, object]:
    names = [argument.name for argument in function._schema.arguments]
    bound = dict(zip(names, args, strict=False)) | dict(kwargs)
    return {name: describe(value) for name, value in bound.items()}


def outputs_of(result: Any) -> tuple[tuple[TensorType, ...], bool] | None:
    if isinstance(result, torch.Tensor):
        return (describe(result),), False
    if isinstance(result, (list, tuple)) and result and all(isinstance(item, torch.Tensor) for item in result):
        return tuple(describe(item) for item in result), isinstance(result, list)
    return None


class Recorder(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, Recorded] = {}

    def __torch_dispatch__(
        self, func: Any, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        bound = bind(func, args, kwargs or {})
        result = func(*args, **(kwargs or {}))
        self.record(func, bound, result)
        return result

    def record(self, func: Any, bound: dict[str, object], result: Any) -> None:
        namespace, _, base = func._schema.name.partition("::")
        found = outputs_of(result)
        if namespace != "aten" or found is None:
            return
        key = f"{func} {bound}"
        if key not in self.calls:
            self.calls[key] = Recorded(base, str(func), bound, *found)


def samples() -> Iterator[tuple[Any, Any]]:
    for op in op_db:
        if op.name.startswith("jiterator"):
            continue
        for dtype in DTYPES:
            if dtype not in op.dtypes:
                continue
            for _, sample in zip(range(SAMPLES), op.sample_inputs("cpu", dtype), strict=False):
                yield op, sample


def call_by_schema(op: Any, sample: Any, recorder: Recorder) -> None:
    """Composite operators never reach the dispatch mode; `torch.ops` calls them, by the first overload that fits."""
    packet = getattr(torch.ops.aten, op.aten_name or "", None) or getattr(torch.ops.aten, op.name.split(".")[-1], None)
    for overload in packet.overloads() if packet else ():
        function = getattr(packet, overload)
        if "out" in overload:
            continue
        args = (sample.input, *sample.args)
        try:
            bound = bind(function, args, sample.kwargs)
            result = function(*args, **sample.kwargs)
        except (RuntimeError, TypeError, NotImplementedError, IndexError, ValueError):
            continue
        recorder.record(function, bound, result)
        return


@pytest.fixture(scope="module")
def recorded() -> tuple[list[Recorded], list[Recorded]]:
    # Torch notes the whole call stack with every sample, and pytest's is deep; a thread of its own has a short one.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(record).result()


def record() -> tuple[list[Recorded], list[Recorded]]:
    primitive, composite = Recorder(), Recorder()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the tensors are tiny
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op, sample in samples():
            with primitive:
                try:
                    op(sample.input, *sample.args, **sample.kwargs)
                except RuntimeError:
                    continue
            call_by_schema(op, sample, composite)
    seen = {call.base for call in primitive.calls.values()}
    return list(primitive.calls.values()), [call for call in composite.calls.values() if call.base not in seen]


def claims(call: Recorded, args: Mapping[str, object]) -> tuple[TensorType, ...] | None:
    if not call.is_list:
        return infer(call.base, args)
    listed = infer_list(call.base, args)
    return None if listed is None else listed.first


def agrees(claim: TensorType, truth: TensorType) -> bool:
    if claim.dtype not in (None, truth.dtype):
        return False
    if claim.shape is None or truth.shape is None:
        return True
    return len(claim.shape) == len(truth.shape) and all(
        x is None or x == y for x, y in zip(claim.shape, truth.shape, strict=True)
    )


def wrong_claim(call: Recorded, args: Mapping[str, object]) -> str | None:
    try:
        result = claims(call, args)
    except ShapeError as error:
        return f"{call.overload} {args}: refused ({error}), torch gave {call.outputs}"
    if result is None:
        return None
    if len(result) == len(call.outputs) and all(map(agrees, result, call.outputs)):
        return None
    return f"{call.overload} {args}: claimed {result}, torch gave {call.outputs}"


def report(wrong: list[str]) -> str:
    return f"{len(wrong)} wrong:\n" + "\n".join(wrong[:60])


def forget(value: object, chance: random.Random) -> object:
    """The same argument with some of what is known about it erased."""
    if isinstance(value, TensorType):
        if chance.random() < 0.1:
            return UNKNOWN
        shape: Shape = value.shape
        if shape is not None:
            shape = None if chance.random() < 0.15 else tuple(None if chance.random() < 0.3 else n for n in shape)
        return TensorType(shape, None if chance.random() < 0.15 else value.dtype)
    if value is None:
        return UNKNOWN if chance.random() < 0.1 else None
    if isinstance(value, bool | int | float | complex) and chance.random() < 0.2:
        return NUMBERS["number" if chance.random() < 0.3 and not isinstance(value, complex) else type(value).__name__]
    if isinstance(value, list) and chance.random() < 0.3:
        kept = chance.randrange(len(value) + 1)
        others = {item for item in value[kept:] if isinstance(item, TensorType)}
        if len(others) == 1:
            return OpenList(tuple(forget(item, chance) for item in value[:kept]), others.pop())
    if chance.random() < 0.2:
        return UNKNOWN
    return [forget(item, chance) for item in value] if isinstance(value, list) else value


def test_claims_about_recorded_calls_are_what_torch_gave(recorded: tuple[list[Recorded], list[Recorded]]) -> None:
    for calls, floor in zip(recorded, (FLOOR, COMPOSITE_FLOOR), strict=True):
        wrong = [message for call in calls if (message := wrong_claim(call, call.args))]
        assert not wrong, report(wrong)
        missing = Counter(call.base for call in calls if claims(call, call.args) is None)
        share = 1 - missing.total() / len(calls)
        print(f"{share:.1%} of {len(calls)} calls, {len({call.base for call in calls})} operators; not: {missing}")
        assert share >= floor


def test_what_may_be_a_size_or_a_type_gives_no_shape() -> None:
    """`t.view(unknown)`: torch has an overload for each."""
    [made] = infer("view", {"self": TensorType((2, 3), "float32"), "dtype": UNKNOWN}) or ()
    assert made.shape is None


@pytest.mark.parametrize("seed", range(6))
def test_claims_hold_when_knowledge_is_erased(recorded: tuple[list[Recorded], list[Recorded]], seed: int) -> None:
    chance = random.Random(seed)
    wrong = []
    for call in (*recorded[0], *recorded[1]):
        args = {name: forget(value, chance) for name, value in call.args.items()}
        if message := wrong_claim(call, args):
            wrong.append(message)
    assert not wrong, report(wrong)


def build(value: Any) -> Any:
    """A real argument for a described one; index-like dtypes get values that are in range for any size over one."""
    if isinstance(value, TensorType):
        dtype = getattr(torch, value.dtype or "float32")
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(value.shape or ()).to(dtype)
        return torch.randint(0, 2, value.shape or ()).to(dtype)
    return [build(item) for item in value] if isinstance(value, list) else value


def judge(overload: str, args: Mapping[str, object]) -> None:
    """Torch takes the call, there is a rule for it, and torch's answer is what is claimed."""
    base, _, name = overload.partition(".")
    truth = outputs_of(run(base, name, args))
    assert truth is not None
    call = Recorded(base, overload, args, *truth)
    assert claims(call, args) is not None
    assert (message := wrong_claim(call, args)) is None, message


def run(base: str, name: str, args: Mapping[str, object]) -> Any:
    real = {key: getattr(torch, str(value)) if key == "dtype" else build(value) for key, value in args.items()}
    return getattr(getattr(torch.ops.aten, base), name)(**real)


def t(*shape: int, dtype: str = "float32") -> TensorType:
    return TensorType(shape, dtype)


LONG = "int64"
DIRECT: list[tuple[str, dict[str, object]]] = [
    ("matmul.default", {"self": t(3), "other": t(3)}),
    ("matmul.default", {"self": t(8, 1, 2, 3), "other": t(5, 3, 4)}),
    ("matmul.default", {"self": t(3), "other": t(5, 3, 4)}),
    ("matmul.default", {"self": t(5, 2, 3), "other": t(3)}),
    ("linear.default", {"input": t(2, 5, 3), "weight": t(4, 3), "bias": t(4)}),
    ("linear.default", {"input": t(3), "weight": t(3)}),
    ("einsum.default", {"equation": "bij,bjk->bik", "tensors": [t(2, 3, 4), t(2, 4, 5)]}),
    ("einsum.default", {"equation": "...i,ji", "tensors": [t(2, 3, 4), t(5, 4)]}),
    ("einsum.default", {"equation": "b...->...", "tensors": [t(2, 3, 4)]}),
    ("einsum.default", {"equation": "ii", "tensors": [t(3, 3)]}),
    ("einsum.default", {"equation": "ij,kj->ik", "tensors": [t(3, 1), t(2, 4)]}),
    ("tensordot.default", {"self": t(2, 3, 4), "other": t(4, 3, 5), "dims_self": [1, 2], "dims_other": [1, 0]}),
    ("reshape.default", {"self": t(2, 3, 4), "shape": [-1, 12]}),
    ("flatten.using_ints", {"self": t(2, 3, 4), "start_dim": 1}),
    ("unflatten.int", {"self": t(2, 12), "dim": 1, "sizes": [3, -1]}),
    ("movedim.intlist", {"self": t(2, 3, 4), "source": [0, 1], "destination": [2, 0]}),
    ("split.Tensor", {"self": t(7, 2), "split_size": 3}),
    ("chunk.default", {"self": t(7, 2), "chunks": 5}),
    ("tensor_split.sections", {"self": t(7, 2), "sections": 3}),
    ("tensor_split.indices", {"self": t(7, 2), "indices": [2, 9]}),
    ("meshgrid.indexing", {"tensors": [t(2), t(3)], "indexing": "xy"}),
    ("vstack.default", {"tensors": [t(3), t(2, 3)]}),
    ("hstack.default", {"tensors": [t(3), t(2)]}),
    ("dstack.default", {"tensors": [t(2, 3), t(2, 3)]}),
    ("column_stack.default", {"tensors": [t(2), t(2, 3)]}),
    ("cat.default", {"tensors": [t(0), t(2, 3), t(2, 4, dtype=LONG)], "dim": -1}),
    ("stack.default", {"tensors": [t(2, 3), t(2, 3)], "dim": -1}),
    ("tile.default", {"self": t(2, 3), "dims": [2]}),
    ("repeat_interleave.self_int", {"self": t(2, 3), "repeats": 2, "dim": 1}),
    ("conv2d.default", {"input": t(8, 3, 32, 32), "weight": t(16, 3, 3, 3), "stride": [2, 2], "padding": [1, 1]}),
    ("conv2d.padding", {"input": t(3, 32, 31), "weight": t(16, 3, 3, 5), "padding": "same"}),
    ("conv1d.padding", {"input": t(2, 4, 9), "weight": t(6, 2, 3), "padding": "valid", "groups": 2}),
    ("conv_transpose2d.input", {"input": t(2, 4, 5, 5), "weight": t(4, 3, 3, 3), "stride": [2], "groups": 2}),
    ("max_pool2d.default", {"self": t(2, 3, 9, 9), "kernel_size": [2], "ceil_mode": True}),
    ("avg_pool2d.default", {"self": t(2, 3, 9, 9), "kernel_size": [3], "stride": [2], "padding": [1]}),
    ("adaptive_avg_pool2d.default", {"self": t(2, 3, 9, 9), "output_size": [1, 4]}),
    ("batch_norm.default", {
        "input": t(4, 3), "weight": None, "bias": None, "running_mean": None, "running_var": None, "training": True,
        "momentum": 0.1, "eps": 1e-5, "cudnn_enabled": False,
    }),
    ("layer_norm.default", {"input": t(4, 3), "normalized_shape": [3]}),
    ("cross_entropy_loss.default", {"self": t(4, 10, 5), "target": t(4, 5, dtype=LONG), "reduction": 0}),
    ("cross_entropy_loss.default", {"self": t(4, 10), "target": t(4, 10)}),
    ("nll_loss_nd.default", {"self": t(10), "target": t(dtype=LONG), "reduction": 0}),
    ("scaled_dot_product_attention.default", {"query": t(2, 4, 7, 8), "key": t(2, 4, 9, 8), "value": t(2, 4, 9, 6)}),
    ("lstm.input", {
        "input": t(5, 2, 3), "hx": [t(2, 2, 4), t(2, 2, 4)],
        "params": [t(16, 3), t(16, 4), t(16), t(16), t(16, 3), t(16, 4), t(16), t(16)],
        "has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": True,
        "batch_first": False,
    }),
    ("gru.input", {
        "input": t(5, 2, 3), "hx": t(1, 2, 4), "params": [t(12, 3), t(12, 4), t(12), t(12)],
        "has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False,
        "batch_first": False,
    }),
    ("embedding.default", {"weight": t(10, 4), "indices": t(2, 3, dtype=LONG)}),
    ("one_hot.default", {"self": t(3, dtype=LONG), "num_classes": 7}),
    ("unsqueeze_.default", {"self": t(2, 3), "dim": -1}),
    ("t_.default", {"self": t(2, 3)}),
    ("add_.Tensor", {"self": t(2, 3), "other": t(3, dtype=LONG)}),
    ("__iand__.Tensor", {"self": t(2, dtype="int32"), "other": t(2, dtype="bool")}),
    ("masked_fill.Scalar", {"self": t(3), "mask": t(2, 3, dtype="bool"), "value": 1.0}),
    ("softmax.int", {"self": t(2, 3, dtype="float16"), "dim": 1, "dtype": "float64"}),
    ("to.dtype", {"self": t(2, 3), "dtype": "float64"}),
    ("numpy_T.default", {"self": t(2, 3)}),
    ("fft_rfft2.default", {"self": t(2, 6, 8)}),
    ("fft_irfft.default", {"self": t(2, 6, dtype="complex64"), "n": 7}),
    ("linalg_svd.default", {"A": t(2, 5, 3), "full_matrices": False}),
    ("std.correction", {"self": t(2, 3), "dim": None, "correction": 1, "keepdim": True}),
    ("norm.ScalarOpt_dim", {"self": t(2, 3, dtype="complex64"), "p": 2, "dim": [0]}),
]  # fmt: skip


@pytest.mark.parametrize(("overload", "args"), DIRECT, ids=[overload for overload, _ in DIRECT])
def test_composite_and_in_place_operators_called_by_schema(overload: str, args: dict[str, object]) -> None:
    judge(overload, args)


SIZES = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=4).map(tuple)
REFUSING: list[tuple[str, Callable[[TensorType, TensorType], dict[str, object]]]] = [
    ("add.Tensor", lambda a, b: {"self": a, "other": b}),
    ("mul_.Tensor", lambda a, b: {"self": a, "other": b}),
    ("addcmul.default", lambda a, b: {"self": a, "tensor1": b, "tensor2": a}),
    ("matmul.default", lambda a, b: {"self": a, "other": b}),
    ("mm.default", lambda a, b: {"self": a, "mat2": b}),
    ("bmm.default", lambda a, b: {"self": a, "mat2": b}),
    ("mv.default", lambda a, b: {"self": a, "vec": b}),
    ("linear.default", lambda a, b: {"input": a, "weight": b}),
    ("cat.default", lambda a, b: {"tensors": [a, b, a], "dim": 1}),
    ("stack.default", lambda a, b: {"tensors": [a, b], "dim": 1}),
    ("copy_.default", lambda a, b: {"self": a, "src": b}),
    ("view.default", lambda a, b: {"self": a, "size": list(b.shape or ())}),
    ("reshape.default", lambda a, b: {"self": a, "shape": [-1, *(b.shape or ())]}),
    ("expand.default", lambda a, b: {"self": a, "size": list(b.shape or ())}),
    ("repeat.default", lambda a, b: {"self": a, "repeats": list(b.shape or ())}),
    ("where.self", lambda a, b: {"condition": TensorType(a.shape, "bool"), "self": a, "other": b}),
    ("dot.default", lambda a, b: {"self": a, "tensor": b}),
    ("sum.dim_IntList", lambda a, b: {"self": a, "dim": list(b.shape or ()), "keepdim": True}),
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(REFUSING), SIZES, SIZES)
def test_torch_refuses_exactly_what_is_refused(
    case: tuple[str, Callable[[TensorType, TensorType], dict[str, object]]], a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    overload, arguments = case
    args = arguments(t(*a), t(*b))
    base, _, name = overload.partition(".")
    try:
        infer(base, args)
        refused = False
    except ShapeError:
        refused = True
    try:
        run(base, name, args)
    except (RuntimeError, IndexError):
        assert refused, "torch refuses what is not refused"
    else:
        assert not refused, "refused what torch takes"
        judge(overload, args)


DTYPE_NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
               "complex64", "complex128"]  # fmt: skip
OPERANDS = st.one_of(
    st.builds(TensorType, st.sampled_from([(), (1,), (2, 3), (3,)]), st.sampled_from(DTYPE_NAMES)),
    st.sampled_from([True, 2, 2.5, 1 + 2j]),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(OPERANDS, OPERANDS, st.sampled_from([torch.float32, torch.float64]))
def test_promotion_is_torchs_result_type(left: object, right: object, default: torch.dtype) -> None:
    real = [build(value) for value in (left, right)]
    types = [infer_operand(value) for value in (left, right)]
    before = torch.get_default_dtype()
    torch.set_default_dtype(default)
    try:
        truth = str(torch.result_type(*real)).removeprefix("torch.")
    finally:
        torch.set_default_dtype(before)
    assert promote(*types, default=str(default).removeprefix("torch.")) == truth
    erased = [TensorType(None, operand.dtype, operand.wrapped) for operand in types]
    assert promote(*erased, default=str(default).removeprefix("torch.")) in (None, truth)


def infer_operand(value: object) -> TensorType:
    if isinstance(value, TensorType):
        return value
    kind = "bool" if isinstance(value, bool) else str(torch.tensor(value).dtype).removeprefix("torch.")
    return TensorType((), kind, wrapped=True)


ARITHMETIC = ("add", "sub", "mul", "true_divide", "floor_divide", "remainder", "fmod", "pow", "float_power", "atan2",
              "maximum", "eq", "logical_and", "bitwise_and", "copysign", "xlogy", "where", "ldexp")  # fmt: skip


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(ARITHMETIC), OPERANDS, OPERANDS)
def test_binary_operators_on_every_pair_of_dtypes(name: str, left: object, right: object) -> None:
    a, b = build(left), build(right)
    try:
        result = torch.where(torch.tensor(True), a, b) if name == "where" else getattr(torch, name)(a, b)
    except (RuntimeError, TypeError, IndexError):
        return
    args = {"self": left, "other": right, "exponent": right, "condition": TensorType((), "bool")}
    if name not in ("pow", "float_power"):
        del args["exponent"]
    claimed = infer(name, args)
    assert claimed is not None
    assert claimed[0] == describe(result)


@settings(deadline=None, derandomize=True)
@given(st.lists(SIZES, min_size=1, max_size=3), st.integers(0, 999))
def test_broadcast_with_unknown_sizes_holds_for_the_known_ones(shapes: list[tuple[int, ...]], seed: int) -> None:
    chance = random.Random(seed)
    erased = [tuple(None if chance.random() < 0.4 else n for n in shape) for shape in shapes]
    try:
        truth = tuple(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        with pytest.raises(ShapeError):
            broadcast(*shapes)
        return
    assert broadcast(*shapes) == truth
    assert agrees(TensorType(broadcast(*erased), None), TensorType(truth, "float32"))


BOUNDS = st.one_of(st.none(), st.integers(-4, 5))
ITEMS = st.one_of(
    st.integers(-3, 3), st.none(), st.just(Ellipsis), st.booleans(),
    st.builds(slice, BOUNDS, BOUNDS, st.sampled_from([None, 1, 2])),
    st.builds(TensorType, st.sampled_from([(), (2,), (1,), (3, 1)]), st.just("int64")),
    st.builds(TensorType, st.sampled_from([(), (2,), (3,), (2, 3), (3, 3)]), st.just("bool")),
)  # fmt: skip


def erase_item(item: Any, chance: random.Random) -> Any:
    if chance.random() < 0.7:
        return item
    if isinstance(item, slice):
        return slice(item.start, UNKNOWN, item.step) if chance.random() < 0.5 else slice(UNKNOWN, item.stop, item.step)
    if isinstance(item, TensorType):
        keep = chance.random()
        return (
            UNKNOWN
            if keep < 0.3
            else TensorType(item.shape if keep < 0.6 else None, None if keep < 0.8 else item.dtype)
        )
    return item if item is None else UNKNOWN


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([2, 3]), max_size=4), st.lists(ITEMS, max_size=4), st.integers(0, 999))
def test_python_indexing(shape: list[int], items: list[Any], seed: int) -> None:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    if sum(item is Ellipsis for item in items) > 1:
        return
    index = tuple(build(item) for item in items)
    operand = t(*shape)
    try:
        truth = describe(torch.zeros(shape)[index])
    except (IndexError, RuntimeError):
        return
    claimed = index_shape(operand, items)
    assert agrees(TensorType(claimed, None), truth)
    if not any((isinstance(item, TensorType) and item.dtype == "bool") or isinstance(item, bool) for item in items):
        assert claimed == truth.shape
    partly = TensorType(tuple(None if chance.random() < 0.3 else n for n in shape), None)
    assert agrees(TensorType(index_shape(partly, [erase_item(item, chance) for item in items]), None), truth)


def test_an_unknown_operator_has_no_answer() -> None:
    assert infer("no_such_operator", {"self": t(2)}) is None
    assert infer_list("no_such_operator", {"self": t(2)}) is None


def test_a_list_as_long_as_it_likes_is_its_first_pieces_and_a_rest() -> None:
    rows = infer_list("unbind", {"self": t(10**12, 3)})
    assert rows is not None
    assert (len(rows.first), rows.rest) == (MOST_PIECES, t(3))
    halves = infer_list("split", {"self": t(10**12 + 1), "split_size": 2})
    assert halves is not None
    assert (set(halves.first), halves.rest) == ({t(2)}, t(None))
    assert halves.limited(1).first == (t(2),)
    short = infer_list("tensor_split", {"self": t(5), "sections": 2})
    assert short is not None
    assert (short.first, short.rest) == ((t(3), t(2)), None)
