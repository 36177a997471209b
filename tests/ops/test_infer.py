"""Inferred shapes and dtypes against torch: whatever is claimed must be what torch gives, however little is known.

Torch's own sample inputs are run; every aten call they make, and every composite operator called by its schema, is
replayed through `infer`: once with all arguments known, and again with knowledge erased at random.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from analyzers.ops.infer import (
    UNKNOWN,
    Shape,
    ShapeError,
    TensorType,
    broadcast,
    index_shape,
    infer,
    infer_list,
    promote,
)

SAMPLES = 6  # per operator and dtype
DTYPES = (torch.float32, torch.int64, torch.complex64)
FLOOR = 0.90  # share of recorded aten calls that have a rule
COMPOSITE_FLOOR = 0.80


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
        self.counts: Counter[str] = Counter()

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
    """Composite operators never reach the dispatch mode; they are called through `torch.ops` by any fitting overload."""
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
    primitive, composite = Recorder(), Recorder()
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
    return infer_list(call.base, args) if call.is_list else infer(call.base, args)


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


@pytest.mark.parametrize("seed", range(6))
def test_claims_hold_when_knowledge_is_erased(recorded: tuple[list[Recorded], list[Recorded]], seed: int) -> None:
    chance = random.Random(seed)
    wrong = []
    for call in (*recorded[0], *recorded[1]):
        args = {name: forget(value, chance) for name, value in call.args.items()}
        if message := wrong_claim(call, args):
            wrong.append(message)
    assert not wrong, report(wrong)
