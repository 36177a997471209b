"""Which states are joined at once, where a program that shows it would be long."""

from __future__ import annotations

import pytest

from analyzers.domain.likeness import interchangeable
from analyzers.domain.objects import ClassObj, Instance
from analyzers.domain.state import State
from analyzers.domain.values import TRUE, Unknown, Value
from analyzers.maps import Map

CLASS, OBJECT = 1, 2


def state_with(flag: Value, before: State) -> State:
    state = before.fork()
    state.put(OBJECT, Instance(CLASS, Map({"full": flag})))
    return state


@pytest.mark.parametrize(("module", "joined"), [("buffers.py", False), ("<prelude>/argparse/parser.py", True)])
def test_a_flag_that_only_one_way_knows_keeps_ways_apart_if_the_program_wrote_its_class(
    module: str, joined: bool
) -> None:
    before = State()
    before.put(CLASS, ClassObj("Buffer", "Buffer", module, (), (CLASS,), Map()))
    known, unknown = state_with(TRUE, before), state_with(Unknown("bool"), before)
    assert interchangeable(known, unknown, lambda ident: True) is joined
