"""Each observer hears its signals: what happens is made to happen, or told, and what was noted is looked at."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from pathlib import Path

import pytest

from analyzers.domain.objects import DictObj, Instance, ListObj, Tensor
from analyzers.domain.values import Const, Ref, Unknown
from analyzers.machine import assembly
from analyzers.machine.core import events, signals
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import HEARERS, tell
from analyzers.machine.observers.gradient_accumulation import held_by
from analyzers.machine.observers.graph_liveness import report_dead
from analyzers.maps import Map
from analyzers.syntax import nodes as n
from tests.autograd.by_machine import Rooms

MACHINE = Path(inspect.getfile(assembly)).parent

SIGNALS = [kind for kind in vars(signals).values() if is_dataclass(kind) and kind.__module__ == signals.__name__]


@pytest.fixture
def rooms() -> Rooms:
    return Rooms()


def at(rooms: Rooms, place: int) -> None:
    """Go to another statement."""
    frame = rooms.m.frame
    frame.node = frame.statement = n.Pass(place, place)


@contextmanager
def round_of_a_loop(m: Machine, number: int) -> Iterator[None]:
    loop = n.Pass(1, 2)
    m.extent.loops.append(loop)
    m.extent.iterations.append((m.loc_of(m.frame, loop), number))
    yield
    m.extent.loops.pop()
    m.extent.iterations.pop()


def noted(m: Machine, kind: type) -> list[object]:
    return [event for event in m.record.events if isinstance(event, kind)]


def optimizer(rooms: Rooms, *parameters: Ref, rate: float = 0.1) -> Ref:
    m = rooms.m
    held = {Const("params"): m.new(ListObj(parameters)), Const("lr"): Const(rate)}
    groups = m.new(ListObj((m.new(DictObj(Map(held), tuple(held))),)))
    return m.new(Instance(0, Map({"param_groups": groups})))


@pytest.mark.parametrize("kind", SIGNALS, ids=[kind.__name__ for kind in SIGNALS])
def test_every_signal_is_told_and_heard(kind: type) -> None:
    assert HEARERS[kind]
    told = [path for path in MACHINE.rglob("*.py") if f"{kind.__name__}(" in path.read_text(encoding="utf-8")]
    assert any(path.name != "signals.py" and path.parent.name != "observers" for path in told)


def test_a_gradient_holds_the_backwards_that_filled_it(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, grad=True)
    for place in (10, 20):
        at(rooms, place)
        rooms.backward(rooms.op("sum", rooms.op("mul", w, 2)))
    grad = tensor_of(m, w).grad
    assert isinstance(grad, Ref)
    held = held_by(m, grad.id)
    assert held is not None
    assert [site.loc.start for site in held.backwards] == [10, 20]
    at(rooms, 30)
    rooms.op("mul_", grad, 0.5)
    held = held_by(m, grad.id)
    assert held is not None
    assert len(held.backwards) == 2
    at(rooms, 40)
    rooms.op("zero_", grad)
    held = held_by(m, grad.id)
    assert held is not None
    assert not held.backwards
    (cleared,) = noted(m, events.Cleared)
    assert (cleared.site.loc.start, cleared.backward.loc.start) == (40, 20)


def test_a_gradient_that_is_dropped_or_multiplied_by_zero(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, grad=True)
    rooms.backward(rooms.op("sum", w))
    grad = tensor_of(m, w).grad
    assert isinstance(grad, Ref)
    tell(m, signals.GradientDropped(grad.id))
    assert noted(m, events.Cleared)
    rooms.op("mul_", grad, 0)
    assert held_by(m, grad.id) is None


def test_a_step_uses_gradients_and_the_next_one_uses_them_again(rooms: Rooms) -> None:
    m, w, idle = rooms.m, rooms.tensor(2, grad=True), rooms.tensor(2, grad=True)
    made = optimizer(rooms, w, idle)
    tell(m, signals.OptimizerDid("note_optimizer", made))
    for place in (10, 20):
        at(rooms, place)
        rooms.backward(rooms.op("sum", rooms.op("mul", w, 2)))
        at(rooms, place + 5)
        tell(m, signals.OptimizerDid("note_step", made))
        with rooms.mode(False):
            rooms.op("mul_", w, 0.9)
    (born,) = noted(m, events.OptimizerMade)
    assert born.parameters == (w.id, idle.id)
    steps = noted(m, events.StepCall)
    assert [(step.with_grad, step.without_grad, step.still) for step in steps] == [(1, 1, False)] * 2
    assert [(step.parameters, step.known) for step in steps] == [((w.id, idle.id), True)] * 2
    (again,) = noted(m, events.GradAccumulated)
    assert [site.loc.start for site in (again.step, again.site, again.again)] == [15, 20, 25]


def test_a_rate_of_zero_stands_still(rooms: Rooms) -> None:
    tell(rooms.m, signals.OptimizerDid("note_step", optimizer(rooms, rooms.tensor(1, grad=True), rate=0.0)))
    (step,) = noted(rooms.m, events.StepCall)
    assert step.still


def test_a_step_by_hand(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, grad=True)
    rooms.backward(rooms.op("sum", rooms.op("mul", w, 2)))
    grad = tensor_of(m, w).grad
    with rooms.mode(False):
        rooms.op("sub_", w, rooms.op("mul", grad, 0.1))
    (step,) = noted(m, events.HandStep)
    assert step.fresh
    assert step.storage == tensor_of(m, w).storage


def test_a_backward_over_a_graph_whose_leaf_was_written(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, grad=True)
    loss = rooms.op("sum", rooms.op("add", w, 2))
    at(rooms, 10)
    rooms.backward(loss, retain=True)
    rooms.backward(loss, retain=True)
    assert not noted(m, events.StaleBackward)
    with rooms.mode(False):
        rooms.op("add_", w, 1)
    rooms.backward(loss)
    (stale,) = noted(m, events.StaleBackward)
    assert stale.first.loc.start == 10


def test_a_gradient_comes_to_a_target_network(rooms: Rooms) -> None:
    m, trained, target = rooms.m, rooms.tensor(2, grad=True), rooms.tensor(2, grad=True)
    m.st.update(target.id, Tensor, lambda t: replace(t, parameter=True))
    rooms.backward(rooms.op("sum", target))
    assert not noted(m, events.FollowerReached)
    tell(m, signals.Loaded(target, trained))
    rooms.backward(rooms.op("sum", target))
    (reached,) = noted(m, events.FollowerReached)
    assert reached.leaves == (target.id,)


def test_a_backward_ends_at_what_was_cut_off(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, grad=True)
    with rooms.mode(False):
        cut = rooms.op("mul", w, 2)
    rooms.flag(cut, True)
    rooms.backward(rooms.op("sum", cut))
    (ended,) = noted(m, events.EndedAtCut)
    assert (ended.leaf, ended.sources) == (cut.id, (w.id,))


def test_a_graph_is_kept_in_vain(rooms: Rooms) -> None:
    for needed in (False, True):
        rooms = Rooms()
        loss = rooms.op("sum", rooms.op("exp", rooms.tensor(2, grad=True)))
        at(rooms, 10)
        rooms.backward(loss, retain=True)
        at(rooms, 20)
        if needed:
            rooms.backward(loss)
        report_dead(rooms.m)
        assert bool(noted(rooms.m, events.RetainedInVain)) is not needed


@pytest.mark.parametrize("use", ["none", "backward", "escapes", "dropped", "unseen", "another module"])
def test_a_call_whose_graph_nobody_uses(rooms: Rooms, use: str) -> None:
    m = rooms.m
    for number in (1, 2):
        with round_of_a_loop(m, number):
            tell(m, signals.CallBegins(number if use == "another module" else 1))
            out = rooms.op("sum", rooms.op("exp", rooms.tensor(2, grad=True)))
            tell(m, signals.CallEnded(out))
    if use == "backward":
        rooms.backward(out)
    elif use == "escapes":
        tell(m, signals.Escaped([tensor_of(m, out)]))
    elif use == "dropped":
        rooms.detach(out)
    elif use == "unseen":
        tell(m, signals.BackwardUnseen())
    report_dead(m)
    assert bool(noted(m, events.GraphUnused)) is (use == "none")


def test_a_list_keeps_graphs_that_went_backward(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, grad=True)
    kept: list[Ref] = []
    for number in (1, 2):
        with round_of_a_loop(m, number):
            at(rooms, 10)
            loss = rooms.op("sum", rooms.op("exp", w))
            at(rooms, 20)
            tell(m, signals.Kept("losses", list(kept), [loss], 1))
            rooms.backward(loss)
            kept.append(loss)
    first, second = noted(m, events.GraphGrew)
    assert (first.repeated, second.repeated) == (False, True)
    tell(m, signals.Kept("numbers", [], [rooms.detach(loss)], 2))
    assert len(noted(m, events.GraphGrew)) == 2


def test_what_is_known_of_a_name(rooms: Rooms) -> None:
    m, w = rooms.m, rooms.tensor(2, 3, grad=True)
    y = rooms.op("exp", w)
    frame = m.frame
    tell(m, signals.Named(frame, frame.statement, "y", y))
    (binding,) = m.record.bindings.values()
    assert (binding.name, binding.requires_grad, binding.is_leaf) == ("y", True, False)
    assert (binding.grad_fn, binding.shape, binding.dtype) == (("ExpBackward0",), (2, 3), "float32")
    tell(m, signals.Named(frame, frame.statement, "y", rooms.op("sin", rooms.tensor(2, 4, grad=True))))
    assert (binding.grad_fn, binding.shape) == (("ExpBackward0", "SinBackward0"), (2, None))
    tell(m, signals.Named(frame, frame.statement, "y", w))
    assert (binding.requires_grad, binding.is_leaf, binding.grad_fn) == (True, None, None)
    tell(m, signals.Named(frame, frame.statement, "y", Unknown()))
    assert binding.requires_grad is binding.dtype is None


def test_an_attribute_that_nobody_reads(rooms: Rooms) -> None:
    m = rooms.m
    for name, module in (("require_grad", False), ("requires_grad", True), ("requires_grad", False), ("name", True)):
        tell(m, signals.OwnAttributeSet(name, module))
    assert [(event.attr, event.module) for event in noted(m, events.Misspelt)] == [
        ("require_grad", False), ("requires_grad", True),
    ]  # fmt: skip


def test_a_gradient_that_the_program_reads_itself(rooms: Rooms) -> None:
    w = rooms.tensor(2, grad=True)
    for _ in range(2):
        rooms.grad([rooms.op("sum", w)], [w])
    assert [event.leaf for event in noted(rooms.m, events.GradTaken)] == [w.id]


def test_a_discounted_value_of_the_same_network_is_held_against_it(rooms: Rooms) -> None:
    reward, here, there, w = rooms.tensor(4, 1), rooms.tensor(4, 3), rooms.tensor(4, 3), rooms.tensor(3, 1, grad=True)
    target = rooms.op("add", reward, rooms.op("mul", rooms.op("mm", there, w), 0.9))
    rooms.backward(rooms.op("mean", rooms.op("sub", target, rooms.op("mm", here, w))))
    assert [(event.how, event.leaves) for event in noted(rooms.m, events.Compared)] == [("discounted", {w.id})]


def tensor_of(m: Machine, value: Ref) -> Tensor:
    found = m.tensor(value)
    assert found is not None
    return found
