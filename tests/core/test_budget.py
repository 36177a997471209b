"""How long a run may take, and a part of it that makes no tensor."""

from __future__ import annotations

import pytest

from analyzers.domain.objects import ListObj
from analyzers.host import Host
from analyzers.host.runs import Program
from analyzers.machine.assembly import run_module
from analyzers.machine.core.budget import OBJECTS, Limits, OutOfFuel
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from tests.support.alone import machine


def bounded(steps: int) -> Machine:
    m = machine()
    m.extent.limits = Limits(steps=steps)
    m.budget.patience = steps
    return m


def spent(m: Machine) -> int:
    """The steps that are left, used up."""
    count = 0
    with pytest.raises(OutOfFuel):
        while True:
            m.spend()
            count += 1
    return count


def test_a_run_ends_after_its_steps() -> None:
    assert spent(bounded(10)) == 10


def test_what_makes_many_objects_costs_as_many_steps() -> None:
    m = bounded(100)
    for _ in range(50 * OBJECTS):
        m.fresh()
    assert spent(m) == 50 + 1  # the first of them pays for all
    assert m.budget.steps == 101


def test_what_goes_through_many_objects_costs_as_many_steps() -> None:
    m = bounded(100)
    items = [m.new(ListObj(())) for _ in range(50 * OBJECTS // 100)]
    held = m.new(ListObj(tuple(items)))
    walks = 100
    for _ in range(walks):
        havoc_value(m, held)
    m.spend()
    assert m.budget.steps == walks * (len(items) + 1) // OBJECTS


def test_what_makes_no_tensor_is_given_up_sooner() -> None:
    m = bounded(100)
    with m.briefly(5):
        assert spent(m) == 5
    assert spent(m) == 94


def test_what_makes_a_tensor_goes_on() -> None:
    m = bounded(100)
    with m.briefly(5):
        m.new_tensor((2,), "float32")
        assert spent(m) == 100


def test_a_tensor_made_before_does_not_count() -> None:
    m = bounded(100)
    m.new_tensor((2,), "float32")
    with m.briefly(5):
        assert spent(m) == 5


def test_one_brief_part_is_not_longer_than_the_one_around_it() -> None:
    m = bounded(100)
    with m.briefly(5), m.briefly(50):
        assert spent(m) == 5


def test_fewer_states_are_kept_apart_the_longer_a_run_takes() -> None:
    m = bounded(160)
    kept = []
    for steps in (0, 9, 10, 19, 20, 160):
        m.budget.steps = steps
        kept.append(m.apart(4))
    assert kept == [4, 4, 2, 2, 1, 1]
    m.budget.steps = 15
    assert m.apart(1) == 1


def test_fewer_rounds_are_run_the_longer_a_run_takes() -> None:
    m = bounded(160)
    run = []
    for steps in (0, 39, 40, 160):
        m.budget.steps = steps
        run.append(m.rounds(3))
    assert run == [3, 3, 1, 1]
    assert m.rounds(0) == 0


INSIDE = """\
import torch

def normed(x):
    for _ in range(6):
        x = torch.nn.functional.instance_norm(x)
    return x

out = normed(torch.ones(2, 3, 4, 4, requires_grad=True))
"""


def test_a_run_that_stops_inside_the_parts_of_an_operator_is_out_of_steps() -> None:
    host = Host()
    host.set_text("/train.py", INSIDE)
    program = Program(host.world)
    ended = [
        not run_module(program, "/train.py", main=True, limits=Limits(steps=steps)).out_of_fuel
        for steps in range(1, 90)
    ]
    assert ended == sorted(ended)
    assert True in ended
    assert False in ended
