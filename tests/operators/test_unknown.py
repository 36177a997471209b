"""What is not known never makes an error: operators on tensors of which nothing is known, or only a part."""

from __future__ import annotations

import pytest

from analyzers.domain.objects import Tensor
from analyzers.domain.values import NONE, Const, Ref, Unknown
from analyzers.machine.autograd.backward import run_backward
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators import casts, composite_shapes, composites, derivatives
from analyzers.machine.operators.dispatch import call_torch
from tests.autograd.scenarios.operators import ONE, TWO
from tests.support.alone import machine

TABLES_OF = (casts, composite_shapes, composites, derivatives)


def result(m: Machine, name: str, operands: list[Ref]) -> Tensor:
    more = [Const(0)] if name in {"cumsum", "cumprod", "logsumexp", "softmax", "amax"} else []
    made = call_torch(m, f"Tensor.{name}", [*operands, *more, *([Const(0.5)] if name == "lerp" else [])], {})
    assert isinstance(made, Ref)
    return tensor_at(m, made.id)


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_nothing_known_is_nothing_claimed(name: str) -> None:
    m = machine()
    operands = [m.unknown_tensor() for _ in range(1 + (name in TWO))]
    made = result(m, name, operands)
    assert made.requires_grad is None
    assert made.is_leaf is None
    assert m.record.events == []


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_only_whether_it_requires_grad_is_unknown(name: str) -> None:
    m = machine()
    operands = [m.new_tensor((2, 2), "float32", requires_grad=None) for _ in range(1 + (name in TWO))]
    made = result(m, name, operands)
    assert made.requires_grad is None
    assert made.dtype == "float32"
    assert made.shape is not None


@pytest.mark.parametrize("name", ["exp", "mul", "sum"])
def test_grad_mode_is_unknown(name: str) -> None:
    m = machine()
    leaf = m.new_tensor((2, 2), "float32", requires_grad=True)
    m.st.grad = None
    made = result(m, name, [leaf, leaf] if name in TWO else [leaf])
    assert made.requires_grad is None


def test_a_backward_of_the_unknown_fills_and_frees_perhaps() -> None:
    m = machine()
    leaf = m.new_tensor((), "float32", requires_grad=True)
    known = call_torch(m, "Tensor.exp", [leaf], {})
    run_backward(m, [(Unknown(), NONE)], False, False, None, "loss")
    assert isinstance(tensor_at(m, leaf.id).grad, Unknown)
    run_backward(m, [(known, NONE)], False, False, None, "loss")


def test_a_write_to_what_may_be_a_leaf_is_no_error() -> None:
    m = machine()
    perhaps = m.new_tensor((2,), "float32", requires_grad=None)
    call_torch(m, "Tensor.add_", [perhaps, Const(1)], {})
    assert tensor_at(m, perhaps.id).requires_grad is None


def test_an_operator_without_a_row_gives_anything() -> None:
    m = machine()
    made = call_torch(m, "torch.no_such_operator", [m.new_tensor((2,), "float32", requires_grad=True)], {})
    found = m.tensor(made)
    assert found is None or found.requires_grad is None
